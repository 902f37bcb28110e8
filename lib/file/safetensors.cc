#include "file/safetensors.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/io.h"
#include "base/message.h"
#include "base/utf8.h"
#include "file/json.h"

namespace gt {
namespace {

constexpr size_t kPrefix = 8;  // the header's length, little-endian
constexpr size_t kMostSuggestions = 10'000;
constexpr size_t kMaxTensorBytes = size_t{1} << 60;
constexpr std::string_view kMetadata = "__metadata__";
constexpr const char* kWithin = " within its header";

struct StoredDtype {
  std::string_view name;
  size_t bits;
  std::optional<Dtype> dtype;
};
// The other dtypes that the format knows, so that shapes of any can be checked.
constexpr auto kOtherDtypes = std::to_array<StoredDtype>({
    {"I8", 8, {}},
    {"I16", 16, {}},
    {"U16", 16, {}},
    {"U32", 32, {}},
    {"U64", 64, {}},
    {"C64", 64, {}},
    {"F8_E5M2", 8, {}},
    {"F8_E4M3", 8, {}},
    {"F8_E8M0", 8, {}},
    {"F8_E5M2FNUZ", 8, {}},
    {"F8_E4M3FNUZ", 8, {}},
    {"F6_E2M3", 6, {}},
    {"F6_E3M2", 6, {}},
    {"F4", 4, {}},
});

std::optional<StoredDtype> find_stored_dtype(std::string_view name) {
  if (const auto own = dtype_named(&DtypeTraits::safetensors, name)) {
    return StoredDtype{name, 8 * size_of(*own), own};
  }
  for (const StoredDtype& other : kOtherDtypes) {
    if (other.name == name) return other;
  }
  return std::nullopt;
}

Error malformed_header(const std::string& what) {
  return Error{"has a malformed header: " + what};
}
Error malformed_header(const SafetensorsEntry& entry, const std::string& what) {
  return malformed_header("tensor '" + excerpt(entry.name) + "' " + what);
}

// Returns the bytes that the shape takes; nothing for a dtype of unknown size.
Result<std::optional<size_t>> shape_bytes(const SafetensorsEntry& entry) {
  const auto dtype = find_stored_dtype(entry.dtype);
  if (!dtype) return std::optional<size_t>();
  size_t bits = dtype->bits;
  const bool empty = std::find(entry.sizes.begin(), entry.sizes.end(),
                               uint64_t{0}) != entry.sizes.end();
  for (const uint64_t size : entry.sizes) {
    if (empty) bits = 0;
    if (__builtin_mul_overflow(bits, size, &bits)) {
      return malformed_header(entry, "has too great a shape");
    }
  }
  if (bits % 8 != 0) return malformed_header(entry, "ends within a byte");
  return std::optional(bits / 8);
}

class HeaderParser {
 public:
  HeaderParser(std::string_view json, SafetensorsHeader& header)
      : json_(json), in_(json), header_(header) {}

  Status parse() {
    if (!in_.take('{')) return Error{"is not a safetensors file"};
    if (!in_.take('}')) {
      do {
        if (Status s = member(); !s.ok()) return s;
      } while (in_.take(','));
      if (!in_.take('}')) return malformed_header("no end of it");
    }
    return in_.at_end() ? ok_status() : malformed_header("text after its end");
  }

 private:
  Status member() {
    std::string name;
    if (!in_.take_string(name) || !in_.take(':')) {
      return malformed_header("no name of a tensor");
    }
    if (name == kMetadata) return metadata();
    SafetensorsEntry entry;
    entry.name = std::move(name);
    if (Status s = tensor(entry); !s.ok()) return s;
    header_.tensors.push_back(std::move(entry));
    return ok_status();
  }

  Status metadata() {
    const Error bad = malformed_header("__metadata__ is no map of strings");
    if (!header_.metadata.empty()) {
      return malformed_header("__metadata__ twice");
    }
    if (!in_.take('{')) return bad;
    const size_t begin = in_.position() - 1;
    if (!in_.take('}')) {
      std::string text;
      do {
        if (!in_.take_string(text) || !in_.take(':') || !in_.take_string(text))
          return bad;
      } while (in_.take(','));
      if (!in_.take('}')) return bad;
    }
    header_.metadata = json_.substr(begin, in_.position() - begin);
    return ok_status();
  }

  Status tensor(SafetensorsEntry& entry) {
    int seen = 0;
    std::string key;
    if (!in_.take('{')) return malformed_header(entry, "is no object");
    do {
      if (!in_.take_string(key) || !in_.take(':')) {
        return malformed_header(entry, "has no key");
      }
      const int bit = key == "dtype"          ? 1
                      : key == "shape"        ? 2
                      : key == "data_offsets" ? 4
                                              : 0;
      if (bit == 0) {
        return malformed_header(entry,
                                "has an unknown key '" + excerpt(key) + "'");
      }
      if ((seen & bit) != 0) {
        return malformed_header(entry, "has " + key + " twice");
      }
      seen |= bit;
      if (!value(bit, entry)) {
        return malformed_header(entry, "has a bad " + key);
      }
    } while (in_.take(','));
    if (!in_.take('}')) return malformed_header(entry, "does not end");
    if (seen != 7) {
      return malformed_header(entry, "lacks dtype, shape or data_offsets");
    }
    return ok_status();
  }

  bool value(int bit, SafetensorsEntry& entry) {
    if (bit == 1) return in_.take_string(entry.dtype);
    std::vector<uint64_t> counts;
    if (!in_.take('[')) return false;
    if (!in_.take(']')) {
      do {
        counts.emplace_back();
        if (!in_.take_count(counts.back())) return false;
      } while (in_.take(','));
      if (!in_.take(']')) return false;
    }
    if (bit == 2) {
      entry.sizes = std::move(counts);
      return true;
    }
    if (counts.size() != 2) return false;
    entry.begin = counts[0];
    entry.end = counts[1];
    return entry.begin <= entry.end;
  }

  std::string_view json_;
  JsonReader in_;
  SafetensorsHeader& header_;
};

Status check_names(const SafetensorsHeader& header) {
  std::vector<std::string_view> names;
  names.reserve(header.tensors.size());
  for (const SafetensorsEntry& entry : header.tensors) {
    names.push_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return ok_status();
  return malformed_header("tensor '" + excerpt(*twice) + "' stands twice");
}

// Checks that each byte belongs to one tensor.
Status check_places(const SafetensorsHeader& header, size_t bytes) {
  size_t at = 0;
  for (const SafetensorsEntry& entry : header.tensors) {
    if (entry.begin < at) return malformed_header(entry, "overlaps another");
    if (entry.begin > at) {
      return malformed_header("bytes in front of tensor '" +
                              excerpt(entry.name) + "' belong to none");
    }
    at = entry.end;
    const auto wanted = shape_bytes(entry);
    if (!wanted.ok()) return wanted.error();
    if (wanted.value() && *wanted.value() != entry.end - entry.begin) {
      return malformed_header(
          entry,
          "takes " + std::to_string(*wanted.value()) + " bytes by its shape, " +
              std::to_string(entry.end - entry.begin) + " by its offsets");
    }
  }
  if (at == bytes) return ok_status();
  return Error{std::string(at > bytes ? "is cut short" : "is too long") +
               ": its tensors take " + std::to_string(at) +
               " bytes after the header, it has " + std::to_string(bytes)};
}

}  // namespace

const SafetensorsEntry* SafetensorsHeader::find(std::string_view name) const {
  for (const SafetensorsEntry& entry : tensors) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

Result<StoredTensor> SafetensorsHeader::stored(std::string_view name) const {
  const SafetensorsEntry* entry = find(name);
  if (entry == nullptr) {
    // Names from a hostile file must not take long to compare.
    std::vector<std::string_view> names;
    for (const SafetensorsEntry& e : tensors) {
      if (names.size() < kMostSuggestions) names.push_back(e.name);
    }
    return Error{"has no tensor '" + excerpt(name) + "'" +
                 did_you_mean(name, names)};
  }
  const std::string tensor = "holds tensor '" + excerpt(name) + "' ";
  const auto dtype = find_stored_dtype(entry->dtype);
  if (!dtype || !dtype->dtype) {
    return Error{tensor + "as " + excerpt(entry->dtype) +
                 ", none of gt's dtypes; convert it to one"};
  }
  if (entry->sizes.size() > Shape::kMaxRank) {
    return Error{tensor + "with more than " + std::to_string(Shape::kMaxRank) +
                 " dimensions"};
  }
  StoredTensor out;
  out.type.dtype = *dtype->dtype;
  for (const uint64_t size : entry->sizes) {
    if (size > kMaxTensorBytes) return Error{tensor + "with too great a shape"};
    out.type.shape.push_back(static_cast<int64_t>(size));
  }
  if (Status s = check_size(out.type); !s.ok()) return s.error();
  out.data_offset = data_offset + entry->begin;
  return out;
}

Result<SafetensorsHeader> parse_safetensors(std::string_view json,
                                            size_t bytes) {
  SafetensorsHeader header;
  header.data_offset = kPrefix + json.size();
  Status s = HeaderParser(json, header).parse();
  if (s.ok()) s = check_names(header);
  if (!s.ok()) return s.error();
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
              if (a.begin != b.begin) return a.begin < b.begin;
              return a.end != b.end ? a.end < b.end : a.name < b.name;
            });
  s = check_places(header, bytes);
  if (!s.ok()) return s.error();
  return header;
}

Result<SafetensorsHeader> read_safetensors(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Error{std::strerror(errno)};
  if (!S_ISREG(info.st_mode)) return Error{"is not a regular file"};
  const auto size = static_cast<size_t>(info.st_size);
  if (size < kPrefix) return Error{"is not a safetensors file: too short"};
  std::array<char, kPrefix> prefix{};
  Status s = read_at(fd, 0, prefix.data(), kPrefix, kWithin);
  if (!s.ok()) return s.error();
  size_t length = 0;
  for (size_t i = kPrefix; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(prefix[i]);
  }
  if (length > kMaxSafetensorsHeader) {
    return Error{"is not a safetensors file, or has a header of " +
                 std::to_string(length) + " bytes, over the limit of " +
                 std::to_string(kMaxSafetensorsHeader)};
  }
  if (length > size - kPrefix)
    return Error{std::string("is cut short") + kWithin};
  std::string json(length, '\0');
  s = read_at(fd, kPrefix, json.data(), length, kWithin);
  if (!s.ok()) return s.error();
  return parse_safetensors(json, size - kPrefix - length);
}

std::string safetensors_header(const SafetensorsHeader& header) {
  std::string json = "{";
  if (!header.metadata.empty()) {
    json += json_quote(kMetadata) + ":" + header.metadata;
  }
  for (const SafetensorsEntry& entry : header.tensors) {
    if (json.size() > 1) json += ',';
    json += json_quote(entry.name);
    json += R"(:{"dtype":)" + json_quote(entry.dtype) + R"(,"shape":[)";
    for (size_t i = 0; i < entry.sizes.size(); ++i) {
      if (i > 0) json += ',';
      json += std::to_string(entry.sizes[i]);
    }
    json += R"(],"data_offsets":[)" + std::to_string(entry.begin) + ',' +
            std::to_string(entry.end) + "]}";
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string out;
  for (size_t i = 0; i < kPrefix; ++i) {
    out += static_cast<char>(json.size() >> (8 * i) & 0xff);
  }
  return out + json;
}

SafetensorsEntry safetensors_entry(std::string_view name, const Type& type) {
  SafetensorsEntry entry;
  entry.name = name;
  entry.dtype = traits(type.dtype).safetensors;
  for (const int64_t size : type.shape) {
    entry.sizes.push_back(static_cast<uint64_t>(size));
  }
  return entry;
}

bool comes_before(const SafetensorsEntry& a, const SafetensorsEntry& b) {
  const auto bits = [](const SafetensorsEntry& entry) {
    const auto dtype = find_stored_dtype(entry.dtype);
    return dtype ? dtype->bits : 0;
  };
  return bits(a) != bits(b) ? bits(a) > bits(b) : a.name < b.name;
}

Status check_tensor_name(std::string_view name) {
  if (name == kMetadata) {
    return Error{"'__metadata__' is no tensor's name in a safetensors file"};
  }
  if (is_utf8(name)) return ok_status();
  return Error{"the tensor's name is not valid UTF-8"};
}

}  // namespace gt

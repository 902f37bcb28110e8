#include "file/npy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace gt {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

Error malformed(const std::string& what) {
  return Error{"has a malformed header: " + what};
}

// Parses the header's dictionary, a Python literal of three known keys.
class DictParser {
 public:
  DictParser(std::string_view text, StoredTensor& header)
      : text_(text), header_(header) {}

  Status parse() {
    if (!take('{')) return malformed("no dictionary");
    int seen = 0;
    while (!take('}')) {
      std::string_view key;
      if (!take_string(key) || !take(':')) return malformed("no key");
      if (Status s = parse_value(key, seen); !s.ok()) return s;
      if (take(',')) continue;
      if (!take('}')) return malformed("no end of the dictionary");
      break;
    }
    if (seen != 7) return malformed("descr, fortran_order or shape is missing");
    return check_size(header_.type);
  }

 private:
  Status parse_value(std::string_view key, int& seen) {
    const int known = key == "descr"           ? 1
                      : key == "fortran_order" ? 2
                      : key == "shape"         ? 4
                                               : 0;
    if ((seen & known) != 0) {
      return malformed("'" + std::string(key) + "' comes twice");
    }
    seen |= known;
    if (key == "descr") return parse_descr();
    if (key == "fortran_order") {
      header_.fortran_order = take_word("True");
      if (header_.fortran_order || take_word("False")) return ok_status();
      return malformed("fortran_order is neither True nor False");
    }
    if (key == "shape") return parse_shape();
    return malformed("unknown key '" + std::string(key.substr(0, 40)) + "'");
  }

  Status parse_descr() {
    skip();
    if (at_ < text_.size() && text_[at_] == '[') {
      return Error{"holds records with fields; save each field by itself"};
    }
    std::string_view descr;
    if (!take_string(descr)) return malformed("descr is not a string");
    if (descr.find('O') != std::string_view::npos) {
      return Error{"holds Python objects, which are never unpickled"};
    }
    std::string_view name = descr;
    if (!name.empty() && std::strchr("<>|=", name[0]) != nullptr) {
      header_.big_endian = name[0] == '>';
      name.remove_prefix(1);
    }
    const auto dtype = dtype_named(&DtypeTraits::npy, name);
    if (!dtype) {
      return Error{"has dtype '" + std::string(descr.substr(0, 40)) +
                   "', none of gt's; convert it in NumPy with astype"};
    }
    header_.type.dtype = *dtype;
    return ok_status();
  }

  Status parse_shape() {
    if (!take('(')) return malformed("shape is not a tuple");
    while (!take(')')) {
      int64_t size = 0;
      skip();
      const char* begin = text_.data() + at_;
      const auto [next, error] =
          std::from_chars(begin, text_.data() + text_.size(), size);
      if (error != std::errc{}) return malformed("a size is not a number");
      if (size < 0) return malformed("a size is negative");
      if (header_.type.shape.size() == Shape::kMaxRank) {
        return Error{"has more than " + std::to_string(Shape::kMaxRank) +
                     " dimensions"};
      }
      header_.type.shape.push_back(size);
      at_ += static_cast<size_t>(next - begin);
      (void)take('L');  // Python 2 wrote an L
      if (take(',')) continue;
      if (!take(')')) return malformed("no end of the shape");
      break;
    }
    return ok_status();
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
      ++at_;
    }
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool take_string(std::string_view& out) {
    skip();
    if (at_ == text_.size()) return false;
    const char quote = text_[at_];
    if (quote != '\'' && quote != '"') return false;
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return false;
    out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }

  std::string_view text_;
  StoredTensor& header_;
  size_t at_ = 0;
};

size_t little_endian(std::string_view bytes) {
  size_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

Result<StoredTensor> parse_npy_header(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return Error{"is not a .npy file"};
  const Error cut{"is cut short within its header"};
  if (bytes.size() < 10) return cut;
  const char major = bytes[6];
  if (major < 1 || major > 3) {
    return Error{"has .npy version " + std::to_string(int{major}) +
                 ", which is unknown"};
  }
  const size_t prefix = major == 1 ? 10 : 12;
  if (bytes.size() < prefix) return cut;
  const size_t length = little_endian(bytes.substr(8, prefix - 8));
  if (length > kMaxNpyHeader - prefix) {
    return Error{"has a header of " + std::to_string(length) +
                 " bytes, over the limit of " + std::to_string(kMaxNpyHeader)};
  }
  if (bytes.size() < prefix + length) return cut;
  StoredTensor header;
  header.data_offset = prefix + length;
  const Status s = DictParser(bytes.substr(prefix, length), header).parse();
  if (!s.ok()) return s.error();
  return header;
}

Result<StoredTensor> read_npy_header(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Error{std::strerror(errno)};
  if (!S_ISREG(info.st_mode)) return Error{"is not a regular file"};
  std::string bytes(256, '\0');  // nearly always long enough
  size_t have = 0;
  for (;;) {
    const ssize_t n = ::pread(fd, bytes.data() + have, bytes.size() - have,
                              static_cast<off_t>(have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{std::strerror(errno)};
    if (n == 0) break;
    have += static_cast<size_t>(n);
    if (have < bytes.size()) continue;
    if (bytes.size() >= kMaxNpyHeader) break;
    if (parse_npy_header(bytes).ok()) break;
    bytes.resize(kMaxNpyHeader);
  }
  auto header = parse_npy_header(std::string_view(bytes).substr(0, have));
  if (!header.ok()) return header;
  const size_t wanted = header.value().type.bytes();
  const size_t rest =
      static_cast<size_t>(info.st_size) -
      std::min(static_cast<size_t>(info.st_size), header.value().data_offset);
  if (rest < wanted) {
    return Error{"is cut short: " + to_string(header.value().type) + " takes " +
                 std::to_string(wanted) + " bytes after the header, it has " +
                 std::to_string(rest)};
  }
  return header;
}

std::string npy_header(const Type& type) {
  const bool has_order = size_of(type.dtype) > 1;
  std::string dict = "{'descr': '" + std::string(has_order ? "<" : "|") +
                     std::string(traits(type.dtype).npy) +
                     "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < type.shape.size(); ++i) {
    dict += (i > 0 ? " " : "") + std::to_string(type.shape[i]) + ",";
  }
  if (type.shape.size() > 1) dict.pop_back();
  dict += "), }";
  // The data begins at a multiple of 64.
  const size_t length = (10 + dict.size() + 1 + 63) / 64 * 64 - 10;
  dict.append(length - dict.size() - 1, ' ');
  dict += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(length & 0xff);
  out += static_cast<char>(length >> 8);
  return out + dict;
}

}  // namespace gt

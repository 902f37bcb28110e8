#include "net/file_message.h"

#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"

namespace gt::net {
namespace {

constexpr int64_t kSettled = 1'000'000'000;  // nanoseconds

}  // namespace

Result<FileState> state_of_file(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Error{std::strerror(errno)};
  if (!S_ISREG(info.st_mode)) return Error{"is not a regular file"};
  const int64_t changed = nanoseconds(info.st_ctim);
  FileState state;
  state.size = static_cast<uint64_t>(info.st_size);
  const std::string what =
      std::to_string(info.st_dev) + ' ' + std::to_string(info.st_ino) + ' ' +
      std::to_string(nanoseconds(info.st_mtim)) + ' ' + std::to_string(changed);
  state.version =
      digest_text(hash_bytes(what)) + '-' + std::to_string(state.size);
  state.is_settled = wall_ns() - changed >= kSettled;
  return state;
}

void add_state(MessageWriter& message, const FileState& state) {
  message.field("whole", state.size)
      .field("version", state.version)
      .field("settled", uint64_t{state.is_settled});
}

Result<FileState> read_state(const Message& message) {
  constexpr size_t kMostVersion = 64;
  NumberReader numbers(message);
  FileState state;
  state.size = numbers.need("whole");
  state.version = message.text("version");
  state.is_settled = numbers.need("settled") != 0;
  if (!numbers.status().ok()) return numbers.status().error();
  const bool is_word =
      state.version.find_first_not_of("0123456789abcdef-") == std::string::npos;
  if (state.version.empty() || state.version.size() > kMostVersion || !is_word)
    return Error{std::string(name_of(message.verb)) + ": no version="};
  return state;
}

Result<Frame> file_message(MessageWriter message, int fd, uint64_t offset,
                           size_t bytes, Digest* whole) {
  // The body is read into place first, and the header, which has its digest, is
  // then written right before it.
  const std::shared_ptr<char[]> keep(new char[kMaxHeader + bytes]);
  char* const body = keep.get() + kMaxHeader;
  const Status s = read_at(fd, static_cast<size_t>(offset), body, bytes);
  if (!s.ok()) return s.error();
  const std::string_view read(body, bytes);
  if (whole != nullptr) whole->add(read);
  message.field("offset", offset)
      .field("digest",
             digest_text(whole == nullptr ? Digest::of(read) : whole->value()));
  const std::string head = message.head(bytes);
  char* const begin = body - head.size();
  std::memcpy(begin, head.data(), head.size());
  return Frame(begin, head.size() + bytes, keep);
}

std::optional<uint64_t> digest_of(const Message& message) {
  const std::string_view* field = message.find("digest");
  if (field == nullptr || field->size() != 16) return std::nullopt;
  uint64_t digest = 0;
  const char* const end = field->data() + field->size();
  const auto [at, error] = std::from_chars(field->data(), end, digest, 16);
  if (error != std::errc() || at != end) return std::nullopt;
  return digest;
}

Status check_body(const Message& message) {
  const auto digest = digest_of(message);
  if (digest && *digest == Digest::of(message.body)) return ok_status();
  return Error{"bytes of a file were changed on their way"};
}

}  // namespace gt::net

#include "exec/npy_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "stream/line.h"

namespace gt {
namespace {

constexpr size_t kChunk = size_t{1} << 20;  // bytes read or written at a time

Status read_at(int fd, size_t offset, void* out, size_t bytes) {
  auto* to = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t n = ::pread(fd, to, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{std::strerror(errno)};
    if (n == 0) return Error{"is cut short"};
    to += n;
    offset += static_cast<size_t>(n);
    bytes -= static_cast<size_t>(n);
  }
  return ok_status();
}

Status write_all(int fd, const char* from, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::write(fd, from, std::min(bytes, kChunk));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{std::strerror(errno)};
    from += n;
    bytes -= static_cast<size_t>(n);
  }
  return ok_status();
}

// A Fortran-ordered file keeps each column's rows together; the columns are
// numbered with the first of the remaining dimensions varying fastest.
int64_t column_offset(const Shape& shape, int64_t column) {
  int64_t offset = 0;
  int64_t stride = shape.elements() / std::max<int64_t>(shape[0], 1);
  for (size_t d = 1; d < shape.size(); ++d) {
    stride /= std::max<int64_t>(shape[d], 1);
    offset += column % shape[d] * stride;
    column /= shape[d];
  }
  return offset;
}

// Columns are read one after the other, many at a time when all rows are
// wanted, and spread over the row-major result.
Status read_fortran(int fd, const NpyHeader& header, const Type& type,
                    int64_t row, char* out) {
  const size_t item = size_of(type.dtype);
  const int64_t file_rows = header.type.shape[0];
  const int64_t rows = type.shape[0];
  const int64_t columns = type.elements() / rows;
  const bool whole = rows == file_rows;
  const int64_t at_once =
      whole ? std::max<int64_t>(1,
                                static_cast<int64_t>(kChunk / item) / file_rows)
            : 1;
  std::vector<char> chunk(static_cast<size_t>(at_once * rows) * item);
  for (int64_t first = 0; first < columns; first += at_once) {
    const int64_t count = std::min(at_once, columns - first);
    const size_t offset = header.data_offset +
                          static_cast<size_t>(first * file_rows + row) * item;
    const Status s = read_at(fd, offset, chunk.data(),
                             static_cast<size_t>(count * rows) * item);
    if (!s.ok()) return s;
    for (int64_t c = 0; c < count; ++c) {
      char* to =
          out +
          static_cast<size_t>(column_offset(type.shape, first + c)) * item;
      const char* from = chunk.data() + static_cast<size_t>(c * rows) * item;
      for (int64_t r = 0; r < rows; ++r) {
        std::memcpy(to + static_cast<size_t>(r * columns) * item,
                    from + static_cast<size_t>(r) * item, item);
      }
    }
  }
  return ok_status();
}

void swap_bytes(char* data, size_t bytes, size_t item) {
  for (size_t at = 0; at < bytes; at += item) {
    std::reverse(data + at, data + at + item);
  }
}

// Errors if the stated type is not `rows` of the file's from `row` on.
Status check_rows(const NpyHeader& header, const Type& type, int64_t row) {
  const Type& file = header.type;
  const Error differs{"holds " + to_string(file) + ", not " + to_string(type)};
  if (file.dtype != type.dtype) {
    return Error{differs.message + "; load it as " +
                 std::string(to_string(file.dtype)) + " and cast"};
  }
  if (file.shape.size() != type.shape.size()) return differs;
  for (size_t d = 1; d < file.shape.size(); ++d) {
    if (file.shape[d] != type.shape[d]) return differs;
  }
  const int64_t have = file.shape.empty() ? 1 : file.shape[0];
  const int64_t want = type.shape.empty() ? 1 : type.shape[0];
  if (row < 0) {
    return Error{"has no row " + std::to_string(row)};
  }
  if (want > have || row > have - want) {
    return Error{"has " + std::to_string(have) + " rows, not " +
                 std::to_string(want) + " from row " + std::to_string(row) +
                 " on"};
  }
  return ok_status();
}

class LoadKernel final : public Kernel {
 public:
  LoadKernel(const Call& call, const Files& files)
      : files_(files),
        path_(unquote(call.arguments[0].text)),
        type_(call.results[0]) {
    if (call.arguments.size() > 2) row_ = call.type(2).dtype;
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    if (const std::string* why = files_.failure_of(path_)) {
      return Error{path_ + " was not saved: " + *why};
    }
    const auto fd = files_.open(path_);
    if (!fd.ok()) return fd.error();
    const auto header = read_npy_header(fd.value().get());
    Status s = header.ok() ? read_npy_rows(fd.value().get(), header.value(),
                                           type_, row(in), out[0])
                           : Status(header.error());
    if (s.ok()) return s;
    return Error{path_ + " " + s.error().message};
  }

 private:
  int64_t row(std::span<const void* const> in) const {
    if (in.size() < 3 || in[2] == nullptr) return 0;
    if (row_ == Dtype::kI32) {
      int32_t value = 0;
      std::memcpy(&value, in[2], sizeof value);
      return value;
    }
    if (row_ == Dtype::kI64) {
      int64_t value = 0;
      std::memcpy(&value, in[2], sizeof value);
      return value;
    }
    return *static_cast<const uint8_t*>(in[2]);  // u8
  }

  const Files& files_;
  std::string path_;
  Type type_;
  Dtype row_ = Dtype::kI64;
};

// A temporary name beside the target; unlinked unless it took its place.
class Replacement {
 public:
  explicit Replacement(Files::Target target) : target_(std::move(target)) {
    static std::atomic<uint64_t> count{0};
    temporary_ = '.';
    temporary_ += target_.name.substr(0, 200);
    for (const uint64_t part :
         {static_cast<uint64_t>(::getpid()), count.fetch_add(1)}) {
      temporary_ += '.';
      temporary_ += std::to_string(part);
    }
    fd_ = Fd(::openat(target_.directory.get(), temporary_.c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      0666));
    errno_ = errno;
  }
  ~Replacement() {
    if (fd_.ok()) {
      ::unlinkat(target_.directory.get(), temporary_.c_str(), 0);
    }
  }
  int fd() const { return fd_.get(); }
  int errno_value() const { return errno_; }

  // A failing close() is how some file systems say that the disk is full.
  Status commit() {
    const int fd = fd_.release();
    if (::close(fd) != 0 ||
        ::renameat(target_.directory.get(), temporary_.c_str(),
                   target_.directory.get(), target_.name.c_str()) != 0) {
      const Error error{std::strerror(errno)};
      ::unlinkat(target_.directory.get(), temporary_.c_str(), 0);
      return error;
    }
    return ok_status();
  }

  // The new file gets the old one's mode.
  void copy_mode() const {
    struct stat info {};
    if (::fstatat(target_.directory.get(), target_.name.c_str(), &info, 0) ==
        0) {
      (void)!::fchmod(fd_.get(), info.st_mode & 07777);
    }
  }

 private:
  Files::Target target_;
  std::string temporary_;
  Fd fd_;
  int errno_ = 0;
};

}  // namespace

Status read_npy_rows(int fd, const NpyHeader& header, const Type& type,
                     int64_t row, void* out) {
  if (Status s = check_rows(header, type, row); !s.ok()) return s;
  const size_t bytes = type.bytes();
  if (bytes == 0) return ok_status();
  auto* to = static_cast<char*>(out);
  Status s = ok_status();
  if (header.fortran_order && type.shape.size() > 1) {
    s = read_fortran(fd, header, type, row, to);
  } else {
    const size_t row_bytes =
        type.shape.empty() ? bytes : bytes / static_cast<size_t>(type.shape[0]);
    s = read_at(fd, header.data_offset + static_cast<size_t>(row) * row_bytes,
                to, bytes);
  }
  if (!s.ok()) return s;
  if (header.big_endian) swap_bytes(to, bytes, size_of(type.dtype));
  if (type.dtype == Dtype::kBool) {
    for (size_t i = 0; i < bytes; ++i) to[i] = to[i] != 0 ? 1 : 0;
  }
  return ok_status();
}

std::unique_ptr<Kernel> make_load_kernel(const Call& call, const Files& files) {
  return std::make_unique<LoadKernel>(call, files);
}

Status save_npy(const Files& files, const std::string& path, const Type& type,
                const void* data) {
  auto target = files.target(path);
  if (!target.ok()) return target.error();
  Replacement file(std::move(target.value()));
  const auto failed = [&path](const std::string& why) {
    return Error{path + ": " + why};
  };
  if (file.fd() < 0) return failed(std::strerror(file.errno_value()));
  file.copy_mode();
  const std::string header = npy_header(type);
  Status s = write_all(file.fd(), header.data(), header.size());
  if (s.ok()) {
    s = write_all(file.fd(), static_cast<const char*>(data), type.bytes());
  }
  if (s.ok()) s = file.commit();
  return s.ok() ? s : failed(s.error().message);
}

}  // namespace gt

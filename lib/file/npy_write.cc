#include "file/npy_write.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "file/replacement.h"

namespace gt {

namespace {

Status write_npy(int fd, const Type& type, const TensorBytes& bytes) {
  const std::string header = npy_header(type);
  if (Status s = write_all(fd, header.data(), header.size()); !s.ok()) return s;
  return bytes.each(
      [fd](const void* data, size_t n) { return write_all(fd, data, n); });
}

// Writes over what the file holds, so that its memory need not be allocated
// again.
Status write_over(int fd, const Type& type, const TensorBytes& bytes) {
  if (Status s = write_npy(fd, type, bytes); !s.ok()) return s;
  if (::ftruncate(fd, ::lseek(fd, 0, SEEK_CUR)) == 0) return ok_status();
  return Error{std::strerror(errno)};
}

Status replace_npy(Files::Target target, const Type& type,
                   const TensorBytes& bytes) {
  Replacement file(std::move(target));
  if (file.fd() < 0) return Error{std::strerror(file.errno_value())};
  file.copy_mode();
  if (Status s = write_npy(file.fd(), type, bytes); !s.ok()) return s;
  return file.commit();
}

}  // namespace

Status save_npy(const Files& files, const std::string& path, const Type& type,
                const TensorBytes& bytes) {
  Status saved = ok_status();
  if (const Fd open = files.open_nameless(path); open.ok()) {
    saved = write_over(open.get(), type, bytes);
  } else {
    auto target = files.target(path);
    if (!target.ok()) return target.error();
    saved = replace_npy(std::move(target.value()), type, bytes);
  }
  return saved.ok() ? saved : Error{path + ": " + saved.error().message};
}

}  // namespace gt

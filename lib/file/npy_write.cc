#include "file/npy_write.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "file/replacement.h"

namespace gt {

namespace {

Status write_npy(int fd, const Type& type, const void* data) {
  const std::string header = npy_header(type);
  if (Status s = write_all(fd, header.data(), header.size()); !s.ok()) return s;
  return write_all(fd, data, type.bytes());
}

// Over what the file holds, whose memory so need not be found again.
Status write_over(int fd, const Type& type, const void* data) {
  if (Status s = write_npy(fd, type, data); !s.ok()) return s;
  if (::ftruncate(fd, ::lseek(fd, 0, SEEK_CUR)) == 0) return ok_status();
  return Error{std::strerror(errno)};
}

Status replace_npy(Files::Target target, const Type& type, const void* data) {
  Replacement file(std::move(target));
  if (file.fd() < 0) return Error{std::strerror(file.errno_value())};
  file.copy_mode();
  if (Status s = write_npy(file.fd(), type, data); !s.ok()) return s;
  return file.commit();
}

}  // namespace

Status save_npy(const Files& files, const std::string& path, const Type& type,
                const void* data) {
  Status saved = ok_status();
  if (const Fd open = files.open_nameless(path); open.ok()) {
    saved = write_over(open.get(), type, data);
  } else {
    auto target = files.target(path);
    if (!target.ok()) return target.error();
    saved = replace_npy(std::move(target.value()), type, data);
  }
  return saved.ok() ? saved : Error{path + ": " + saved.error().message};
}

}  // namespace gt

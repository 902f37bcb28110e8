#include "file/npy_write.h"

#include <cstring>

#include "file/replacement.h"

namespace gt {

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
    s = write_all(file.fd(), data, type.bytes());
  }
  if (s.ok()) s = file.commit();
  return s.ok() ? s : failed(s.error().message);
}

}  // namespace gt

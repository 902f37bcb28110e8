#include "file/remote_files.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "file/files.h"

namespace gt {
namespace {

constexpr std::string_view kScheme = "tcp://";

}  // namespace

bool is_remote(std::string_view path) { return path.starts_with(kScheme); }

RemotePath split_remote(std::string_view path) {
  const size_t slash = std::min(path.find('/', kScheme.size()), path.size());
  return {std::string(path.substr(0, slash)),
          std::string(path.substr(std::min(slash + 1, path.size())))};
}

Fd scratch_file() {
  const char* folder = std::getenv("TMPDIR");
  Fd fd(::open(folder == nullptr || *folder == '\0' ? "/tmp" : folder,
               O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  if (!fd.ok()) fd = Fd(::memfd_create("gt", MFD_CLOEXEC));
  return fd;
}

}  // namespace gt

#include "client/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/io.h"
#include "file/files.h"
#include "file/npy.h"
#include "file/safetensors_cache.h"
#include "file/stored.h"

namespace gt::client {
namespace {

Error system_error(const std::string& what, const std::string& path) {
  return Error{what + " " + path + ": " + std::strerror(errno)};
}

std::string parent_folder() {
  if (const char* chosen = std::getenv("TMPDIR");
      chosen != nullptr && *chosen != '\0') {
    return chosen;
  }
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

void remove_folder(const std::string& folder) {
  if (DIR* open = ::opendir(folder.c_str())) {
    while (const dirent* entry = ::readdir(open)) {
      if (entry->d_name[0] == '.') continue;
      ::unlink((folder + "/" + entry->d_name).c_str());
    }
    ::closedir(open);
  }
  ::rmdir(folder.c_str());
}

// Directories of processes that were killed: "gt-client.PID.XXXXXX".
void sweep(const std::string& parent, const std::string& stem) {
  DIR* open = ::opendir(parent.c_str());
  if (open == nullptr) return;
  while (const dirent* entry = ::readdir(open)) {
    const std::string name(entry->d_name);
    if (!name.starts_with(stem)) continue;
    const int pid = std::atoi(name.c_str() + stem.size());
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) {
      remove_folder(parent + "/" + name);
    }
  }
  ::closedir(open);
}

}  // namespace

Status Store::make_folder() {
  if (!folder_.empty()) return ok_status();
  const std::string parent = parent_folder();
  const std::string stem = "gt-client." + std::to_string(::getuid()) + ".";
  sweep(parent, stem);
  std::string folder =
      parent + "/" + stem + std::to_string(::getpid()) + ".XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    return system_error("cannot make the directory", folder);
  }
  folder_ = folder;
  return ok_status();
}

// The path of an open file of that number; "": there can be none, or other
// processes of the user may not open it.
std::string Store::open_file(size_t number) {
  if (::prctl(PR_GET_DUMPABLE) != 1) return "";
  const auto [at, is_new] = open_.try_emplace(number);
  if (is_new) at->second = Fd(::memfd_create("gt-client", MFD_CLOEXEC));
  const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" +
                           std::to_string(at->second.get());
  if (at->second.ok() && ::access(path.c_str(), W_OK) == 0) return path;
  open_.erase(at);
  return "";
}

Result<Store::Place> Store::take(Way way) {
  const size_t number = numbers(way).take();
  if (way == Way::kBack && keeps_) {
    if (const std::string path = open_file(number); !path.empty()) {
      return Place{way, number, path, ""};
    }
  }
  if (const Status made = make_folder(); !made.ok()) {
    numbers(way).give(number);
    return made.error();
  }
  if (way == Way::kOut) {
    if (const auto kept = kept_.extract(number)) bytes_kept_ -= kept.mapped();
  }
  const std::string file =
      (way == Way::kOut ? "" : "back") + std::to_string(number) + ".npy";
  return Place{way, number, folder_ + "/" + file,
               folder_.substr(folder_.rfind('/') + 1) + "." + file};
}

// Of all open files: few, since there is one for each value that is read at
// the same time.
uint64_t Store::open_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [number, file] : open_) {
    struct stat about {};
    if (::fstat(file.get(), &about) == 0) {
      bytes += static_cast<uint64_t>(about.st_size);
    }
  }
  return bytes;
}

// Whether the file, which went out, is kept.
bool Store::keep(const Place& place) {
  struct stat about {};
  if (!keeps_ || ::stat(place.path.c_str(), &about) != 0) return false;
  const auto bytes = static_cast<uint64_t>(about.st_size);
  if (bytes_kept_ + bytes > kMostKept) return false;
  kept_[place.number] = bytes;
  bytes_kept_ += bytes;
  return true;
}

void Store::give(const Place& place) {
  numbers(place.way).give(place.number);
  if (place.way == Way::kBack && open_.contains(place.number)) {
    if (open_bytes() > kMostKept) open_.erase(place.number);
    return;
  }
  if (place.way == Way::kOut && keep(place)) return;
  ::unlink(place.path.c_str());
}

void Store::remove() {
  if (!folder_.empty()) remove_folder(folder_);
  folder_.clear();
  open_.clear();
}

Status write_tensor(const std::string& path, const Type& type,
                    const void* bytes) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.ok()) return system_error("cannot write", path);
  const std::string header = npy_header(type);
  errno = write_all(file.get(), header);
  if (errno == 0) {
    errno =
        write_all(file.get(), {static_cast<const char*>(bytes), type.bytes()});
  }
  const auto size = static_cast<off_t>(header.size() + type.bytes());
  if (errno == 0 && ::ftruncate(file.get(), size) == 0) return ok_status();
  return system_error("cannot write", path);
}

Status read_tensor(const std::string& path, const Type& type, void* bytes) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return system_error("cannot read", path);
  const auto stored = read_npy_header(file.get());
  if (!stored.ok()) return Error{path + ": " + stored.error().message};
  if (!(stored.value().type == type)) {
    return Error{path + " holds " + to_string(stored.value().type) + ", not " +
                 to_string(type)};
  }
  return read_at(file.get(), stored.value().data_offset, bytes, type.bytes());
}

Result<Type> stored_type(std::string_view path) {
  SafetensorsCache headers;
  const auto stored = read_stored(split_path(path), headers);
  if (stored.ok()) return stored.value().type;
  return Error{stored.error().message +
               "; of a file that is not here yet, give the type"};
}

}  // namespace gt::client

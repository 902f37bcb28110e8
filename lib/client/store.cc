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
#include "client/paths.h"
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
    return absolute_path(chosen);
  }
  return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

void remove_folder(const std::string& folder) {
  if (DIR* open = ::opendir(folder.c_str())) {
    while (const dirent* entry = ::readdir(open)) {
      ::unlink((folder + "/" + entry->d_name).c_str());
    }
    ::closedir(open);
  }
  ::rmdir(folder.c_str());
}

// Removes the directories "gt-client.UID.PID.XXXXXX" of processes that were
// killed.
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
  const std::string stem =
      (leaves_ ? "gt-left." : "gt-client.") + std::to_string(::getuid()) + ".";
  if (!leaves_) sweep(parent, stem);
  std::string folder =
      parent + "/" + stem + std::to_string(::getpid()) + ".XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    return system_error("cannot make the directory", folder);
  }
  folder_ = folder;
  return ok_status();
}

// Returns the path of an open file for that number; "" if there can be none, or
// if other processes of the user may not open it.
std::string Store::open_file(size_t number) {
  if (::prctl(PR_GET_DUMPABLE) != 1) return "";
  const auto [at, is_new] = open_.try_emplace(number);
  if (is_new) at->second.file = Fd(::memfd_create("gt-client", MFD_CLOEXEC));
  const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" +
                           std::to_string(at->second.file.get());
  if (at->second.file.ok() && ::access(path.c_str(), W_OK) == 0) return path;
  open_.erase(at);
  return "";
}

Result<Store::Place> Store::take(Way way) {
  const size_t number = numbers(way).take();
  if (way == Way::kBack && keeps_) {
    if (const std::string path = open_file(number); !path.empty()) {
      return Place{way, number, path, "", open_[number].view};
    }
  }
  if (const Status made = make_folder(); !made.ok()) {
    numbers(way).give(number);
    return made.error();
  }
  std::shared_ptr<View> view;
  if (way == Way::kOut && keeps_) {
    const auto kept = kept_.extract(number);
    if (kept) bytes_kept_ -= kept.mapped().bytes;
    view = kept ? kept.mapped().view : std::make_shared<View>();
  }
  const std::string file =
      (way == Way::kOut ? "" : "back") + std::to_string(number) + ".npy";
  return Place{way, number, folder_ + "/" + file,
               folder_.substr(folder_.rfind('/') + 1) + "." + file, view};
}

// Returns the bytes of all open files. They are few, since there is one for
// each value that is read at the same time.
uint64_t Store::open_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [number, open] : open_) {
    struct stat about {};
    if (::fstat(open.file.get(), &about) == 0) {
      bytes += static_cast<uint64_t>(about.st_size);
    }
  }
  return bytes;
}

// Keeps a file that went out, if there is room; false if it is to be removed.
bool Store::keep(const Place& place) {
  struct stat about {};
  if (!keeps_ || ::stat(place.path.c_str(), &about) != 0) return false;
  const auto bytes = static_cast<uint64_t>(about.st_size);
  if (bytes_kept_ + bytes > kMostKept) return false;
  kept_[place.number] = {bytes, place.view};
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
  if (!folder_.empty() && !leaves_) remove_folder(folder_);
  folder_.clear();
  open_.clear();
}

Status write_tensor(const Store::Place& place, const Type& type,
                    const void* bytes) {
  const Fd file(::open(place.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.ok()) return system_error("cannot write", place.path);
  const std::string header = npy_header(type);
  const size_t size = header.size() + type.bytes();
  if (place.view != nullptr) {
    if (char* const at = place.view->of(file.get(), size)) {
      std::memcpy(at, header.data(), header.size());
      std::memcpy(at + header.size(), bytes, type.bytes());
      return ok_status();
    }
  }
  errno = write_all(file.get(), header);
  if (errno == 0) {
    errno =
        write_all(file.get(), {static_cast<const char*>(bytes), type.bytes()});
  }
  if (errno == 0 && ::ftruncate(file.get(), static_cast<off_t>(size)) == 0) {
    return ok_status();
  }
  return system_error("cannot write", place.path);
}

Status read_tensor(const Store::Place& place, const Type& type, void* bytes) {
  const Fd file(
      ::open(place.path.c_str(), (place.view ? O_RDWR : O_RDONLY) | O_CLOEXEC));
  if (!file.ok()) return system_error("cannot read", place.path);
  const auto stored = read_npy_header(file.get());
  if (!stored.ok()) return Error{place.path + ": " + stored.error().message};
  if (!(stored.value().type == type)) {
    return Error{place.path + " holds " + to_string(stored.value().type) +
                 ", not " + to_string(type)};
  }
  const auto offset = static_cast<size_t>(stored.value().data_offset);
  if (place.view != nullptr) {
    const size_t size = offset + type.bytes();
    if (const char* const at = place.view->of(file.get(), size)) {
      std::memcpy(bytes, at + offset, type.bytes());
      return ok_status();
    }
  }
  return read_at(file.get(), offset, bytes, type.bytes());
}

Result<Type> stored_type(std::string_view path) {
  SafetensorsCache headers;
  const auto stored = read_stored(split_path(path), headers);
  if (stored.ok()) return stored.value().type;
  return Error{stored.error().message +
               "; of a file that is not here yet, give the type"};
}

}  // namespace gt::client

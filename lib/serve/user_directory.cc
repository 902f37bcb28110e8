#include "serve/user_directory.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "net/keys.h"
#include "serve/client_hello.h"

namespace gt::serve {

Result<UserDirectory> UserDirectory::make(const std::string& files,
                                          const std::string& user) {
  const Error none{"it has no files of the user '" + user +
                   "'; whoever runs it can make a directory of that name for "
                   "them"};
  if (!net::is_user_name(user)) return none;
  UserDirectory directory;
  directory.root_ = files + "/" + user;
  auto made = Files::make({directory.root_}, "the directory of its user");
  if (!made.ok()) return none;
  directory.files_ = std::move(made.value());
  return directory;
}

// Removes what stands above the user's directory from a message: it does not
// concern the user.
Error UserDirectory::clean(const Error& error, const std::string& path) const {
  std::string message = error.message;
  const std::string root = root_ + "/";
  for (size_t at = message.find(root); at != std::string::npos;
       at = message.find(root, at)) {
    message.erase(at, root.size());
  }
  if (message.starts_with(path + ": ")) message.erase(0, path.size() + 2);
  return Error{message};
}

Result<Fd> UserDirectory::open(const std::string& path,
                               bool& is_missing) const {
  auto fd = files_.open(root_ + "/" + path);
  is_missing = !fd.ok() && fd.error().message.ends_with(std::strerror(ENOENT));
  if (!fd.ok()) return clean(fd.error(), path);
  return fd;
}

Result<Files::Target> UserDirectory::target(const std::string& path) const {
  const std::string whole = root_ + "/" + path;
  if (Status s = files_.make_parents(whole); !s.ok()) {
    return clean(s.error(), path);
  }
  auto target = files_.target(whole);
  if (!target.ok()) return clean(target.error(), path);
  return target;
}

Status UserDirectory::remove(const std::string& path, bool& is_missing) const {
  const auto target = files_.target(root_ + "/" + path);
  const bool is_found = target.ok();
  errno = 0;
  if (is_found && ::unlinkat(target.value().directory.get(),
                             target.value().name.c_str(), 0) == 0) {
    return ok_status();
  }
  const Error why =
      is_found ? Error{std::strerror(errno)} : clean(target.error(), path);
  is_missing = why.message.ends_with(std::strerror(ENOENT));
  return why;
}

std::optional<uint64_t> UserDirectory::bytes(
    const std::atomic<bool>& stop) const {
  namespace fs = std::filesystem;
  uint64_t sum = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(
      root_, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator();
       at.increment(error)) {
    if (stop.load()) return std::nullopt;
    std::error_code gone;  // set for a file that has just been removed
    if (at->symlink_status(gone).type() != fs::file_type::regular) continue;
    const uint64_t size = at->file_size(gone);
    if (!gone) sum += size;
  }
  return sum;
}

}  // namespace gt::serve

#include "client/paths.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "client/store.h"
#include "file/remote_files.h"
#include "file/stored.h"

namespace gt::client {

std::string absolute_path(std::string_view path) {
  std::error_code error;
  const auto out = std::filesystem::absolute(path, error);
  return error ? std::string(path) : out.string();
}

Paths::Folder Paths::current_folder() {
  struct stat about {};
  if (::stat(".", &about) != 0) return {};
  return {about.st_dev, about.st_ino};
}

void Paths::start(bool is_elsewhere) {
  is_elsewhere_ = is_elsewhere;
  started_in_ = current_folder();
}

std::string Paths::written(std::string_view path) const {
  const bool is_same = is_elsewhere_ || path.starts_with('/') ||
                       is_remote(path) || current_folder() == started_in_;
  return is_same ? std::string(path) : absolute_path(path);
}

// Returns one spelling for all paths of the same file.
std::string Paths::key(const std::string& path) const {
  return is_elsewhere_ ? std::filesystem::path(path).lexically_normal().string()
                       : normal_path(path);
}

Result<Type> Paths::type_of(const std::string& path) const {
  if (const auto saved = saved_.find(key(path)); saved != saved_.end()) {
    return saved->second;
  }
  if (!is_elsewhere_) return stored_type(path);
  const StoredPath parts = split_path(path);
  const auto same = same_.find(key(parts.file));
  if (same == same_.end()) {
    return Error{path +
                 " is a file of the cluster, which is not looked at from here: "
                 "give the type, or send or fetch the file first"};
  }
  return stored_type(parts.tensor.empty() ? same->second
                                          : same->second + ":" + parts.tensor);
}

void Paths::note_saved(const std::string& path, const Type& type) {
  saved_[key(path)] = type;
}

void Paths::note_same(const std::string& file) {
  const std::string same = key(file);
  std::erase_if(saved_, [&](const auto& saved) {
    return saved.first == same || saved.first.starts_with(same + ":");
  });
  same_[same] = absolute_path(file);
}

}  // namespace gt::client

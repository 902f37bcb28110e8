#include "file/stored.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/message.h"
#include "file/files.h"
#include "file/npy.h"
#include "file/remote_files.h"
#include "file/safetensors_cache.h"
#include "stream/line.h"

namespace gt {
namespace {

constexpr std::string_view kSuffix = ".safetensors";

Result<StoredTensor> read_one_of(int fd, const StoredPath& path,
                                 SafetensorsCache& headers) {
  const auto header = headers.read(fd);
  if (!header.ok()) return header.error();
  if (!path.tensor.empty()) return header.value()->stored(path.tensor);
  std::string message =
      "holds tensors by name; say which, as \"" + path.file + ":NAME\"";
  size_t shown = 0;
  for (const SafetensorsEntry& entry : header.value()->tensors) {
    message += (shown == 0 ? "; it has " : ", ");
    message += shown == 4 ? "..." : excerpt(entry.name);
    if (++shown > 4) break;
  }
  return Error{std::move(message)};
}

// Links on the other host are not known here.
std::string normal_remote(const StoredPath& path) {
  const RemotePath at = split_remote(path.file);
  std::string out = at.endpoint + "/" +
                    std::filesystem::path(at.path).lexically_normal().string();
  if (!path.tensor.empty()) out += ":" + path.tensor;
  return out;
}

}  // namespace

StoredPath split_path(std::string_view path) {
  const std::string mark = std::string(kSuffix) + ":";
  const size_t at = path.rfind(mark);
  // A host's name may end in ".safetensors", too.
  const size_t host = is_remote(path) ? split_remote(path).endpoint.size() : 0;
  if (at != std::string_view::npos && at >= host) {
    const size_t colon = at + kSuffix.size();
    return {std::string(path.substr(0, colon)),
            std::string(path.substr(colon + 1)), true};
  }
  return {std::string(path), "", path.ends_with(kSuffix)};
}

std::string normal_path(std::string_view path) {
  const StoredPath parts = split_path(path);
  if (is_remote(path)) return normal_remote(parts);
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path file = fs::absolute(parts.file, error);
  if (!error) file = fs::weakly_canonical(file, error);
  if (error) file = fs::path(parts.file).lexically_normal();
  std::string out = file.string();
  if (!parts.tensor.empty()) out += ":" + parts.tensor;
  return out;
}

std::string stored_file(std::string_view quoted) {
  return normal_path(split_path(unquote(quoted)).file);
}

std::string path_of_rank(const std::string& path, std::string_view rank) {
  if (path.find(kInSafetensors) != std::string::npos) {
    return path + "@" + std::string(rank);
  }
  const size_t slash = path.rfind('/');
  const size_t dot = path.rfind('.');
  const bool has_dot = dot != std::string::npos && dot != 0 &&
                       (slash == std::string::npos || dot > slash + 1);
  std::string out = path;
  return out.insert(has_dot ? dot : path.size(), "@" + std::string(rank));
}

Result<StoredTensor> read_stored(int fd, const StoredPath& path,
                                 SafetensorsCache& headers) {
  auto stored = path.in_safetensors ? read_one_of(fd, path, headers)
                                    : read_npy_header(fd);
  if (!stored.ok()) return Error{path.file + " " + stored.error().message};
  return stored;
}

Result<StoredTensor> read_stored(const StoredPath& path,
                                 SafetensorsCache& headers) {
  // O_NONBLOCK, not to hang on a FIFO; only regular files are read.
  const int fd = ::open(path.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return file_error(path.file, errno);
  auto stored = read_stored(fd, path, headers);
  ::close(fd);
  return stored;
}

bool stays_below(std::string_view path) {
  if (path.starts_with('/')) return false;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (path.substr(0, slash) == "..") return false;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return true;
}

}  // namespace gt

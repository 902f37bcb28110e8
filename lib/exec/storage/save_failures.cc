#include "exec/storage/save_failures.h"

#include <algorithm>

#include "file/stored.h"

namespace gt::exec {
namespace {

constexpr char kEnd = '\0';

}  // namespace

// Callers check this first, since normal_path() reads the file system.
bool SaveFailures::empty() const {
  const std::lock_guard lock(mutex_);
  return failed_.empty();
}

void SaveFailures::note(const std::string& path, const std::string& why) {
  const std::string normal = normal_path(path);
  const std::lock_guard lock(mutex_);
  failed_[normal] = why;
}

void SaveFailures::forgive(const std::string& path) {
  if (empty()) return;
  const std::string normal = normal_path(path);
  const std::lock_guard lock(mutex_);
  failed_.erase(normal);
  if (failed_.contains(split_path(normal).file)) failed_[normal] = "";
}

// Removes all failures in a file, whose path must be normal.
void SaveFailures::forget(const std::string& file) {
  std::erase_if(failed_, [&file](const auto& failed) {
    return split_path(failed.first).file == file;
  });
}

void SaveFailures::lose(const std::string& file, const std::string& why) {
  const std::string normal = normal_path(file);
  const std::lock_guard lock(mutex_);
  forget(normal);
  failed_[normal] = why;
}

std::string SaveFailures::of(const std::string& path) const {
  if (empty()) return "";
  const std::string normal = normal_path(path);
  const std::lock_guard lock(mutex_);
  auto it = failed_.find(normal);
  if (it == failed_.end()) it = failed_.find(split_path(normal).file);
  return it == failed_.end() ? "" : it->second;
}

// Writes, for each failure, the part of the path behind the file, and the
// reason, each ended by a zero byte. The file is left out since the reader may
// see it under another path.
std::string SaveFailures::in(const std::string& file) const {
  if (empty()) return "";
  const std::string normal = normal_path(file);
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [path, why] : failed_) {
    if (split_path(path).file != normal) continue;
    out.append(path, normal.size()).append(1, kEnd).append(why).append(1, kEnd);
  }
  return out;
}

void SaveFailures::take(const std::string& file, std::string_view failures) {
  if (failures.empty() && empty()) return;
  if (!failures.empty() && failures.back() != kEnd) {
    return lose(file, "the list of what failed to be saved there is cut short");
  }
  const std::string normal = normal_path(file);
  const std::lock_guard lock(mutex_);
  forget(normal);
  const auto next = [&failures] {
    const size_t end = std::min(failures.find(kEnd), failures.size());
    const std::string_view word = failures.substr(0, end);
    failures.remove_prefix(std::min(end + 1, failures.size()));
    return std::string(word);
  };
  while (!failures.empty()) {
    std::string path = normal + next();
    failed_[std::move(path)] = next();
  }
}

}  // namespace gt::exec

#include "exec/storage/saves.h"

#include <algorithm>

#include "file/npy_write.h"
#include "file/stored.h"

namespace gt::exec {
namespace {

constexpr char kEnd = '\0';

}  // namespace

Status Saves::save(const std::string& path, const Type& type, const void* data,
                   const Failure& line) {
  const StoredPath parts = split_path(path);
  const Status s = parts.in_safetensors ? save_to(parts, type, data, line)
                                        : save_npy(files_, path, type, data);
  if (s.ok()) {
    // To know a path by all its spellings takes a look at the file system.
    if (!failed_.empty()) forgive(path);
  } else {
    fail(path, s.error().message);
  }
  return s;
}

void Saves::fail(const std::string& path, const std::string& why) {
  failed_[normal_path(path)] = why;
}

void Saves::lose(const std::string& file, const std::string& why) {
  const std::string normal = normal_path(file);
  std::erase_if(failed_, [&normal](const auto& failed) {
    return split_path(failed.first).file == normal;
  });
  failed_[normal] = why;
}

void Saves::forgive(const std::string& path) {
  const std::string normal = normal_path(path);
  failed_.erase(normal);
  if (failed_.contains(split_path(normal).file)) failed_[normal] = "";
}

const std::string* Saves::failure_of(const std::string& path) const {
  if (failed_.empty()) return nullptr;
  const std::string normal = normal_path(path);
  auto it = failed_.find(normal);
  if (it == failed_.end()) it = failed_.find(split_path(normal).file);
  return it == failed_.end() || it->second.empty() ? nullptr : &it->second;
}

// What stands behind the file in a path, and a reason, each ended by a zero
// byte: who reads it may see the file elsewhere.
std::string Saves::failures_in(const std::string& file) const {
  if (failed_.empty()) return "";
  const std::string normal = normal_path(file);
  std::string out;
  for (const auto& [path, why] : failed_) {
    if (split_path(path).file != normal) continue;
    out.append(path, normal.size()).append(1, kEnd).append(why).append(1, kEnd);
  }
  return out;
}

void Saves::take_failures(const std::string& file, std::string_view failures) {
  if (failed_.empty() && failures.empty()) return;
  if (!failures.empty() && failures.back() != kEnd) {
    return lose(file, "the list of what failed to be saved there is cut short");
  }
  const std::string normal = normal_path(file);
  std::erase_if(failed_, [&normal](const auto& failed) {
    return split_path(failed.first).file == normal;
  });
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

Status Saves::save_to(const StoredPath& path, const Type& type,
                      const void* data, const Failure& line) {
  const std::string file = normal_path(path.file);
  size_t i = 0;
  while (i < waiting_.size() && waiting_[i].file != file) ++i;
  if (i < waiting_.size() && waiting_[i].update->has(path.tensor)) {
    settle_one(i);
    i = waiting_.size();
  }
  if (i == waiting_.size()) {
    if (waiting_.size() == kMostWaiting) settle_one(0);
    auto update = SafetensorsUpdate::make(files_, path.file);
    if (!update.ok()) return update.error();
    i = waiting_.size();
    waiting_.push_back({file, std::move(update.value()), {}, line});
  }
  Waiting& waiting = waiting_[i];
  if (Status s = waiting.update->add(path.tensor, type, data); !s.ok()) {
    return s;
  }
  waiting.paths.push_back(path.file + ":" + path.tensor);
  waiting.last = line;
  settle_cost_ += waiting.update->cost_of_last();
  return ok_status();
}

void Saves::settle_one(size_t i) {
  Waiting waiting = std::move(waiting_[i]);
  waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
  if (waiting.paths.empty()) return;  // the first of them failed
  const Status s = waiting.update->commit(files_);
  if (s.ok()) return;
  for (const std::string& path : waiting.paths) {
    fail(path, s.error().message);
  }
  waiting.last.error.message = s.error().message;
  failures_.push_back(std::move(waiting.last));
}

void Saves::settle(const std::string& file) {
  if (waiting_.empty()) return;
  const std::string normal = normal_path(file);
  for (size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i].file == normal) return settle_one(i);
  }
}

std::vector<Saves::Failure> Saves::settle() {
  while (!waiting_.empty()) settle_one(0);
  settle_cost_ = 0;
  return std::exchange(failures_, {});
}

}  // namespace gt::exec

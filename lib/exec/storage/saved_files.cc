#include "exec/storage/saved_files.h"

#include <utility>

#include "file/npy_write.h"
#include "file/stored.h"

namespace gt::exec {

Status SavedFiles::save(const std::string& file, const std::string& path,
                        const Type& type, const TensorBytes& bytes,
                        const Failure& line, std::vector<Written>& written) {
  const StoredPath parts = split_path(path);
  if (parts.in_safetensors) {
    return save_to(file, parts, type, bytes, line, written);
  }
  Status s = save_npy(files_, path, type, bytes);
  if (s.ok()) written.push_back({file, {{path, line.seq}}, ok_status(), line});
  return s;
}

Status SavedFiles::save_to(const std::string& file, const StoredPath& path,
                           const Type& type, const TensorBytes& bytes,
                           const Failure& line, std::vector<Written>& written) {
  size_t i = 0;
  while (i < waiting_.size() && waiting_[i].to_be.file != file) ++i;
  if (i < waiting_.size() && waiting_[i].update->has(path.tensor)) {
    written.push_back(write_one(i));
    i = waiting_.size();
  }
  if (i == waiting_.size()) {
    if (waiting_.size() == kMostWaiting) written.push_back(write_one(0));
    auto update = SafetensorsUpdate::make(files_, path.file);
    if (!update.ok()) return update.error();
    i = waiting_.size();
    waiting_.push_back(
        {std::move(update.value()), 0, {file, {}, ok_status(), line}});
  }
  Waiting& waiting = waiting_[i];
  if (Status s = waiting.update->add(path.tensor, type, bytes); !s.ok()) {
    if (waiting.to_be.saves.empty()) waiting_.pop_back();
    return s;
  }
  waiting.cost += waiting.update->cost_of_last();
  waiting.to_be.saves.push_back({path.file + ":" + path.tensor, line.seq});
  waiting.to_be.last = line;
  return ok_status();
}

SavedFiles::Written SavedFiles::write_one(size_t i) {
  Waiting waiting = std::move(waiting_[i]);
  waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
  Written& out = waiting.to_be;
  out.status = waiting.update->commit(files_);
  if (!out.status.ok()) out.last.error.message = out.status.error().message;
  return std::move(out);
}

void SavedFiles::write(const std::string& file, std::vector<Written>& written) {
  for (size_t i = 0; i < waiting_.size();) {
    if (file.empty() || waiting_[i].to_be.file == file) {
      written.push_back(write_one(i));
    } else {
      ++i;
    }
  }
}

uint64_t SavedFiles::cost() const {
  uint64_t cost = 0;
  for (const Waiting& waiting : waiting_) cost += waiting.cost;
  return cost;
}

}  // namespace gt::exec

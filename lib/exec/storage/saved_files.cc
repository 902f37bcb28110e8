#include "exec/storage/saved_files.h"

#include <exception>
#include <utility>

#include "file/npy_write.h"

namespace gt::exec {
namespace {

// Turns an exception, such as a lack of memory, into an error, so that only the
// file fails.
template <typename Call>
Status caught(const std::string& path, const Call& call) {
  try {
    return call();
  } catch (const std::exception& e) {
    return Error{path + ": " + e.what()};
  }
}

}  // namespace

Status SavedFiles::save(const std::string& file, const Save& save,
                        const Type& type, const TensorBytes& bytes,
                        std::vector<Written>& written) {
  return caught(save.path, [&]() -> Status {
    const StoredPath path = split_path(save.path);
    if (path.in_safetensors) {
      return save_to(file, path, save, type, bytes, written);
    }
    Status s = save_npy(files_, save.path, type, bytes);
    if (s.ok()) written.push_back({file, {save}, ok_status()});
    return s;
  });
}

Status SavedFiles::save_to(const std::string& file, const StoredPath& path,
                           const Save& save, const Type& type,
                           const TensorBytes& bytes,
                           std::vector<Written>& written) {
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
    waiting_.push_back({std::move(update.value()), {file, {}, ok_status()}});
  }
  Waiting& waiting = waiting_[i];
  Status s = waiting.update->add(path.tensor, type, bytes);
  if (s.ok()) {
    waiting.to_be.saves.push_back(save);
  } else if (waiting.to_be.saves.empty()) {
    waiting_.pop_back();
  }
  return s;
}

SavedFiles::Written SavedFiles::write_one(size_t i) {
  Waiting waiting = std::move(waiting_[i]);
  waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
  waiting.to_be.status = caught(waiting.to_be.file, [this, &waiting] {
    return waiting.update->commit(files_);
  });
  return std::move(waiting.to_be);
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

}  // namespace gt::exec

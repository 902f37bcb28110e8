#include "exec/storage/saved_files.h"

#include <algorithm>
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
                        Outcomes& done) {
  const StoredPath path = split_path(save.path);
  if (!path.in_safetensors) {
    Status s = caught(save.path,
                      [&] { return save_npy(files_, save.path, type, bytes); });
    if (s.ok()) done.push_back({save, ok_status()});
    return s;
  }
  Group& group = group_of(file, path.tensor, done);
  Status s =
      caught(save.path, [&] { return add(group, path, save, type, bytes); });
  if (!s.ok()) give_up(group, save.path + " failed: " + s.error().message);
  return s;
}

void SavedFiles::fail(const std::string& file, const Save& save,
                      const std::string& why, Outcomes& done) {
  const StoredPath path = split_path(save.path);
  if (!path.in_safetensors) return;
  give_up(group_of(file, path.tensor, done),
          save.path + " has no value: " + why);
}

// Returns the group that a save of this tensor belongs to, with the tensor
// among its tensors.
SavedFiles::Group& SavedFiles::group_of(const std::string& file,
                                        const std::string& tensor,
                                        Outcomes& done) {
  auto group = std::ranges::find(groups_, file, &Group::file);
  if (group != groups_.end() && group->tensors.contains(tensor)) {
    end(static_cast<size_t>(group - groups_.begin()), done);
    group = groups_.end();
  }
  if (group == groups_.end()) {
    if (groups_.size() == kMostGroups) end(0, done);
    group = groups_.insert(groups_.end(), {file, nullptr, {}, {}, ""});
  }
  group->tensors.insert(tensor);
  return *group;
}

// Adds a save to a group. Once the group has failed, its saves fail as it ends,
// and their bytes are not read.
Status SavedFiles::add(Group& group, const StoredPath& path, const Save& save,
                       const Type& type, const TensorBytes& bytes) {
  if (group.failure.empty()) {
    if (group.update == nullptr) {
      auto update = SafetensorsUpdate::make(files_, path.file);
      if (!update.ok()) return update.error();
      group.update = std::move(update.value());
    }
    Status s = group.update->add(path.tensor, type, bytes);
    if (!s.ok()) return s;
  }
  group.saves.push_back(save);
  return ok_status();
}

void SavedFiles::give_up(Group& group, const std::string& why) {
  if (!group.failure.empty()) return;
  group.failure = why;
  group.update = nullptr;
}

// Ends a group and writes it.
void SavedFiles::end(size_t i, Outcomes& done) {
  Group group = std::move(groups_[i]);
  groups_.erase(groups_.begin() + static_cast<ptrdiff_t>(i));
  if (group.saves.empty()) return;
  const Status written =
      !group.failure.empty()
          ? ok_status()
          : caught(group.file, [&] { return group.update->commit(files_); });
  for (Save& save : group.saves) {
    Status s = written;
    if (!group.failure.empty()) {
      s = Error{save.path +
                " is not written, since the saves of a round to one file are "
                "written together, and " +
                group.failure};
    }
    done.push_back({std::move(save), std::move(s)});
  }
}

void SavedFiles::write(const std::string& file, Outcomes& done) {
  for (size_t i = 0; i < groups_.size();) {
    if (file.empty() || groups_[i].file == file) {
      end(i, done);
    } else {
      ++i;
    }
  }
}

void SavedFiles::abandon(const std::string& why, Outcomes& done) {
  for (Group& group : groups_) give_up(group, why);
  write("", done);
}

}  // namespace gt::exec

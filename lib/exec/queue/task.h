// The records in the compute queue's ring that are tasks (lines that compute),
// and copies of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exec/memory/value.h"
#include "exec/queue/queue.h"
#include "exec/recipe/recipe.h"
#include "exec/trace/trace.h"
#include "exec/trace/where.h"

namespace gt::exec {

// A task is a recipe to run. It is followed in the ring by pointers to the
// values of the recipe's arguments and blocks, as its steps number them, and,
// if there is a trace, by a pointer to the line's TraceText.
struct TaskRecord {
  RecordHead head;
  const std::string* file;
  const Recipe* recipe;
  const char* text;  // the line, for a message
  uint32_t text_size;
  uint32_t op_column;
  uint64_t seq;  // as JobRecord::seq

  Value** values() { return reinterpret_cast<Value**>(this + 1); }
  size_t value_count() const {
    return recipe->arguments + recipe->blocks.size();
  }
  std::span<Value* const> all_values() { return {values(), value_count()}; }
  // The text for the trace; only if there is a trace.
  const TraceText* traced() {
    return reinterpret_cast<const TraceText*>(values()[value_count()]);
  }
  Where origin() const { return {file, head.line}; }
};
inline constexpr size_t kTaskWords = sizeof(TaskRecord) / sizeof(uint64_t);

// Says that later tasks do not read what was written at `data`
// (Device::forget()).
struct ForgetRecord {
  RecordHead head;
  const void* data;
};
inline constexpr size_t kForgetWords = sizeof(ForgetRecord) / sizeof(uint64_t);

// The values of RecordHead::kind.
enum : uint8_t { kTaskRecord = 1, kJobRecord = 2, kForgetRecord = 3 };

// Copies of tasks in their order, without their pointers for the trace, and of
// the ForgetRecords between them.
class Tasks {
 public:
  void add(const TaskRecord& task) {
    add_words(&task, words_of(task));
    ++size_;
  }
  void add(const ForgetRecord& forget) { add_words(&forget, kForgetWords); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t words() const { return words_.size(); }
  void clear() {
    words_.clear();
    size_ = 0;
  }
  // Calls use(task) for each task and forget(data) for each ForgetRecord, in
  // order. A task is not read after its use(), so its recipe may be deleted
  // then.
  template <typename Use, typename Forget>
  void for_each(const Use& use, const Forget& forget) {
    for (size_t at = 0; at < words_.size();) {
      auto& task = *reinterpret_cast<TaskRecord*>(&words_[at]);
      if (task.head.kind == kForgetRecord) {
        forget(reinterpret_cast<ForgetRecord*>(&words_[at])->data);
        at += kForgetWords;
        continue;
      }
      at += words_of(task);
      use(task);
    }
  }
  template <typename Use>
  void for_each(const Use& use) {
    for_each(use, [](const void* /*data*/) {});
  }

 private:
  void add_words(const void* record, size_t words) {
    const auto* from = static_cast<const uint64_t*>(record);
    words_.insert(words_.end(), from, from + words);
  }
  static size_t words_of(const TaskRecord& task) {
    return kTaskWords + task.value_count();
  }

  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

}  // namespace gt::exec

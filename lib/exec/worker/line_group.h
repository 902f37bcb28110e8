// LineGroup fuses point-wise lines that follow each other. It holds them back
// until another task or job is enqueued, or no line comes, and then enqueues
// them as one task, for which the backend has one kernel (Backend::fuse()). By
// then it is known which of their results are read later; the others are
// written nowhere.
//
// What the values of the lines are is followed by their buffers: a line reads
// what the last line of the group wrote to the buffer, or else what lay there
// before the group.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cache.h"
#include "exec/backend/backend.h"
#include "exec/decode/line_entry.h"
#include "exec/queue/compute_queue.h"

namespace gt::exec {

// Used by the thread that decodes.
class LineGroup final : public ComputeQueue::Held {
 public:
  // All arguments must outlive the object. With `is_on` false it holds nothing.
  LineGroup(Backend& backend, ComputeQueue& compute, const TypeIds& types,
            bool is_on)
      : backend_(backend),
        compute_(compute),
        types_(types),
        known_(is_on ? kSets : 1),
        is_on_(is_on) {}

  // True if lines with this recipe may be held.
  bool takes(const Recipe& recipe) const {
    return is_on_ && recipe.fusible_elements >= kLeastElements;
  }
  // Holds a line that takes() has admitted. `task` is its record, without
  // RecordHead::words; `made` is the buffer of its result.
  void hold(const LineEntry& entry, std::vector<uint64_t> task, Buffer& made);
  // Returns how many lines were enqueued together with others so far.
  uint64_t fused() const { return fused_; }

  // ---- ComputeQueue::Held
  void enqueue() override;

 private:
  // Values of fewer elements stay in the nearest cache, and holding their lines
  // back costs more than it saves.
  static constexpr int64_t kLeastElements = 8192;
  static constexpr size_t kMost = 32;  // lines in a group
  static constexpr size_t kSets = 256;

  struct Line {
    std::shared_ptr<Recipe> recipe;
    std::vector<uint64_t> task;
    Buffer* made = nullptr;
    std::vector<int32_t> in;  // as FusedStep::in
    int32_t block = 0;        // of the values that the group makes
  };
  // A value from before the group.
  struct Argument {
    Value* value = nullptr;
    TypeId type = kNoType;  // of a register
  };
  struct Known {
    std::string text;
    std::unique_ptr<Recipe> recipe;
  };

  bool fits(const LineEntry& entry, const Buffer& made) const;
  int32_t source_of(const LineOperand& operand, Value* value);
  int32_t block_of(Buffer& made);
  std::vector<FusedStep> steps() const;
  std::string key_of(std::span<const FusedStep> steps) const;
  const Recipe* obtain();
  std::unique_ptr<Recipe> make(std::span<const FusedStep> steps) const;
  void enqueue_one(const Line& line);
  void enqueue_all(const Recipe& recipe);

  Backend& backend_;
  ComputeQueue& compute_;
  const TypeIds& types_;
  Cache<Known> known_;
  const bool is_on_;
  std::vector<Line> lines_;
  std::vector<Argument> arguments_;
  std::vector<Buffer*> blocks_;
  uint64_t fused_ = 0;
};

}  // namespace gt::exec

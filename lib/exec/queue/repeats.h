// Finds blocks of tasks that come again, as the steps of a training loop do, so
// that a device which records work does such a block as one piece.
//
// A block is found by its lines (stream/block_finder.h). When its first task
// comes once more, tasks are held back until the block is whole, or something
// else comes; what is held is not long in coming, since whoever enqueues is
// busy with it. A whole block is recorded, and what was recorded is done; and
// again whenever the block comes with the same values at the same addresses.
// Where these are others, it is recorded anew; of a block there are two
// recordings, for steps that take turns with two addresses.
//
// Used by the thread of the compute queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "exec/memory/device.h"
#include "exec/queue/interpreter.h"
#include "exec/queue/task.h"
#include "stream/block_finder.h"

namespace gt::exec {

class Repeats {
 public:
  // What a device has recorded of a block.
  struct Recording {
    std::unique_ptr<DeviceRecording> work;
    std::vector<Interpreter::Outcome> outcomes;  // all of them checks
  };
  // Who runs tasks.
  class Runner {
   public:
    virtual ~Runner() = default;
    // Runs each of them by itself.
    virtual void run_each(Tasks& tasks) = 0;
    // Records the tasks, and runs none; null if that cannot be done. `old` may
    // be null, or become the new one.
    virtual std::unique_ptr<Recording> record(
        Tasks& tasks, std::unique_ptr<Recording> old) = 0;
    // Does what was recorded, as these tasks, which it may take. False: it has
    // done nothing.
    virtual bool replay(Tasks& tasks, const Recording& recording) = 0;
  };

  explicit Repeats(Runner& runner) : runner_(runner), finder_(kLeast, kMost) {}

  // Takes the next task, all kernels of which may be recorded. False if it is
  // not held back, and so is to be run now, behind those that were.
  bool hold(TaskRecord& task);
  // What was written there is read no more by tasks that follow those that are
  // held, of which there are some.
  void hold(const ForgetRecord& forget);
  // Something else comes next: what is held is run.
  void cut();
  bool holds() const { return !held_.empty(); }

  // How many blocks were recorded so far, and how often one was done so.
  uint64_t recorded() const { return recorded_; }
  uint64_t replayed() const { return replayed_; }

 private:
  static constexpr uint32_t kLeast = 8;  // tasks of a block
  static constexpr uint32_t kMost = 1U << 13;
  static constexpr size_t kMostBlocks = 32;
  static constexpr size_t kRecordings = 2;  // of a block
  // A block that was recorded so many times more than it was done again is one
  // that does not come again.
  static constexpr int kMostMisses = 8;

  // A recording, and of which tasks it is.
  struct Known {
    std::vector<uint64_t> identity;
    std::unique_ptr<Recording> recording;
  };
  struct Block {
    std::vector<Known> known;  // used last comes last
    int misses = 0;
    uint64_t used = 0;
  };

  void note(TaskRecord& task);
  void run_held();
  void run_block();
  Block& obtain_block();
  const Recording* find(Block& block);
  const Recording* record(Block& block);
  void forget_held();

  Runner& runner_;
  BlockFinder finder_;
  std::map<uint32_t, Block> blocks_;  // by the finder's id
  uint32_t id_ = 0;                   // of the block that is held
  Tasks held_;
  // All that a recording depends on: the recipes, addresses and numbers of the
  // tasks that are held, and what is forgotten between them.
  std::vector<uint64_t> identity_;
  uint64_t turn_ = 0;
  uint64_t recorded_ = 0;
  uint64_t replayed_ = 0;
};

}  // namespace gt::exec

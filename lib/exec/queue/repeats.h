// Repeats finds blocks of tasks that repeat, as the steps of a training loop
// do, so that a device that can record work runs such a block as one piece (for
// example a CUDA graph).
//
// A block is recognized by its lines (stream/block_finder.h). When its first
// task comes again, tasks are held back until the block is complete or
// something else comes. This delay is short, since the enqueuing thread is busy
// producing the tasks. A complete block is recorded, and the recording is run.
// Whenever the block comes again with the same values at the same addresses,
// the recording is run again; with other addresses the block is recorded anew.
// Each block keeps some recordings, since values that live from step to step,
// such as a count of steps and a learning rate, may take turns at a few
// addresses.
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
  // A device's recording of a block.
  struct Recording {
    std::unique_ptr<DeviceRecording> work;
    std::vector<Interpreter::Outcome> outcomes;  // all are checks
  };
  // Runs tasks on the device; implemented by SpeculativeIssue.
  class Runner {
   public:
    virtual ~Runner() = default;
    // Runs each task by itself.
    virtual void run_each(Tasks& tasks) = 0;
    // Records the tasks without running them; null if that fails. `old` may be
    // null; its memory may be reused for the new recording.
    virtual std::unique_ptr<Recording> record(
        Tasks& tasks, std::unique_ptr<Recording> old) = 0;
    // Runs a recording in place of `tasks`, which it may move from. False if it
    // has done nothing.
    virtual bool replay(Tasks& tasks, const Recording& recording) = 0;
    // Called when the tasks that were held back have run, before another one is
    // held back or run.
    virtual void ran_held() = 0;
  };

  explicit Repeats(Runner& runner) : runner_(runner), finder_(kLeast, kMost) {}

  // Takes the next task, all kernels of which must be recordable. False if it
  // is not held back; then the caller runs it now, after the tasks that were
  // held.
  bool hold(TaskRecord& task);
  // Takes a ForgetRecord while tasks are held back: tasks after them no longer
  // read what was written at that address.
  void hold(const ForgetRecord& forget);
  // Runs the tasks held back, since what comes next is not a task.
  void cut();
  bool holds() const { return !held_.empty(); }

  // How many blocks were recorded so far, and how often a recording was run.
  uint64_t recorded() const { return recorded_; }
  uint64_t replayed() const { return replayed_; }

 private:
  // The fewest tasks in a block. Point-wise lines that follow each other are
  // computed as one, but not across the end of a block, so short blocks would
  // cost more than they save.
  static constexpr uint32_t kLeast = 32;
  static constexpr uint32_t kMost = 1U << 13;
  static constexpr size_t kMostBlocks = 32;
  static constexpr size_t kRecordings = 8;  // per block
  // The most tasks in all recordings, which take memory of the device and of
  // the host that nothing else counts.
  static constexpr size_t kMostTasks = kRecordings * kMost;
  // A block that was recorded so many times more often than a recording of it
  // could be run again is not recorded any more.
  static constexpr int kMostMisses = 8;

  // A recording, and the identity_ and number of its tasks.
  struct Known {
    std::vector<uint64_t> identity;
    size_t tasks;
    std::unique_ptr<Recording> recording;
  };
  struct Block {
    std::vector<Known> known;  // the most recently used is last
    // Recordings made minus recordings run again, at least 0.
    int misses = 0;
    uint64_t used = 0;
  };

  void note(TaskRecord& task);
  void run_held();
  void run_block();
  Block& obtain_block();
  const Recording* find(Block& block);
  const Recording* record(Block& block);
  void drop_oldest();
  void forget_held();

  Runner& runner_;
  BlockFinder finder_;
  std::map<uint32_t, Block> blocks_;  // by the id that the finder gave
  uint32_t id_ = 0;                   // of the block being held back
  Tasks held_;
  // All that a recording depends on: the recipes, addresses and numbers of the
  // held tasks, and the addresses forgotten between them.
  std::vector<uint64_t> identity_;
  uint64_t turn_ = 0;
  size_t tasks_ = 0;  // in all recordings
  uint64_t recorded_ = 0;
  uint64_t replayed_ = 0;
};

}  // namespace gt::exec

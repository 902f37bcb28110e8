// Writes what save lines ask for, beside what is computed, so that a load sees
// the saves before it.
//
// Files are written by a thread of its own, in the order of the saves. It reads
// the values where they lie, so nobody may write to them before it has
// (Order::held).
//
// On one worker a load that comes after a save of the same path finds what was
// saved; if the save failed, the load fails, too (save_failures.h). Across
// workers, which see the same files, gt-route sends a fence between the two
// (Exchanges::fence()): behind it the same holds, since the worker that saves
// has then written what waits and has said what failed.
//
// Calls come from one thread, that of the compute queue; set_reader() comes
// before it has begun, and end() once it does nothing any more.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "exec/memory/device.h"
#include "exec/storage/save_failures.h"
#include "exec/storage/saved_files.h"
#include "exec/trace/trace.h"
#include "exec/trace/where.h"
#include "file/files.h"
#include "file/safetensors_cache.h"
#include "stream/type.h"

namespace gt::exec {

class Saves {
 public:
  explicit Saves(Files files) : files_(std::move(files)), saved_(files_) {}
  ~Saves() { end(); }
  Saves(const Saves&) = delete;
  Saves& operator=(const Saves&) = delete;
  const Files& files() const { return files_; }
  // The headers of the files that loads have read.
  SafetensorsCache& headers() { return headers_; }
  // Who reads the values. Null: whoever begins a save has their bytes.
  void set_reader(std::unique_ptr<DeviceReader> reader);
  bool has_reader() const { return reader_ != nullptr; }
  // Ends the thread; what it has not begun to write is not written.
  void end();

  // A save that is to be done.
  struct Order {
    ShownLine line;
    std::string path;
    Type type;
    const void* data = nullptr;
    std::shared_ptr<DeviceEvent> made;  // what makes the value is before it
    std::shared_ptr<void> held;         // goes once the value has been read
    // Its row of the trace, if there is one.
    Trace* trace = nullptr;
    std::shared_ptr<const TraceText> row;
  };
  struct Failure {
    ShownLine line;
    std::string why;
    uint64_t ticket = 0;
  };

  // There will be a save to the path, or none after all. Tickets ascend from 1;
  // saves begin, and are dropped, in their order.
  uint64_t announce(const std::string& path);
  // Why it fails, if it does, is told by take_failures(), and noted in
  // failures() for the loads that come later.
  void begin(uint64_t ticket, Order order);
  void drop(uint64_t ticket);
  // Drops it since there is no value.
  void fail(uint64_t ticket, const std::string& path, const std::string& why);
  // Whether a save to the file is announced that is neither begun nor dropped.
  bool expects(const std::string& file) const;

  // Waits until the saves to this file that have begun are written.
  void settle(const std::string& file);
  // The same of all saves.
  void settle();
  // All of them are to be written soon, whether more come to the same files or
  // not. It does not wait: they are written when no save is to be begun, or
  // soon after, and not for more than half of the time.
  void begin_settle();
  // Waits until the values of the saves that have begun were read.
  void read_all();

  // The first save that is not written, or has failed and is not told; if there
  // is none, a ticket that is yet to be given.
  uint64_t first_waiting() const;
  // What has failed since the last time: each save that could not be begun, and
  // of those that were written together the last.
  std::vector<Failure> take_failures();
  SaveFailures& failures() { return failures_; }

 private:
  // What the thread is to do, in the order of their numbers, from 1.
  struct Work {
    enum class Kind : uint8_t { kSave, kFail, kWrite };
    Kind kind = Kind::kWrite;
    uint64_t ticket = 0;
    std::string file;              // normal_path(); of kWrite also "", all
    std::unique_ptr<Order> order;  // of kSave
    std::string path, why;         // of kFail
  };
  static constexpr std::chrono::milliseconds kPatience{100};

  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;
  uint64_t add(Work work, Lock& lock);
  void wait_for(uint64_t work, Lock& lock);
  std::string begin_next(uint64_t ticket);
  bool has_begun_any() const;
  void run();
  void do_first(Lock& lock);
  void write_all(Lock& lock);
  void work_on(const Work& work);
  Status save(const Work& work, std::vector<SavedFiles::Written>& files);
  Status read(const Order& order, const TensorBytes::Take& take);
  void note(const SavedFiles::Written& written);

  Files files_;
  SafetensorsCache headers_;
  std::unique_ptr<DeviceReader> reader_;
  SaveFailures failures_;
  SavedFiles saved_;  // the thread's

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Work> work_;   // the first is being done
  uint64_t last_work_ = 0;  // the number of the last of them,
  uint64_t done_work_ = 0;  // and of the last that was done
  uint64_t last_ticket_ = 0;
  uint64_t last_begun_ = 0;  // the ticket of what was begun or dropped last
  std::map<uint64_t, std::string> unwritten_;  // file by ticket
  std::vector<Failure> untold_;
  bool settles_ = false;               // all that waits is to be written soon,
  Clock::time_point settles_since_{};  // asked for then,
  Clock::time_point settles_from_{};   // and not before that
  bool is_ending_ = false;
  std::thread thread_;  // once there is work
};

}  // namespace gt::exec

// Saves writes the files of save lines while computing goes on, and makes sure
// that a load sees the saves before it.
//
// A thread of its own writes the files, in the order of the saves. It reads the
// values in place, so nobody may write to them before that (Order::held). The
// saves of a round to one safetensors file are a group (saved_files.h), which
// is written as it ends: by a load from the file or another save of one of its
// tensors, and by settle() and end_groups().
//
// On one worker, a load that comes after a save of the same path finds what was
// saved; if the save failed, the load fails too (save_failures.h). Across
// workers, which see the same files, gt-route sends a fence between the two
// (Exchanges::fence()). After the fence the same holds, since the saving worker
// has then written what waits and has told what failed.
//
// All calls come from the thread of the compute queue, except set_reader(),
// which must be called before that thread starts, and end(), once it is idle
// for good.
#pragma once

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
  // The cache of file headers that loads have read.
  SafetensorsCache& headers() { return headers_; }
  // Sets who reads the values. Null: Order::data is then an address on the
  // host.
  void set_reader(std::unique_ptr<DeviceReader> reader);
  bool has_reader() const { return reader_ != nullptr; }
  // Ends the thread. Saves that it has not begun to write are not written.
  void end();

  // A save to be done.
  struct Order {
    ShownLine line;
    std::string path;
    Type type;
    const void* data = nullptr;
    // The value is complete at this event; may be null.
    std::shared_ptr<DeviceEvent> made;
    std::shared_ptr<void> held;  // released once the value has been read
    // For the row in the trace, if there is one.
    Trace* trace = nullptr;
    std::shared_ptr<const TraceText> row;
  };
  struct Failure {
    ShownLine line;
    std::string why;
    uint64_t ticket = 0;
  };

  // Says that there may be a save to the path, and returns its ticket. Tickets
  // ascend from 1. Saves must be begun, failed or dropped in the order of their
  // tickets.
  uint64_t announce(const std::string& path);
  // Begins a save. If it fails, take_failures() returns why, and failures() has
  // it for later loads.
  void begin(uint64_t ticket, Order order);
  // Gives up a save that is not to be done.
  void drop(uint64_t ticket);
  // Fails a save that has no value.
  void fail(uint64_t ticket, const std::string& path, const std::string& why);
  // True if a save to the file was announced that is not begun, failed or
  // dropped yet.
  bool expects(const std::string& file) const;

  // Waits until the saves to this file that have begun are written.
  void settle(const std::string& file);
  // Does the same for all saves.
  void settle();
  // Ends the groups of the saves that have begun. Does not wait until they are
  // written.
  void end_groups();
  // Gives up the saves that have begun and whose groups have not ended. They
  // fail for this reason.
  void abandon(const std::string& why);
  // Waits until the values of the begun saves were read.
  void read_all();

  // Returns the ticket of the first save that is not written, or whose failure
  // was not taken yet; if there is none, a ticket that was not given out yet.
  uint64_t first_waiting() const;
  // Returns the saves that have failed since the last call.
  std::vector<Failure> take_failures();
  SaveFailures& failures() { return failures_; }

 private:
  // What the thread is to do. Works are numbered from 1, and done in that
  // order.
  struct Work {
    enum class Kind : uint8_t { kSave, kFail, kWrite, kAbandon };
    Kind kind = Kind::kWrite;
    uint64_t ticket = 0;
    std::string file;  // normal_path(); for kWrite, "" means all files
    std::unique_ptr<Order> order;  // for kSave
    std::string path;              // for kFail
    std::string why;               // for kFail and kAbandon
  };
  using Lock = std::unique_lock<std::mutex>;
  uint64_t add(Work work, Lock& lock);
  void wait_for(uint64_t work, Lock& lock);
  std::string begin_next(uint64_t ticket);
  bool has_begun_any() const;
  void run();
  void do_first(Lock& lock);
  void work_on(const Work& work);
  Status save(const Work& work, SavedFiles::Outcomes& done);
  Status read(const Order& order, const TensorBytes::Take& take);
  void note(const SavedFiles::Outcome& done);

  Files files_;
  SafetensorsCache headers_;
  std::unique_ptr<DeviceReader> reader_;
  SaveFailures failures_;
  SavedFiles saved_;  // used by the thread

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Work> work_;   // the first is being done
  uint64_t last_work_ = 0;  // the number of the last work added
  uint64_t done_work_ = 0;  // the number of the last work done
  uint64_t last_ticket_ = 0;
  uint64_t last_begun_ = 0;  // the last ticket begun, failed or dropped
  // Files of saves not written yet, by ticket.
  std::map<uint64_t, std::string> unwritten_;
  // Failures for take_failures().
  std::vector<Failure> untold_;
  bool has_open_ = false;  // a save has begun since all groups were ended
  bool is_ending_ = false;
  std::thread thread_;  // started with the first work
};

}  // namespace gt::exec

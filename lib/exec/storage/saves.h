// Writes what save lines ask for, beside what is computed, so that a load sees
// the saves before it.
//
// Files are written by a thread of its own, in the order of the saves. It reads
// the values where they lie, so nobody may write to them before it has
// (Order::held).
//
// On one worker a load that comes after a save of the same path finds what was
// saved; if the save failed, the load fails, too, rather than find what was
// there before. Across workers, which see the same files, gt-route sends a
// fence between the two (Exchanges::fence()): behind it the same holds, since
// the worker that saves has then written what waits and has said what failed.
//
// All calls come from the thread of the compute queue.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "exec/memory/device.h"
#include "exec/storage/saved_files.h"
#include "exec/trace/trace.h"
#include "exec/trace/where.h"
#include "file/files.h"
#include "file/safetensors_cache.h"
#include "stream/type.h"

namespace gt::exec {

class Saves {
 public:
  explicit Saves(Files files);
  ~Saves() { end(); }
  Saves(const Saves&) = delete;
  Saves& operator=(const Saves&) = delete;
  const Files& files() const { return files_; }
  // The headers of the files that loads have read.
  SafetensorsCache& headers() { return headers_; }
  // Who reads the values, before there are any. Null: they lie on the host.
  void set_reader(std::unique_ptr<DeviceReader> reader);
  bool has_reader() const { return reader_ != nullptr; }
  // Ends the thread; what it has not begun to write is not written.
  void end();

  using Failure = SavedFiles::Failure;

  // A save that is to be done.
  struct Order {
    Failure line;
    std::string path;
    Type type;
    const void* data = nullptr;
    std::shared_ptr<DeviceEvent> made;  // what makes the value is before it
    std::shared_ptr<void> held;         // goes once the value has been read
    // Its row of the trace, if there is one.
    Trace* trace = nullptr;
    std::shared_ptr<const TraceText> row;
  };
  // Why it fails, if it does, is told by failures(), and lets the loads of the
  // path fail that come later; so does fail().
  void begin(Order order);
  void fail(const std::string& path, const std::string& why);
  // Nobody knows what was saved in the file, so that all loads of it fail, but
  // for what is saved there later.
  void lose(const std::string& file, const std::string& why);

  // Waits until the saves to this file so far are written.
  void settle(const std::string& file);
  // Why the last save to the path failed, or "", once it is settled.
  std::string failure_of(const std::string& path) const;

  // Which saves to a file have failed, as bytes for another worker, whose loads
  // come behind a fence. It takes them in place of what it knew of the file.
  std::string failures_in(const std::string& file) const;
  void take_failures(const std::string& file, std::string_view failures);

  // All saves so far are to be written now, whether more come to the same files
  // or not; it does not wait. settle() does.
  void begin_settle();
  void settle();
  // Waits until all values were read that are to be saved so far.
  void read_all();
  // What has failed since the last time: each save that could not be begun, and
  // of those that were written together the last.
  std::vector<Failure> failures();
  // Whether saves are not written yet, or failures were not asked for.
  bool waiting() const;
  // The instruction that the first of these is of (Failure::seq), or 0.
  uint64_t first_waiting() const;
  // How long it would take to write what waits, roughly, in nanoseconds.
  uint64_t settle_cost() const;

 private:
  // What the thread is to do: a save; if there is none, to note a failure of a
  // path; or else to write a file, or all of them ("").
  struct Work {
    std::unique_ptr<Order> save;
    std::string path, why;  // the former by normal_path(), as is
    std::string file;
  };
  using Lock = std::unique_lock<std::mutex>;
  void add(Work work, Lock& lock);
  void wait(Lock& lock);
  void run();
  void do_first(Lock& lock);
  void work_on(const Work& work);
  Status save(const Work& work, std::vector<SavedFiles::Written>& files);
  Status read(const Order& order, const TensorBytes::Take& take);
  void note(SavedFiles::Written& written);
  void count_written(const std::string& file, uint64_t seq);
  void forget(const std::string& normal);
  void forgive(const std::string& normal);

  Files files_;
  SafetensorsCache headers_;
  std::unique_ptr<DeviceReader> reader_;
  SavedFiles saved_;  // the thread's

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Work> work_;  // the first is being done
  // The saves to each file that are not written yet, and of what instructions.
  std::unordered_map<std::string, std::vector<uint64_t>> unwritten_;
  // Why saves failed, by normal path: of a tensor, or of a file that was lost;
  // "" of what was saved in such a file since.
  std::unordered_map<std::string, std::string> failed_;
  std::vector<Failure> failures_;
  uint64_t settle_cost_ = 0;
  bool settles_ = false;  // all that waits is to be written
  bool is_ending_ = false;
  std::thread thread_;  // once there is work
};

}  // namespace gt::exec

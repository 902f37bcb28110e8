// Channel: the connection of a session with its program: the processes that run
// it, the lines that are sent to them, and the results that come back. The
// functions throw Failure (failure.h), and may be called from any thread. Those
// that take a lock expect the channel's, and unlock it while they wait.
#pragma once

#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "client/inbox.h"
#include "client/link.h"
#include "client/pipeline.h"
#include "client/told.h"

namespace gt::client {

// The line whose answer says that all lines before it have run
// (stream/marks.h). It has no number, so that each round of a loop is the same
// text.
inline constexpr char kSync[] = "#sync gt\n";

class Channel {
 public:
  using Lock = Link::Lock;

  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Starts the processes; `where` as for gt_open().
  void start(std::string_view where);
  // Waits for all results and for the end of the processes, and returns their
  // worst exit status.
  Exit close();
  // After fork(), in the child, which must hold the lock.
  void forget();

  // True unless the channel is closed or was opened by the parent process.
  // Takes no lock.
  bool is_open() const { return !is_closed_ && !is_forked_; }
  bool was_started() const { return link_ != nullptr; }
  std::mutex& mutex() { return mutex_; }
  // Locks. Fails if the channel is not open.
  Lock enter();
  void check_open() const;
  // The command `gt-emit --to` and its options if the program runs on a
  // cluster; else empty.
  const Command& joined() const { return joined_; }
  // True if one gt-work that we started runs the program, with no gt-shard to
  // change it.
  bool has_one_worker() const { return has_one_worker_; }
  // True if close() returns only when the program has ended. It is false if
  // others run the program, or if a cluster goes on with it after the client
  // has left.
  bool waits_for_program() const { return gives_results_ && joined_.empty(); }
  // True if the channel is closed or the processes are gone. The lock must be
  // free.
  bool is_lost();
  // Fails if the processes are gone. The lock must be held.
  void check_alive();

  void send(std::string_view text, Lock& lock);
  // Sends lines, the last of which asks for a result, and returns the result's
  // line.
  std::string ask(std::string_view text, Lock& lock);
  // Does the same for lines that end with kSync: calls each(line) for every
  // line that comes before its answer.
  void ask_lines(std::string_view text,
                 const std::function<void(std::string_view)>& each, Lock& lock);
  // Calls then() once all lines before have run: appends a line to `text` that
  // asks for that. The caller must send the text next.
  void when_done(std::function<void()> then, std::string& text);
  // Waits until holds() is true, or until no more results come.
  void wait(const std::function<bool()>& holds, Lock& lock);

  // True if results can come back. open_back() must be called before they are
  // read.
  bool has_way_back() const;
  void open_back();
  // Says that the result of the next line that asks for one is to be printed.
  void show_next();
  // Fails if a result could not be printed; unless `again`, once.
  void check_shown(bool again = true);
  // Fails if something has failed that no exception has shown. The lock must be
  // free.
  void check_failures();
  // Does so after close(), and if a result could not be printed, or if the
  // processes ended badly and none has said why, which no exception has shown.
  void check_end();
  // An exception shows this message of a failure.
  void saw(std::string_view message) { told_.saw(message); }

  // Also writes everything that is sent to this file from now on; "" ends that.
  // Fails, too, if the file before could not be written.
  void log_to(std::string_view path);
  // Fails if what was sent could not be written to that file.
  void check_log();

 private:
  [[noreturn]] void fail_lost(const char* what);
  void note_log(bool is_written);
  void end_log();

  mutable std::mutex mutex_;
  Told told_;
  Pipeline pipeline_;
  Command joined_;
  std::string folder_;  // the current directory at start()
  bool has_one_worker_ = false;
  Inbox inbox_;
  bool gives_results_ = false;
  bool was_lost_ = false;  // an exception has said that the processes are gone
  bool has_thrown_shown_ = false;  // check_shown() has failed
  Exit ended_ = Exit::kDone;       // the status of the processes
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> is_forked_{false};
  std::FILE* log_ = nullptr;
  std::string log_path_;
  int log_error_ = 0;  // the errno of the first write that failed
  // The last member, since its thread uses those above.
  std::unique_ptr<Link> link_;
};

}  // namespace gt::client

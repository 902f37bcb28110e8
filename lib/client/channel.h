// Where a session's program runs: the processes that run it, the lines that go
// to them, and what comes back. Its functions throw Failure (failure.h), and
// may be called from any thread; those that take a lock want it to be that of
// the channel, and give it up while they wait.
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

namespace gt::client {

// The line whose answer says that all before it has run (stream/marks.h). It
// has no number, since each round of a loop is to be the same text.
inline constexpr char kSync[] = "#sync gt\n";

class Channel {
 public:
  using Lock = Link::Lock;

  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // `where` as of gt_open().
  void start(std::string_view where);
  // Waits for all results and for the processes.
  Exit close();
  // After fork(), in the child, which holds the lock.
  void forget();

  // Neither closed nor another process's. Takes no lock.
  bool is_open() const { return !is_closed_ && !is_forked_; }
  bool was_started() const { return link_ != nullptr; }
  std::mutex& mutex() { return mutex_; }
  // The lock. Fails if it is not open.
  Lock enter();
  void check_open() const;
  // gt-emit --to and its options, if the program runs on a cluster; or empty.
  const Command& joined() const { return joined_; }
  // Whether a gt-work of our own alone runs the program, as it is written.
  bool has_one_worker() const { return has_one_worker_; }
  // Whether close() comes back when the program has ended: not where others run
  // it, or where a cluster keeps the client.
  bool waits_for_program() const { return gives_results_ && joined_.empty(); }
  // Whether it is closed, or the processes are gone. Wants the lock free.
  bool is_lost();
  // Fails if the processes are gone. Wants the lock.
  void check_alive();

  void send(std::string_view text, Lock& lock);
  // Sends lines, the last of which asks for an answer, and waits for that.
  std::string ask(std::string_view text, Lock& lock);
  // The same where several lines may come before the answer, which is that to
  // kSync: each(line) gets them.
  void ask_lines(std::string_view text,
                 const std::function<void(std::string_view)>& each, Lock& lock);
  // Makes the call once all before has run: appends a line that asks for that.
  // The text is to be sent next.
  void when_done(std::function<void()> then, std::string& text);
  // Waits until it holds, or until no more results come.
  void wait(const std::function<bool()>& holds, Lock& lock);

  // Whether results can be read; open_back() makes sure of it.
  bool has_way_back() const;
  void open_back();
  // The next line that asks for a result is one whose result is printed.
  void show_next();
  // Fails if a result could not be printed.
  void check_shown() const;

  // What is sent goes to this file, too; "": no more. Fails, too, if the file
  // before could not be written.
  void log_to(std::string_view path);
  // Fails if what was sent could not be written to that file.
  void check_log();

 private:
  [[noreturn]] void fail_lost(const char* what);
  void note_log(bool is_written);
  void end_log();

  mutable std::mutex mutex_;
  Pipeline pipeline_;
  Command joined_;
  std::string folder_;  // the current one, when it was started
  bool has_one_worker_ = false;
  Inbox inbox_;
  bool gives_results_ = false;
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> is_forked_{false};
  std::FILE* log_ = nullptr;
  std::string log_path_;
  int log_error_ = 0;           // the errno of the first write that failed
  std::unique_ptr<Link> link_;  // its thread uses what stands above
};

}  // namespace gt::client

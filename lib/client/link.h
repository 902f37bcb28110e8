// A session's two ends: lines go out, results come in. What is written is
// gathered, and sent when there is enough of it, when somebody waits for a
// result, or a millisecond after the last was sent, by a thread that sleeps
// otherwise. So a program of many small lines takes few system calls, and one
// that pauses leaves nothing unsent.
//
// The descriptors are never waited for under the lock: of the threads that
// wait, one polls, and the others wait for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "file/files.h"

namespace gt::client {

class Link {
 public:
  using Lock = std::unique_lock<std::mutex>;
  // Takes a result's line, without LF, under the lock. Results come in order.
  using Taker = std::function<void(std::string_view line)>;
  // Asked under the lock, now and then, while somebody waits and nothing comes:
  // whether nothing will.
  using IsLost = std::function<bool()>;

  // `lines` is a socket. `mutex` guards the link and what `take` changes; all
  // functions but the constructor want it locked.
  Link(Fd lines, std::mutex& mutex, Taker take, IsLost is_lost);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Where results come from. One that `grows` is a regular file that another
  // program appends to, and whose end is not the end.
  void set_results(Fd results, bool grows);
  bool has_results() const { return results_.ok(); }

  // Waits while so much is unsent that the other side must catch up. False once
  // nobody reads it.
  bool write(std::string_view text, Lock& lock);
  // Whether nothing was ever written.
  bool is_unused() const { return sends_ == 0 && out_.empty(); }
  // Waits until the condition holds. False if the results ended before, or
  // nobody reads the lines: it can no longer come to hold.
  bool wait(const std::function<bool()>& holds, Lock& lock);
  // The thread passes results on as they come, though nobody waits.
  void watch_results(bool is_on);
  // Sends the rest, ends the lines, and takes results until they end or all
  // have come.
  void finish(const std::function<bool()>& has_all, Lock& lock);
  // Ends the thread; wants the mutex free. Others may still come back from
  // waiting, so that the link itself stays.
  void stop();

  // After fork(), in the child: what is open is the parent's to use.
  void forget();

 private:
  // Sends what can be sent and takes what can be read, without waiting.
  void move();
  void send();
  void receive();
  // Waits until there is something to send or to read, and moves it; or for
  // another thread that does. Gives the lock up meanwhile.
  void pump(Lock& lock);
  void pump_while(const std::function<bool()>& holds, Lock& lock);
  void run();  // the thread
  void wake();

  std::mutex& mutex_;
  Taker take_;
  IsLost is_lost_;
  Fd lines_, results_;
  Fd event_;  // wakes the thread
  bool grows_ = false;
  bool is_fresh_ = true;  // a FIFO may have had no writer yet
  std::string out_;       // unsent, from sent_ on
  size_t sent_ = 0;
  std::string in_;  // the beginning of a line
  uint64_t sends_ = 0;
  size_t next_send_ = 0;    // unsent bytes with which the next one is due
  bool is_broken_ = false;  // nobody reads the lines
  bool has_ended_ = false;  // the results
  bool is_polling_ = false;
  bool is_asleep_ = false;  // the thread, until it is woken
  bool is_watching_ = false;
  bool is_over_ = false;
  std::condition_variable moved_;
  std::thread thread_;
};

}  // namespace gt::client

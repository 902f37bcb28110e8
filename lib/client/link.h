// Link: sends a session's lines to the program and receives its results. Lines
// are collected and sent together: when there are enough, when somebody waits
// for a result, or one millisecond after the last sending, by a thread that
// sleeps otherwise. So a program of many small lines needs few system calls,
// and one that pauses leaves nothing unsent.
//
// No thread waits for the descriptors with the lock held. Of the threads that
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
  // Gets a line of results, without LF, with the lock held. Results come in
  // order.
  using Taker = std::function<void(std::string_view line)>;
  // Asked with the lock held, from time to time, while somebody waits and
  // nothing comes. Returns true if nothing will come any more.
  using IsLost = std::function<bool()>;

  // `lines` is a socket. `mutex` guards the link and everything that `take`
  // changes; all functions but the constructor and stop() must be called with
  // it locked.
  Link(Fd lines, std::mutex& mutex, Taker take, IsLost is_lost);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Sets the descriptor that results are read from. If it `grows`, it is a
  // regular file that another program appends to, so that its end is not the
  // end of the results.
  void set_results(Fd results, bool grows);
  bool has_results() const { return results_.ok(); }

  // Writes the text. Waits while more than 1 MiB is unsent. Returns false once
  // nobody reads the lines.
  bool write(std::string_view text, Lock& lock);
  // True if nothing was ever written.
  bool is_unused() const { return sends_ == 0 && out_.empty(); }
  // Waits until holds() is true. Returns false if it can no longer become true:
  // the results have ended, or nobody reads the lines.
  bool wait(const std::function<bool()>& holds, Lock& lock);
  // Says whether the thread takes results as they come, though nobody waits for
  // them.
  void watch_results(bool is_on);
  // Sends the rest and closes the lines, then takes results until they end or
  // has_all() is true.
  void finish(const std::function<bool()>& has_all, Lock& lock);
  // Ends the thread. The mutex must be free. Other threads may still be
  // returning from wait(), so the link itself must stay.
  void stop();

  // After fork(), in the child: gives up the descriptors, which the parent
  // uses.
  void forget();

 private:
  // Sends what can be sent and takes what can be read, without waiting.
  void move();
  void send();
  void receive();
  // Waits until there is something to send or to read and moves it, or waits
  // for another thread that does so. Unlocks meanwhile.
  void pump(Lock& lock);
  void pump_while(const std::function<bool()>& holds, Lock& lock);
  void run();  // the thread's function
  void wake();

  std::mutex& mutex_;
  Taker take_;
  IsLost is_lost_;
  Fd lines_, results_;
  Fd event_;  // wakes the thread
  bool grows_ = false;
  // A FIFO may have had no writer yet, so that its end is no end.
  bool is_fresh_ = true;
  std::string out_;  // the unsent text, from sent_ on
  size_t sent_ = 0;
  std::string in_;  // an incomplete line of results
  uint64_t sends_ = 0;
  size_t next_send_ = 0;    // the number of unsent bytes at which to send
  bool is_broken_ = false;  // nobody reads the lines
  bool has_ended_ = false;  // the results have ended
  // True while a thread polls the descriptors.
  bool is_polling_ = false;
  bool is_asleep_ = false;  // the thread sleeps until it is woken
  bool is_watching_ = false;
  // True once stop() was called.
  bool is_over_ = false;
  std::condition_variable moved_;
  std::thread thread_;
};

}  // namespace gt::client

// Which client's block goes out next, and when: fairly (fair_queue.h), and only
// while little enough is under way. Knows no client but by number, and no
// clock: time is passed in, in nanoseconds.
//
// What has gone out stands in one order and cannot be overtaken, so how much of
// it is not done is how long a newcomer waits. Each client may have an equal
// part of a window under way, so that one that uses a slow worker does not take
// all of it. One that is ahead of another may have less, but half a part in any
// case. The window is what the workers have lately done in kAhead; estimates
// of cost need only be right in proportion, since they are compared with what
// was done. A part is never less than kLeastBlocks times the largest block of
// anybody, so that the programs behind gt-emit always have one to work on; it
// is a cost, not a number of blocks, since else small blocks would get less.
//
// A client that has been alone for kAlone may have kDeep times as much under
// way: nobody waits for it, and with deeper queues the processes behind gt-emit
// wait less for each other.
//
// Of two clients of equal share that both always have a block, the service
// differs by no more than two blocks and a part; unless one is slow. That is
// one that fell behind by more than a part, and whose blocks take kSlow
// times as long as another's: workers that both use would delay both alike, so
// it waits for one that the other does not use. The others have what is under
// way as if it were not there, and it saves nothing up but a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "serve/fair_queue.h"

namespace gt::serve {

class Scheduler {
 public:
  using Client = FairQueue::Client;
  // Nanoseconds of work to have under way.
  static constexpr double kAhead = 3e6;
  static constexpr double kLeastBlocks = 3;
  static constexpr int64_t kAlone = 1'000'000'000;
  static constexpr double kDeep = 8;
  static constexpr double kSlow = 4;

  void add(Client client, double share) {
    queue_.add(client, share);
    clients_[client];
  }
  void remove(Client client);

  // Whether the client has a block to send, and whether it may: not while it
  // leaves too many results unread.
  void set_ready(Client client, bool is_ready);
  // The client whose block is to go out now; nothing if none is, or may.
  std::optional<Client> next() const { return queue_.next(); }
  // Its next block goes out. `cost`: nanoseconds of one worker, as estimated.
  void sent(Client client, uint64_t cost, int64_t now);
  // The oldest of its blocks under way is done, and with it so many.
  void done(Client client, size_t blocks, int64_t now);

  size_t under_way(Client client) const {
    return clients_.at(client).blocks.size();
  }
  uint64_t unfinished(Client client) const {
    return clients_.at(client).unfinished;
  }
  double service(Client client) const { return queue_.service(client); }
  // Estimated cost that was lately done in a nanosecond.
  double speed() const { return speed_; }
  // What each client that is not slow may have under way now.
  double part() const;
  bool is_slow(Client client) const { return clients_.at(client).is_slow; }

 private:
  struct Block {
    uint64_t cost = 0;
    int64_t sent = 0;  // when it went out
  };
  struct State {
    std::deque<Block> blocks;  // under way
    uint64_t unfinished = 0;   // their sum
    bool is_ready = false;
    bool was_idle = true;  // since it was served last
    int64_t served = 0;    // when that was
    bool is_slow = false;
    double took = 0;  // nanoseconds that a block took at most; it fades
    bool is_busy() const { return is_ready || !blocks.empty(); }
  };
  void look(Client client);
  void find_slow();
  double delay(const State& state) const;
  double part_of(size_t clients) const;
  void look_at_all();
  void pass(int64_t now);

  FairQueue queue_;
  std::map<Client, State> clients_;
  // Of those that are not slow:
  double least_ = 0;  // FairQueue::count() of those that are ready
  size_t busy_ = 0;   // clients that are ready or have something under way ...
  size_t late_ = 0;   // ... or were served within kAlone
  uint64_t unfinished_ = 0;
  // Of the time in which something of theirs was under way, and of what was
  // done in it; both fade.
  double busy_time_ = 0;
  double done_cost_ = 0;
  int64_t at_ = 0;
  double speed_ = 1;
  double largest_ = 0;  // block of late
};

}  // namespace gt::serve

// Scheduler: chooses which client's block goes out next, and when: fairly
// (fair_queue.h), and only while little enough is under way. It knows clients
// by number alone, and uses no clock: time is passed in, in nanoseconds.
//
// Blocks that have gone out are in one order and cannot be overtaken, so a
// newcomer waits as long as the unfinished ones take. Each client may have a
// part of a window under way, in proportion to its share, so that one that uses
// a slow worker does not take all of it. (Since blocks are done in the order in
// which they went out, clients get service in proportion to what they have
// under way; equal parts could not give unequal shares.) A client that is ahead
// of another may have less, but at least half a part. The window is the work
// that the workers have lately done in kAhead; estimates of cost need only be
// right in proportion, since they are compared with what was done. The part of
// each is never less than kLeastBlocks times its largest block, so that the
// programs behind gt-emit always have one of each to work on, and the parts
// stay in proportion. A part is measured in cost, not in blocks, since
// otherwise clients with small blocks would get less.
//
// A client that has been alone for kAlone may have kDeep times as much under
// way: nobody waits for it, and with deeper queues the processes behind gt-emit
// wait less for each other.
//
// For two clients that both always have a block, the service by share differs
// by no more than two blocks and a part of the one with the lesser share, by
// that share, unless one is slow. A client is slow if it fell behind by more
// than a part, and its blocks take kSlow times as long as another's: workers
// that both use would delay both alike, so it waits for a worker that the other
// does not use. The parts of the others are computed as if the slow client were
// not there, and it saves up no more than a part.
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
  // The most by which one share may exceed another: the more it does, the more
  // is under way, and the longer a newcomer waits.
  static constexpr double kMostTimes = 100;

  void add(Client client, double share) {
    queue_.add(client, share);
    clients_[client];
  }
  void remove(Client client);

  // Says whether the client has a block to send and may send it; it may not
  // while it leaves too many results unread.
  void set_ready(Client client, bool is_ready);
  // Returns the client whose block is to go out now; nothing if there is none,
  // or none may.
  std::optional<Client> next() const { return queue_.next(); }
  // The client's next block goes out. `cost` is in nanoseconds of one worker,
  // as estimated.
  void sent(Client client, uint64_t cost, int64_t now);
  // The oldest `blocks` blocks of the client that are under way are done.
  void done(Client client, size_t blocks, int64_t now);

  size_t under_way(Client client) const {
    return clients_.at(client).blocks.size();
  }
  uint64_t unfinished(Client client) const {
    return clients_.at(client).unfinished;
  }
  double service(Client client) const { return queue_.service(client); }
  // Returns the cost that a client which is not slow may have under way now,
  // for each unit of its share.
  double part() const;
  bool is_slow(Client client) const { return clients_.at(client).is_slow; }

 private:
  struct Block {
    uint64_t cost = 0;
    int64_t sent = 0;  // the time at which it went out
  };
  struct State {
    std::deque<Block> blocks;  // the blocks under way
    uint64_t unfinished = 0;   // the sum of their costs
    bool is_ready = false;
    // The client was not ready at some time since it was last served.
    bool was_idle = true;
    int64_t served = 0;  // the time at which it was last served
    bool is_slow = false;
    double took = 0;     // the most nanoseconds that a block took; it fades
    double largest = 0;  // the cost of the largest block; it fades
    bool is_busy() const { return is_ready || !blocks.empty(); }
  };
  void look(Client client);
  void find_slow();
  double delay(const State& state) const;
  double part_of(double shares) const;
  double least_part_of(Client client) const;
  void look_at_all();
  void pass(int64_t now);

  FairQueue queue_;
  std::map<Client, State> clients_;
  // For the clients that are not slow:
  double least_ = 0;  // the least FairQueue::count() of those that are ready
  // Of those that are ready or have something under way: the sum of their
  // shares, and their number with those that were served within kAlone.
  double shares_ = 1;
  size_t late_ = 0;
  uint64_t unfinished_ = 0;
  // The time in which something of theirs was under way, and the cost that was
  // done in it; both fade.
  double busy_time_ = 0;
  double done_cost_ = 0;
  int64_t at_ = 0;
  double speed_ = 1;
  double least_part_ = 0;  // the greatest least_part_of() a busy client
};

}  // namespace gt::serve

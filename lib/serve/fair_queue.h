// FairQueue: chooses which of several clients is served next: of those that
// wait, the one that was given the least service so far, relative to its
// weight. Service is counted in seconds of estimated work, before the work is
// done.
//
// A client that begins to wait again is lifted to the least count of those that
// wait, so that nobody saves up service by asking for nothing. If nobody waits,
// it is lifted to the count of the client that was last to stop waiting.
//
// Take two clients of equal weight that both wait all through some time: the
// service that they are given in it differs by no more than twice the greatest
// cost that serve() is told at once, which the caller bounds. The queue never
// lets a client wait while nobody is served.
//
// Source: the virtual token counter, Sheng et al., "Fairness in Serving Large
// Language Models", OSDI 2024 (arXiv 2401.00588), with seconds for tokens.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace gt::serve {

class FairQueue {
 public:
  using Client = uint32_t;

  // Adds a client, which does not wait yet. A client of weight 2 gets twice the
  // service of one of weight 1. `weight` must be above 0.
  void add(Client client, double weight = 1);
  void remove(Client client);
  // Says whether the client has something to be served. A client that begins to
  // wait again keeps up to `credit` seconds of what it was behind: 0 for one
  // that had nothing to ask for, more for one that was held up for a moment.
  void set_waiting(Client client, bool waits, double credit = 0);
  bool is_waiting(Client client) const { return state_of(client).waits; }

  // Returns the client to be served next; nothing if none waits.
  std::optional<Client> next() const;
  // Notes that the client is given service of that many seconds. It may go on
  // waiting.
  void serve(Client client, double seconds);
  // Raises the client's count to `count`, if it is less.
  void lift(Client client, double count);
  // Returns the number by which clients are compared: the service by weight,
  // including what lift() added.
  double count(Client client) const { return state_of(client).count; }
  double weight(Client client) const { return state_of(client).weight; }
  // Returns the seconds of service that the client was given in all.
  double service(Client client) const { return state_of(client).service; }

 private:
  struct State {
    double weight = 1;
    double count = 0;  // service by weight, and what it was lifted by
    double service = 0;
    bool waits = false;
  };
  const State& state_of(Client client) const { return clients_.at(client); }

  std::map<Client, State> clients_;
  std::set<std::pair<double, Client>> waiting_;  // ordered by count
  double last_count_ = 0;  // count of the client that stopped waiting last
};

}  // namespace gt::serve

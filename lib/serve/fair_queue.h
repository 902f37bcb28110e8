// Which of several clients is served next: of those that wait, the one that was
// given the least service so far, by its weight. Service is counted in seconds
// of estimated work, before the work is done.
//
// A client that begins to wait again is lifted to the least count of those that
// wait, so that nobody saves up service by asking for nothing. If nobody waits,
// it is lifted to the count of who ceased to wait last.
//
// Of two clients of equal weight that both wait throughout some time, the
// service that they are given in it differs by no more than twice the greatest
// cost that serve() is told at once; whoever calls it bounds that. The queue
// never lets a client wait while nobody is served.
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

  // A client, which does not wait yet. A client of weight 2 gets twice the
  // service of one of weight 1. `weight` is above 0.
  void add(Client client, double weight = 1);
  void remove(Client client);
  // Whether it has something to be served. One that begins to wait again keeps
  // so many seconds of what it was behind: 0 for one that had nothing to ask
  // for, more for one that was held up for a moment.
  void set_waiting(Client client, bool waits, double credit = 0);
  bool is_waiting(Client client) const { return state_of(client).waits; }

  // The client to be served next; nothing if none waits.
  std::optional<Client> next() const;
  // The client is given service of that many seconds. It may wait on.
  void serve(Client client, double seconds);
  // The client is compared as if it had been given that much, if it was given
  // less.
  void lift(Client client, double count);
  // By what the client is compared: its service by its weight, and what it was
  // lifted by.
  double count(Client client) const { return state_of(client).count; }
  // Seconds of service that the client was given in all.
  double service(Client client) const { return state_of(client).service; }

 private:
  struct State {
    double weight = 1;
    double count = 0;  // of service by weight, and what it was lifted by
    double service = 0;
    bool waits = false;
  };
  const State& state_of(Client client) const { return clients_.at(client); }

  std::map<Client, State> clients_;
  std::set<std::pair<double, Client>> waiting_;  // by count
  double last_count_ = 0;  // of the client that ceased to wait last
};

}  // namespace gt::serve

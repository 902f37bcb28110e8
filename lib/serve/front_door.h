// FrontDoor: passes the messages that come to a gt-emit -l on: those of clients
// go to the Reception, and those of borrowers of files to the Depot. The hello
// says which of them somebody is.
#pragma once

#include <algorithm>
#include <string>

#include "net/listener.h"
#include "serve/depot.h"
#include "serve/reception.h"

namespace gt::serve {

class FrontDoor : public net::ListenerState {
 public:
  FrontDoor(Reception& reception, Depot& depot)
      : reception_(reception), depot_(depot) {}

  bool knows(const std::string& peer) const override {
    return depot_.knows(peer) || reception_.knows(peer);
  }
  void receive(const std::string& peer, net::Frame frame, int64_t now,
               const std::string& key) override {
    const bool borrows =
        depot_.knows(peer) || (!reception_.knows(peer) && borrows_files(frame));
    state(borrows).receive(peer, std::move(frame), now, key);
  }
  void distrust(const std::string& peer, const std::string& why,
                int64_t now) override {
    reception_.distrust(peer, why, now);
  }
  void turned_away(const std::string& who, int64_t now) override {
    reception_.turned_away(who, now);
  }
  void link_ended(const std::string& peer) override {
    state(depot_.knows(peer)).link_ended(peer);
  }
  void undelivered(const std::string& peer) override {
    state(depot_.knows(peer)).undelivered(peer);
  }
  void tick(int64_t now, bool all_read) override {
    reception_.tick(now, all_read);
    depot_.tick(now, all_read);
  }
  int64_t next_tick() const override {
    return std::min(reception_.next_tick(), depot_.next_tick());
  }
  bool next(Outgoing& out) override {
    return reception_.next(out) || depot_.next(out);
  }

 private:
  net::ListenerState& state(bool borrows) {
    if (borrows) return depot_;
    return reception_;
  }
  static bool borrows_files(const net::Frame& frame) {
    const auto message = net::parse_message(frame.bytes());
    return message.ok() && Depot::is_for_us(message.value());
  }

  Reception& reception_;
  Depot& depot_;
};

}  // namespace gt::serve

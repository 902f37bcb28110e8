#include "serve/seats.h"

#include <algorithm>

namespace gt::serve {

Seat* Seats::find(ClientId client) {
  const auto at = seats_.find(client);
  return at == seats_.end() ? nullptr : &at->second;
}

const Seat* Seats::find(const std::string& peer) const {
  const auto at = peers_.find(peer);
  return at == peers_.end() ? nullptr : &seats_.at(at->second);
}

Seat* Seats::find(const std::string& peer) {
  const auto at = peers_.find(peer);
  return at == peers_.end() ? nullptr : &seats_.at(at->second);
}

Seat* Seats::find(const std::string& owner, const std::string& name) {
  const auto at = names_.find({owner, name});
  return at == names_.end() ? nullptr : &seats_.at(at->second);
}

Seat& Seats::add(const std::string& peer, const Guest& guest) {
  Seat& seat = seats_[++last_];
  seat.client = last_;
  seat.key = guest.key;
  seat.owner = guest.owner();
  seat.name = guest.name;
  if (!seat.name.empty()) names_[{seat.owner, seat.name}] = seat.client;
  move(seat, peer);
  return seat;
}

void Seats::move(Seat& seat, const std::string& peer) {
  peers_.erase(seat.peer);
  seat.peer = peer;
  seat.is_open = false;
  peers_[peer] = seat.client;
}

void Seats::leave(Seat& seat, int64_t now) {
  peers_.erase(seat.peer);
  seat.peer.clear();
  seat.is_open = false;
  seat.since = now;
}

void Seats::remove(ClientId client) {
  const Seat& seat = seats_.at(client);
  peers_.erase(seat.peer);
  if (!seat.name.empty()) names_.erase({seat.owner, seat.name});
  seats_.erase(client);
}

size_t Seats::count(const std::string& owner) const {
  return static_cast<size_t>(std::count_if(
      seats_.begin(), seats_.end(),
      [&](const auto& seat) { return seat.second.owner == owner; }));
}

std::vector<std::string> Seats::names(const std::string& owner) const {
  std::vector<std::string> names;
  for (auto at = names_.lower_bound({owner, ""});
       at != names_.end() && at->first.first == owner; ++at) {
    names.push_back(at->first.second);
  }
  return names;
}

}  // namespace gt::serve

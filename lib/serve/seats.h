// The clients of a gt-emit -l: those that are here, each with its connection,
// and those that are kept although theirs has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serve/guest.h"

namespace gt::serve {

using ClientId = uint32_t;  // from 1; never given twice

struct Seat {
  ClientId client = 0;
  std::string peer;  // its connection; "": it is away
  // Since when it is away, or when it was heard last, in milliseconds.
  int64_t since = 0;
  std::string key;          // that its connections must have proved
  std::string owner, name;  // under which it is kept; "": it is not
  // A visit is what one process of gt-emit --to sends and reads. It may take
  // several connections.
  uint64_t visit = 1;
  // Whether results may be sent: the owner of the table has been told of the
  // connection.
  bool is_open = false;
  bool has_ended = false;  // all that the visit sends was taken
  // Of this visit: messages of its program, and bytes of text, that were taken;
  // how many of both it was told that it may forget, or send.
  uint64_t said = 0, said_told = 0;
  uint64_t text = 0, room = 0;
  uint64_t before = 0;  // bytes of text that the visits before have sent
};

class Seats {
 public:
  size_t size() const { return seats_.size(); }
  // Null: there is none.
  Seat* find(ClientId client);
  Seat* find(const std::string& peer);
  Seat* find(const std::string& owner, const std::string& name);
  const Seat* find(const std::string& peer) const;

  // A client that was never here. Its name is not taken.
  Seat& add(const std::string& peer, const Guest& guest);
  // A new connection of the client; the old one is its no longer.
  void move(Seat& seat, const std::string& peer);
  // It has none any more, and is kept.
  void leave(Seat& seat, int64_t now);
  void remove(ClientId client);

  // How many clients the owner has, and the names under which they are kept.
  size_t count(const std::string& owner) const;
  std::vector<std::string> names(const std::string& owner) const;
  template <typename Each>
  void each(const Each& each) {
    for (auto& [client, seat] : seats_) each(seat);
  }

 private:
  std::map<ClientId, Seat> seats_;
  std::unordered_map<std::string, ClientId> peers_;
  std::map<std::pair<std::string, std::string>, ClientId> names_;
  ClientId last_ = 0;
};

}  // namespace gt::serve

// Links tells which peer's connection to a bound socket has ended. ZeroMQ only
// says which descriptor was closed, and the next connection may get the same
// one. So a peer is tied to its descriptor when its hello is read, after all
// ends reported until then were handled.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>

#include "net/socket.h"

namespace gt::net {

class Links {
 public:
  Links(Context& context, const Socket& socket) : monitor_(context, socket) {}

  // Ties a connection to the peer whose message came over it (Incoming::fd).
  void claim(int fd, const std::string& peer);
  // Notes which connections have ended. Must be called before messages are
  // received.
  void watch();
  // Takes a peer whose connection has ended; false if there is none. Must be
  // called when no messages are left.
  bool next_ended(std::string& peer);

  // For the connections that we made, as watch() saw them: take the next new
  // one, and the endpoint of the next that has ended. False if there is none.
  bool next_made(LinkEvent& made);
  bool next_broken(std::string& endpoint);

  // Returns how many connections did not speak ZeroMQ.
  uint64_t rejected() const { return rejected_; }
  void* raw() const { return monitor_.raw(); }

 private:
  LinkMonitor monitor_;
  std::unordered_map<int, std::string> owners_;
  std::deque<std::string> ended_;
  // Endpoints of the connections that we made, by descriptor.
  std::unordered_map<int, std::string> endpoints_;
  std::deque<LinkEvent> made_;
  std::deque<std::string> broken_;
  uint64_t rejected_ = 0;
};

}  // namespace gt::net

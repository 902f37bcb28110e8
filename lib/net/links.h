// Tells whose connection to a bound socket has ended. ZeroMQ says only which
// descriptor was closed, and the next connection may get the same one. So a
// peer is tied to its descriptor when its hello is read, after all ends that
// were told until then.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>

#include "net/socket.h"

namespace gt::net {

class Links {
 public:
  Links(Context& context, const Socket& socket) : monitor_(context, socket) {}

  // Ties a connection to the peer whose message it brought (Incoming::fd).
  void claim(int fd, const std::string& peer);
  // Notes which connections have ended; to be called before messages are
  // received, ...
  void watch();
  // ... and this when none are left: whose connection has ended. False:
  // nobody's.
  bool next_ended(std::string& peer);

  // Of the connections that we made, as watch() saw them: the next that is
  // there, and the endpoint of the next that has ended. False: there is none.
  bool next_made(LinkEvent& made);
  bool next_broken(std::string& endpoint);

  // Connections that were no ZeroMQ.
  uint64_t rejected() const { return rejected_; }
  void* raw() const { return monitor_.raw(); }

 private:
  LinkMonitor monitor_;
  std::unordered_map<int, std::string> owners_;
  std::deque<std::string> ended_;
  std::unordered_map<int, std::string> endpoints_;  // of those that we made
  std::deque<LinkEvent> made_;
  std::deque<std::string> broken_;
  uint64_t rejected_ = 0;
};

}  // namespace gt::net

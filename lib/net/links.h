// Whose connections to a bound socket end. ZeroMQ tells of a connection's end
// by its descriptor, which the next connection may get again: a peer is tied to
// its descriptor when its hello is read, after all ends told until then.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>

#include "net/socket.h"

namespace gt::net {

class Links {
 public:
  Links(Context& context, const Socket& socket) : monitor_(context, socket) {}

  // The connection that brought a message of `peer` (Incoming::fd) is its.
  void claim(int fd, const std::string& peer);
  // Looks what ended, before messages are received ...
  void watch();
  // ... and says whose it was when there are none left; false: nobody's.
  bool next_ended(std::string& peer);

  // Connections that we made, as watch() saw them: one that is there, and one
  // that has ended since. False: there is none.
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

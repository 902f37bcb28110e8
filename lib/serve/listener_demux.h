// ListenerDemux: passes the messages that come to a gt-emit -l on: those of
// clients go to the ClientConnections, and those of borrowers of files to the
// FileServer. The hello says which of them somebody is.
#pragma once

#include <algorithm>
#include <string>

#include "net/listener.h"
#include "serve/client_connections.h"
#include "serve/file_server.h"

namespace gt::serve {

class ListenerDemux : public net::ListenerState {
 public:
  ListenerDemux(ClientConnections& connections, FileServer& file_server)
      : connections_(connections), file_server_(file_server) {}

  bool knows(const std::string& peer) const override {
    return file_server_.knows(peer) || connections_.knows(peer);
  }
  void receive(const std::string& peer, net::Frame frame, int64_t now,
               const std::string& key) override {
    const bool borrows = file_server_.knows(peer) ||
                         (!connections_.knows(peer) && borrows_files(frame));
    state(borrows).receive(peer, std::move(frame), now, key);
  }
  void distrust(const std::string& peer, const std::string& why,
                int64_t now) override {
    connections_.distrust(peer, why, now);
  }
  void turned_away(const std::string& who, int64_t now) override {
    connections_.turned_away(who, now);
  }
  void link_ended(const std::string& peer) override {
    state(file_server_.knows(peer)).link_ended(peer);
  }
  void undelivered(const std::string& peer) override {
    state(file_server_.knows(peer)).undelivered(peer);
  }
  void tick(int64_t now, bool all_read) override {
    connections_.tick(now, all_read);
    file_server_.tick(now, all_read);
  }
  int64_t next_tick() const override {
    return std::min(connections_.next_tick(), file_server_.next_tick());
  }
  bool next(Outgoing& out) override {
    return connections_.next(out) || file_server_.next(out);
  }

 private:
  net::ListenerState& state(bool borrows) {
    if (borrows) return file_server_;
    return connections_;
  }
  static bool borrows_files(const net::Frame& frame) {
    const auto message = net::parse_message(frame.bytes());
    return message.ok() && FileServer::is_for_us(message.value());
  }

  ClientConnections& connections_;
  FileServer& file_server_;
};

}  // namespace gt::serve

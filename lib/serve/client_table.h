// ClientTable: the clients of a gt-emit -l: those that are here, each with its
// connection, and those that are kept although their connection has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serve/client_hello.h"

namespace gt::serve {

using ClientId = uint32_t;  // from 1; never used twice

struct ClientEntry {
  ClientId client = 0;
  std::string peer;  // its connection; "": it is away
  // When it went away, or was last heard, in milliseconds.
  int64_t since = 0;
  // The key that its connections must have proved to hold.
  std::string key;
  // The name under which it is kept; "": it is not kept.
  std::string owner, name;
  // A visit is what one process of gt-emit --to sends and reads. It may take
  // several connections.
  uint64_t visit = 1;
  // True if results may be sent: the owner of the table was told of the
  // connection.
  bool is_open = false;
  bool has_ended = false;  // everything that the visit sends was taken
  // For this visit: the messages of its program and the bytes of text that were
  // taken; and how many messages the client was told that it may forget, and
  // how many bytes that it may send.
  uint64_t said = 0, said_told = 0;
  uint64_t text = 0, room = 0;
  uint64_t before = 0;  // bytes of text that earlier visits have sent
};

class ClientTable {
 public:
  size_t size() const { return clients_.size(); }
  // These return null if there is no such client.
  ClientEntry* find(ClientId client);
  ClientEntry* find(const std::string& peer);
  ClientEntry* find(const std::string& owner, const std::string& name);
  const ClientEntry* find(const std::string& peer) const;

  // Adds a client that was never here before. Its name must be free.
  ClientEntry& add(const std::string& peer, const ClientHello& hello);
  // Gives the client a new connection in place of the old one.
  void move(ClientEntry& entry, const std::string& peer);
  // The client has no connection any more, and is kept.
  void leave(ClientEntry& entry, int64_t now);
  void remove(ClientId client);

  // Return how many clients the owner has, and the names under which they are
  // kept.
  size_t count(const std::string& owner) const;
  std::vector<std::string> names(const std::string& owner) const;
  template <typename Each>
  void each(const Each& each) {
    for (auto& [client, entry] : clients_) each(entry);
  }

 private:
  std::map<ClientId, ClientEntry> clients_;
  std::unordered_map<std::string, ClientId> peers_;
  std::map<std::pair<std::string, std::string>, ClientId> names_;
  ClientId last_ = 0;
};

}  // namespace gt::serve

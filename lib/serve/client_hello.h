// ClientHello: what a client says of itself in its hello
// (client_connections.h). The client writes it, and gt-emit -l reads it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "net/wire.h"

namespace gt::serve {

struct ClientHello {
  // The name that its share and its files go by. Without keys it is the name
  // that the client gives; "" if its key belongs to no user.
  std::string user;
  // The public key it has proved to hold, or "". It is not in the message.
  std::string key;
  int64_t seed = 0;
  uint64_t history = 0;
  bool fails_fast = false;
  bool replays = true;
  // The name under which the client is kept when its connection ends; "": it is
  // not kept.
  std::string name;
  bool attaches = false;  // it comes back to the client that is kept as `name`
  bool stays = false;     // it is kept even when its program has ended
  // With `attaches`: the visit that it continues on a new connection, and how
  // many bytes of results and how many reports of that visit it has received.
  // 0: it begins a new visit.
  uint64_t visit = 0;
  uint64_t results = 0;
  uint64_t reports = 0;

  // Returns the owner of the names under which clients are kept.
  const std::string& owner() const { return user.empty() ? key : user; }
};

// True if a client can be kept under the name: it is one word of a path.
bool is_client_name(std::string_view name);

// Returns a client's hello as a message; `table` is the digest of its op table.
std::string write_client_hello(const ClientHello& hello,
                               const std::string& table);
// Reads a client's hello. Errors: the client is of another version of gt,
// `table` is not the digest of its op table, or the hello is malformed.
Result<ClientHello> read_client_hello(const net::Message& hello,
                                      const std::string& table);

}  // namespace gt::serve

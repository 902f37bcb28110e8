// Functions for endpoints: their forms, who can reach them, and the secret
// tokens that admit to them.
//
//     tcp://HOST:PORT   an address or a name; "*" is every address, or any port
//     tcp://NAME:PORT   to listen: the address of a network interface
//     ipc://PATH        a Unix socket that is a file
//     ipc://@NAME       one without a file, of this host's kernel
//
// libzmq knows further transports (ws, tipc, udp, pgm, ...). None of them is
// accepted, since gt does not know who can reach them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gt::net {

// True if the tokens are equal. The time taken does not reveal where they
// differ.
bool same_token(std::string_view a, std::string_view b);

// Returns a new endpoint that peers on this host can reach and that is no file:
// an abstract Unix socket, "ipc://@gt-...".
std::string local_endpoint();
bool is_tcp(std::string_view endpoint);
bool is_ipv4(std::string_view endpoint);  // tcp with an IPv4 address in numbers

// Errors: the endpoint has none of the forms above, or its port is neither a
// number up to 65535 nor "*". The message says what was meant if that can be
// guessed.
Status check_endpoint(std::string_view endpoint);
// Errors: those of check_endpoint(), and a host or port that nobody can connect
// to ("*" or port 0).
Status check_connectable(std::string_view endpoint);
// Error: the endpoint is a Unix socket in a directory that does not exist, so
// that nobody can listen there.
Status check_directory(std::string_view endpoint);
// True if only processes of this host can reach the endpoint for certain: it is
// a Unix socket, or tcp at a loopback address in numbers. A host name does not
// count, since what it stands for can change; the next two functions resolve
// it.
bool is_local(std::string_view endpoint);
// Return the endpoint to listen at, or to connect to, with the address in
// numbers for which its host name stands now. Errors: those of the checks
// above, and no such host.
Result<std::string> listening_endpoint(const std::string& endpoint);
Result<std::string> connecting_endpoint(const std::string& endpoint);

// Returns where a worker should bind so that the other workers of the gt-route
// at `near` can connect to it. That is local_endpoint() if `near` is a Unix
// socket, or if it is local and `is_same_user` is true, that is, only processes
// of this user may connect. Otherwise it is "tcp://ADDRESS:*", with this host's
// address on the way to `near`. Errors: the host of `near` is unknown, or there
// is no way to it.
Result<std::string> endpoint_beside(const std::string& near, bool is_same_user);

}  // namespace gt::net

// Endpoints, who can reach them, and the secrets that admit to them.
//
//     tcp://HOST:PORT   an address or a name; "*" is every address, or any port
//     tcp://NAME:PORT   to listen: the address of a network interface
//     ipc://PATH        a Unix socket that is a file
//     ipc://@NAME       one without a file, of this host's kernel
//
// libzmq knows further transports (ws, tipc, udp, pgm, ...). None of them is
// taken: what may come over them gt does not know.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gt::net {

// 128 random bits as 32 hexadecimal digits.
std::string random_token();
// Whether they are equal, told in a time that says nothing of where they
// differ.
bool same_token(std::string_view a, std::string_view b);

// An endpoint that peers on this host can reach, and no file stands for: an
// abstract Unix socket, "ipc://@gt-...".
std::string local_endpoint();
bool is_tcp(std::string_view endpoint);
bool is_ipv4(std::string_view endpoint);  // tcp, an address of four numbers

// Errors, which say what is meant if that can be guessed: none of the forms
// above, or a port that is no number up to 65535, nor "*".
Status check_endpoint(std::string_view endpoint);
// Errors: as check_endpoint(), and a port that nobody can connect to.
Status check_connectable(std::string_view endpoint);
// Error: it is a Unix socket in a directory that does not exist, where nobody
// can listen.
Status check_directory(std::string_view endpoint);
// Whether it is known that processes of this host alone can reach an endpoint:
// it is a Unix socket, or tcp at a loopback address in numbers. A name is not,
// since what it stands for can change: see the next two.
bool is_local(std::string_view endpoint);
// The endpoint to listen at, or to connect to, with the address in numbers that
// a name stands for now. Errors: as the checks above, and no such name.
Result<std::string> listening_endpoint(const std::string& endpoint);
Result<std::string> connecting_endpoint(const std::string& endpoint);

// Where a worker is to bind so that other workers of the gt-route at `near` can
// connect to it. That is local_endpoint() if `near` is a Unix socket, or is
// local and `is_same_user`: only processes of this user may come. Else it is
// "tcp://ADDRESS:*", with our address on the way to `near`. Error: its machine
// is unknown, or there is no way to it.
Result<std::string> endpoint_beside(const std::string& near, bool is_same_user);

}  // namespace gt::net

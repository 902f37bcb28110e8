// Endpoints and the secrets that admit to them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gt {

// 128 random bits as 32 hexadecimal digits.
std::string random_token();
// Equal, told in a time that says nothing of where they differ.
bool same_token(std::string_view a, std::string_view b);

// An endpoint that peers on this host can reach, and no file stands for: an
// abstract Unix socket, "ipc://@gt-...".
std::string local_endpoint();
bool is_tcp(std::string_view endpoint);
bool is_ipv4(std::string_view endpoint);  // tcp, an address of four numbers
// A tcp endpoint that only this host can reach; a Unix socket always is.
bool is_loopback(std::string_view endpoint);

// Errors: an endpoint of tcp whose port is no number up to 65535, nor "*".
Status check_port(std::string_view endpoint);
// What libzmq takes to listen at: "tcp://ADDRESS:PORT" of a host's name, all
// else as it is. Error: no such host.
Result<std::string> listening_endpoint(const std::string& endpoint);

// Where to bind so that those who are reached through `near` can come:
// local_endpoint() for a Unix socket; for "tcp://HOST:PORT" "tcp://ADDRESS:*",
// our address on the way there. Error: HOST is unknown, or there is no way.
Result<std::string> endpoint_beside(const std::string& near);

}  // namespace gt

// Keys of connections that leave the machine: CURVE of ZeroMQ (RFC 26;
// Curve25519 by libsodium). Each side has a pair; whoever listens admits those
// whose public keys it lists (gatekeeper.h), whoever connects knows the public
// key of the one that it means. Where there are no keys, both ends must be
// processes of one user on one machine (peer_user.h), unless the operator has
// said that anyone may come.
//
// Keys are text, 40 characters of Z85 (RFC 32). A file has one a line; what
// follows a key on its line is for people, but for a word user=NAME, which says
// whose key it is, and the word role=worker, which says that it is a worker's;
// and so are lines that begin with #. A user may have several keys, and a key
// stands in one line.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gt::net {

struct Keys {
  std::string secret;
  std::string open;  // the public one
};

// A new pair. Error: this libzmq has no CURVE.
Result<Keys> make_keys();
// The pair that a secret key belongs to. Error: it is no key, or as above.
Result<Keys> keys_of(const std::string& secret);
// Whether a text has the form of a key, public or secret.
bool is_key(std::string_view text);

// Whether a text is a name of a user: shares go by it, and directories of files
// have it.
bool is_user_name(std::string_view text);
inline constexpr std::string_view kUserNameRule =
    "a name: up to 64 letters, digits, '_', '-' and '.', the first a letter, a "
    "digit or '_'";

// The pair whose secret key a file has. Errors: it cannot be read, others than
// its owner may read it, it has no key or several.
Result<Keys> read_secret(const std::string& path);
// Whose a key is, as its line says.
struct KeyHolder {
  std::string user;  // "": nobody's that has a name
  bool is_worker = false;
  bool operator==(const KeyHolder&) const = default;
};
// The public keys of a file. Errors: it cannot be read, a line is no key, has
// one that was there before, or says no good name of a user; there is no key.
Result<std::map<std::string, KeyHolder>> read_open_keys(
    const std::string& path);
// The same of a file that was read before, and that may have no key any more.
Result<std::map<std::string, KeyHolder>> reread_open_keys(
    const std::string& path);
// Whether a key is in a file, which is read each time it is asked: a key that
// was added is in it, one that was taken out is not, and in a file that can no
// longer be read there is none. While a line of it is wrong, the file is taken
// for what it was before: a slip of the pen shuts out nobody. Errors as
// read_open_keys().
Result<std::function<bool(const std::string&)>> follow_open_keys(
    const std::string& path);
// The one public key that a file has, or that the text is.
Result<std::string> read_open_key(const std::string& path_or_key);

}  // namespace gt::net

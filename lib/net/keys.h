// Keys for connections that leave the machine: ZeroMQ's CURVE (RFC 26;
// Curve25519 by libsodium). Each side has a pair. The listening side admits
// those whose public keys it lists (gatekeeper.h); the connecting side knows
// the public key of the process that it wants to reach. Without keys, both ends
// must be processes of one user on one machine (peer_user.h), unless the
// operator has allowed anyone.
//
// Keys are text, 40 characters of Z85 (RFC 32). A file has one key a line;
// lines that begin with # are comments. What follows a key on its line is for
// people, except the word user=NAME, which says whose key it is, and the word
// role=worker, which says that it is a worker's. A user may have several keys,
// but a key may stand on only one line.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gt::net {

// A pair of keys.
struct Keys {
  std::string secret;
  std::string open;  // the public key
};

// Whom one end of a connection trusts to be at the other end.
struct Trust {
  // The end's own keys. With them connections are encrypted, and an end that
  // listens accepts those whom its Gatekeeper admits.
  std::optional<Keys> keys = std::nullopt;
  // With keys: the public key that the other end must have. An end that listens
  // leaves it empty.
  std::string other_key = {};
  // Without keys: true if anyone who can reach the endpoint may be at the other
  // end. If not, only local endpoints are allowed (endpoint.h), and the owner
  // of a socket must check to whom each connection belongs (peer_user.h).
  bool anyone = false;

  // True if only processes of the same user may be at the other end.
  bool is_same_user_only() const { return !keys && !anyone; }
};

// Makes a new pair. Error: this libzmq has no CURVE.
Result<Keys> make_keys();
// Returns the pair to which a secret key belongs. Errors: it is not a key, or
// as above.
Result<Keys> keys_of(const std::string& secret);
// True if a text has the form of a key, public or secret.
bool is_key(std::string_view text);
// True if a key can only be a secret one. That is so for all that make_keys()
// makes, and for half of those that other programs make.
bool is_secret(const std::string& key);

// True if a text is a valid user name. Shares of the machine and directories of
// files go by user name.
bool is_user_name(std::string_view text);
inline constexpr std::string_view kUserNameRule =
    "a name: up to 64 letters, digits, '_', '-' and '.', the first a letter, a "
    "digit or '_'";

// Returns the pair whose secret key is in a file. Errors: the file cannot be
// read, others than its owner may read it, or it has no key or several.
Result<Keys> read_secret(const std::string& path);
// The holder of a key, as stated on its line.
struct KeyHolder {
  std::string user;  // "" if the line names no user
  bool is_worker = false;
  bool operator==(const KeyHolder&) const = default;
};
// Returns the public keys in a file. Errors: the file cannot be read or has no
// key; a line has no valid key, a secret key, a key that was there before, or
// an invalid user name.
Result<std::map<std::string, KeyHolder>> read_open_keys(
    const std::string& path);
// Does the same for a file that was read before and that may have become empty.
Result<std::map<std::string, KeyHolder>> reread_open_keys(
    const std::string& path);
// Returns a function that tells whether a key is in the file. It reads the file
// at each call, so keys can be added and removed; if the file can no longer be
// read, no key is in it. While a line of the file is malformed, the last good
// contents count, so that a typing error shuts out nobody. Errors: those of
// read_open_keys().
Result<std::function<bool(const std::string&)>> follow_open_keys(
    const std::string& path);
// Returns the only public key in a file, or the text itself if it is a key.
// Error: there is none, or it is a secret one.
Result<std::string> read_open_key(const std::string& path_or_key);

}  // namespace gt::net

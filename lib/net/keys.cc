#include "net/keys.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <vector>

#include "base/io.h"
#include "base/printable.h"
#include "base/random_token.h"
#include "base/text.h"

namespace gt::net {
namespace {

constexpr size_t kSize = 40;  // characters of a key
constexpr size_t kBytes = 32;
// The top bit of a key's last byte. A public key is a number below 2^255, so it
// never has it. Curve25519 does not look at it in a secret key, so make_keys()
// sets it there: that tells a secret key from a public one.
constexpr uint8_t kSecretBit = 0x80;
constexpr size_t kMostBytes = size_t{64} << 20;  // size limit of a file of keys
const char* const kNoCurve = "this libzmq was built without CURVE";
const char* const kIsSecret =
    "this is a secret key, which nobody but its owner may know; "
    "gt-key --public FILE prints the public one of the key in FILE";

Error in_file(const std::string& path, size_t line, const std::string& why) {
  return Error{path + (line == 0 ? "" : ":" + std::to_string(line)) + ": " +
               why};
}

struct KeyLine {
  std::string key;
  std::string rest;  // the line after the key
  size_t number;
};

// Reads the words that follow a key. Error: a bad user name, or two.
Result<KeyHolder> holder_of(std::string_view rest) {
  constexpr std::string_view kUser = "user=";
  KeyHolder holder;
  for (;;) {
    std::string_view word = take_word(rest, " \t\r");
    if (word.empty()) return holder;
    if (word == "role=worker") holder.is_worker = true;
    if (!word.starts_with(kUser)) continue;
    word.remove_prefix(kUser.size());
    if (!is_user_name(word)) {
      return Error{"user=" + printable(word) + ": expected " +
                   std::string(kUserNameRule)};
    }
    if (!holder.user.empty()) return Error{"user= is there twice"};
    holder.user = word;
  }
}

Result<std::vector<KeyLine>> read_keys(const std::string& path) {
  std::string text;
  if (const int error = read_whole(path, text, kMostBytes)) {
    return in_file(path, 0, std::strerror(error));
  }
  if (text.size() == kMostBytes) {
    return in_file(path, 0, "is too large for a file of keys");
  }
  std::vector<KeyLine> keys;
  std::istringstream file(text);
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    std::string_view rest = line;
    const std::string_view word = take_word(rest, " \t\r");
    // No key begins with '#': five characters encode 32 bits, and '#' is digit
    // 84 of base 85.
    if (word.empty() || word.starts_with('#')) continue;
    if (!is_key(word)) {
      // The line is not shown, since it may be a secret.
      return in_file(path, number,
                     "expected a key, 40 characters as gt-key writes; the " +
                         std::to_string(word.size()) + " there are none");
    }
    keys.push_back({std::string(word), std::string(rest), number});
  }
  return keys;
}

Result<std::string> read_one_key(const std::string& path) {
  auto keys = read_keys(path);
  if (!keys.ok()) return keys.error();
  if (keys.value().size() == 1) return std::move(keys.value()[0].key);
  return in_file(
      path, 0,
      "has " + std::to_string(keys.value().size()) + " keys; expected one");
}

}  // namespace

bool is_user_name(std::string_view text) {
  constexpr size_t kMost = 64;
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= kMost && is_word(text[0]) &&
         std::ranges::all_of(
             text, [&](char c) { return is_word(c) || c == '-' || c == '.'; });
}

bool is_key(std::string_view text) {
  uint8_t bytes[kBytes];
  return text.size() == kSize &&
         zmq_z85_decode(bytes, std::string(text).c_str()) != nullptr;
}

bool is_secret(const std::string& key) {
  uint8_t bytes[kBytes];
  return is_key(key) && zmq_z85_decode(bytes, key.c_str()) != nullptr &&
         (bytes[kBytes - 1] & kSecretBit) != 0;
}

Result<Keys> make_keys() {
  char open[kSize + 1];
  char secret[kSize + 1];
  uint8_t bytes[kBytes];
  // libzmq would end the process without a word.
  need_random(secret, sizeof secret);
  if (zmq_curve_keypair(open, secret) != 0) return Error{kNoCurve};
  zmq_z85_decode(bytes, secret);
  bytes[kBytes - 1] |= kSecretBit;
  zmq_z85_encode(secret, bytes, kBytes);
  return Keys{secret, open};
}

Result<Keys> keys_of(const std::string& secret) {
  char open[kSize + 1];
  if (!is_key(secret)) return Error{"it is no key"};
  if (zmq_curve_public(open, secret.c_str()) != 0) return Error{kNoCurve};
  return Keys{secret, open};
}

Result<Keys> read_secret(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    return in_file(path, 0, std::strerror(errno));
  }
  if (S_ISREG(found.st_mode) && (found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return in_file(path, 0,
                   "others may read this secret key; chmod 600 it, and make a "
                   "new one if they could have");
  }
  const auto secret = read_one_key(path);
  return secret.ok() ? keys_of(secret.value()) : secret.error();
}

Result<std::map<std::string, KeyHolder>> reread_open_keys(
    const std::string& path) {
  auto keys = read_keys(path);
  if (!keys.ok()) return keys.error();
  std::map<std::string, KeyHolder> holders;
  for (KeyLine& line : keys.value()) {
    if (is_secret(line.key)) return in_file(path, line.number, kIsSecret);
    auto holder = holder_of(line.rest);
    if (!holder.ok()) return in_file(path, line.number, holder.error().message);
    const bool is_new =
        holders.emplace(std::move(line.key), std::move(holder.value())).second;
    if (!is_new) {
      return in_file(path, line.number, "the key stands in a line above, too");
    }
  }
  return holders;
}

Result<std::map<std::string, KeyHolder>> read_open_keys(
    const std::string& path) {
  auto holders = reread_open_keys(path);
  if (holders.ok() && holders.value().empty()) {
    return in_file(path, 0, "has no key, so nobody could attach");
  }
  return holders;
}

Result<std::function<bool(const std::string&)>> follow_open_keys(
    const std::string& path) {
  const auto first = read_open_keys(path);
  if (!first.ok()) return first.error();
  std::function<bool(const std::string&)> has =
      [path, last = first.value()](const std::string& key) mutable {
        auto now = reread_open_keys(path);
        if (now.ok()) {
          last = std::move(now.value());
        } else if (::access(path.c_str(), R_OK) != 0) {
          last.clear();
        }
        return last.contains(key);
      };
  return has;
}

Result<std::string> read_open_key(const std::string& path_or_key) {
  if (is_key(path_or_key) && ::access(path_or_key.c_str(), F_OK) != 0) {
    if (is_secret(path_or_key)) return Error{kIsSecret};
    return path_or_key;
  }
  auto key = read_one_key(path_or_key);
  if (key.ok() && is_secret(key.value())) {
    return in_file(path_or_key, 0, kIsSecret);
  }
  return key;
}

}  // namespace gt::net

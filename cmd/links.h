// The options of programs that listen for others, or that connect to one that
// does: the endpoint, the keys, and the consent to do without keys; and where
// files may be.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/gatekeeper.h"
#include "net/keys.h"

namespace gt {

// The options of a program that listens.
struct ListenOptions {
  // `names_it` is the option that names the endpoint, such as "--bind", and
  // `program` the program's name. `prefix` begins the names of the options for
  // keys, as in "--monitor-key"; with a prefix there is no option to do without
  // keys.
  ListenOptions(std::string names_it, std::string program,
                std::string prefix = "--")
      : option(std::move(names_it)),
        self(std::move(program)),
        key_option(prefix + "key"),
        allow_option(prefix + "allow"),
        may_be_insecure(prefix == "--") {}

  std::string option, self, key_option, allow_option;
  bool may_be_insecure;
  std::string endpoint;  // as given; read() replaces it by a numeric one
  std::string key, allow;
  bool insecure = false;

  // Set by read().
  std::optional<net::Keys> keys;
  net::Gatekeeper::Admits admits;

  // Reads the files of keys, and looks up the endpoint. A host name is looked
  // up once, so that the address that is checked is the one that is bound.
  // Returns what is wrong; "" if nothing is.
  std::string read();
  // Returns whom the program trusts, once read() has been called.
  net::Trust trust() const { return {keys, "", insecure}; }
};

// What the values of --root name.
struct Roots {
  std::vector<std::string> folders;    // of this host
  std::vector<std::string> endpoints;  // of gt-emits that lend files
};
// Error: one looks like an endpoint, and nobody can connect to it. The message
// begins with the option. Whether the folders are there is not checked.
Result<Roots> sort_roots(const std::vector<std::string>& roots);

// The options of a program that connects.
struct ConnectOptions {
  // `names_it` is the option that names the endpoint, such as "--connect",
  // `names_key` the one for the other side's key, such as "--route-key";
  // `other` is the program that listens there, and `own` the one that connects.
  ConnectOptions(std::string names_it, std::string names_key, std::string other,
                 std::string own)
      : option(std::move(names_it)),
        key_option(std::move(names_key)),
        program(std::move(other)),
        self(std::move(own)) {}

  std::string option, key_option, program, self;
  std::string endpoint;  // as given; read() replaces it by a numeric one
  std::string key, open_key;
  bool insecure = false;

  // Set by read().
  std::optional<net::Keys> keys;
  std::string other_key;

  // Reads the files of keys, and looks up the endpoint if it matters which host
  // it is on. Returns what is wrong; "" if nothing is.
  std::string read();
  // Returns whom the program trusts, once read() has been called.
  net::Trust trust() const { return {keys, other_key, insecure}; }
};

}  // namespace gt

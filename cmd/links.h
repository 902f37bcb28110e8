// Options of programs that listen for others, or connect to one that does: the
// endpoint, the keys, and the consent to go without.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "net/gatekeeper.h"
#include "net/keys.h"

namespace gt {

// Of a program that listens.
struct ListenOptions {
  // The option that names the endpoint, as "--bind", and the program. `prefix`
  // stands in the names of the options for keys, as "--monitor-key"; with one
  // there is no way to go without.
  ListenOptions(std::string names_it, std::string program,
                std::string prefix = "--")
      : option(std::move(names_it)),
        self(std::move(program)),
        key_option(prefix + "key"),
        allow_option(prefix + "allow"),
        may_be_insecure(prefix == "--") {}

  std::string option, self, key_option, allow_option;
  bool may_be_insecure;
  std::string endpoint;  // as given; read() puts it in numbers
  std::string key, allow;
  bool insecure = false;

  // What read() makes of them.
  std::optional<net::Keys> keys;
  net::Gatekeeper::Admits admits;

  // Reads the files of keys, and looks up the endpoint: what a name stands for
  // is looked up once, so that what is checked is what is bound. Returns what
  // is wrong, or "".
  std::string read();
};

// Of a program that connects.
struct ConnectOptions {
  // The options that name the endpoint, as "--connect", and the other's key, as
  // "--route-key"; the program that listens there, and the one that connects.
  ConnectOptions(std::string names_it, std::string names_key, std::string other,
                 std::string own)
      : option(std::move(names_it)),
        key_option(std::move(names_key)),
        program(std::move(other)),
        self(std::move(own)) {}

  std::string option, key_option, program, self;
  std::string endpoint;  // as given; read() puts it in numbers
  std::string key, open_key;
  bool insecure = false;

  // What read() makes of them.
  std::optional<net::Keys> keys;
  std::string other_key;

  // Reads the files of keys, and looks up the endpoint where it matters whose
  // host that is. Returns what is wrong, or "".
  std::string read();
};

}  // namespace gt

// Callee: how the connecting end of a connection words, for people, what it
// says about the listening end, above all why no connection came about.
//
// Workers, watchers, clients and borrowers of files say the same. A predicate
// is returned without its subject, which is name() or listener().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gt::net {

// What a connection is made to.
struct Callee {
  std::string program;   // "gt-route"
  std::string endpoint;  // shown to people
  // The option that names its public key, "--route-key"; "" if messages name no
  // options.
  std::string key_option;

  // Returns "gt-route at ENDPOINT".
  std::string name() const { return program + " at " + endpoint; }
  // Returns the subject for a process that may be another program: "what
  // listens at ENDPOINT".
  std::string listener() const { return "what listens at " + endpoint; }

  // Returns the predicate "does not admit KEY ...", where `key` names our key.
  std::string not_admitting(std::string_view key) const;
  // Returns the predicate "takes no connection of ours ...": only one end has
  // keys, ours if `has_keys` is true, or the other end is no program of gt.
  std::string not_connecting(bool has_keys) const;
  // Returns the predicate "is not taken for gt-route: WHY".
  std::string not_trusted(std::string_view why) const;
  // Returns a clause that may follow not_trusted(): who works together without
  // keys, and which options admit others.
  std::string same_user_rule() const;

  // Returns the sentence "what came from ENDPOINT is no message of gt-route:
  // WHY".
  std::string sent_no_message(std::string_view why) const;
  // Returns the sentence "no gt-route at ENDPOINT within ...", for a limit of
  // so many ms. `refused` is true if we have keys and a connection was refused;
  // `untrusted` says why the process that was there is not trusted, or is "".
  std::string not_there(int64_t ms, bool refused,
                        std::string_view untrusted) const;
};

}  // namespace gt::net

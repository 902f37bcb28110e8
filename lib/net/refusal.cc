#include "net/refusal.h"

#include "base/text.h"

namespace gt::net {

std::string Callee::not_admitting(std::string_view key) const {
  return "does not admit " + std::string(key) +
         "; its --allow lists whom it does";
}

std::string Callee::not_connecting(bool has_keys) const {
  const std::string options =
      key_option.empty() ? "" : " (--key, " + key_option + ")";
  return "takes no connection of ours: " +
         (has_keys ? "it has no keys" : "it wants keys" + options) +
         ", or it is no " + program;
}

std::string Callee::not_trusted(std::string_view why) const {
  return "is not taken for " + program + ": " + std::string(why);
}

std::string Callee::same_user_rule() const {
  const std::string options =
      key_option.empty()
          ? ""
          : " (--key and " + key_option + ", or --insecure, admit others)";
  return "; without keys only processes of one user work together" + options;
}

std::string Callee::sent_no_message(std::string_view why) const {
  return "what came from " + endpoint + " is no message of " + program + ": " +
         std::string(why);
}

std::string Callee::not_there(int64_t ms, bool refused,
                              std::string_view untrusted) const {
  std::string text = "no " + name() + " within " + seconds_text(ms);
  if (refused) {
    text += "; what is there took no connection of ours: is " + key_option +
            " its public key?";
  }
  if (!untrusted.empty()) text.append("; of what is there, ").append(untrusted);
  return text;
}

}  // namespace gt::net

#include "client/names.h"

#include "stream/line.h"

namespace gt::client {
namespace {

// True if the text has the form of a name that take() makes.
bool is_ours(std::string_view text) {
  return text.size() > 1 && text[0] == 't' &&
         text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

}  // namespace

Result<Names::Name> Names::take(std::string_view chosen, const Where& at) {
  const std::string text(chosen);
  if (!is_name(chosen) || is_reserved(chosen) || chosen[0] == '_') {
    return Error{"'" + text +
                 "' cannot name a tensor: a name has letters, digits, '_', '.' "
                 "and '/', and begins with a letter"};
  }
  if (is_ours(chosen)) {
    return Error{"'" + text +
                 "' cannot name a tensor: t0, t1 and so on are the names of "
                 "tensors without one"};
  }
  const auto [held, is_new] = chosen_.try_emplace(text, to_string(at));
  if (!is_new) {
    const std::string made =
        held->second.empty() ? "" : ", made at " + held->second;
    return Error{"there is a tensor '" + text + "' already" + made +
                 ": give this one, or the module that it is in, another name"};
  }
  // The line binds it again, so it is not freed.
  std::erase(dead_chosen_, text);
  return Name{text, kChosen};
}

bool Names::is_kept(std::string_view name) const {
  return is_ours(name) || chosen_.find(name) != chosen_.end();
}

bool Names::keeps_any(std::string_view glob) const {
  return glob_matches(glob, "t0") ||
         std::any_of(chosen_.begin(), chosen_.end(), [&](const auto& held) {
           return glob_matches(glob, held.first);
         });
}

void Names::append_free(std::string& out) {
  if (dead_.empty() && dead_chosen_.empty()) return;
  std::sort(dead_.begin(), dead_.end());
  out += "free";
  for (const uint32_t number : dead_) out += " " + text_of(number);
  for (const std::string& name : dead_chosen_) out += " " + name;
  out += '\n';
  dead_.clear();
  dead_chosen_.clear();
}

}  // namespace gt::client

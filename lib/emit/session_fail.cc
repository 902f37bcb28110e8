// Rejected lines: what is said, and what later stages get in their place.
#include "emit/session.h"

namespace gt {

void Session::report(const Error& error, Origin origin) {
  ++messages_;
  status_ = worst(status_, Exit::kRejected);
  const Place place{files_[origin.file()].name, origin.line()};
  say_(format_error(options_.program, place, error, text_));
}

void Session::warn(const std::string& message, Origin origin) {
  ++messages_;
  const Place place{files_[origin.file()].name, origin.line()};
  say_(format_error(options_.program, place, {"warning: " + message}, text_));
}

std::string Session::place_of(Origin origin) const {
  return to_string(Place{files_[origin.file()].name, origin.line()});
}

void Session::reject(const Error& error, Origin origin, std::string& out) {
  report(error, origin);
  fail_results(place_of(origin) + ": " + error.message, origin, out);
}

void Session::fail_results(const std::string& message, Origin origin,
                           std::string& out) {
  for (const Name& r : line_.results) {
    if (!r.ranks.empty() || !is_name(r.text)) continue;
    if (!ledger_.emitted && is_internal_name(r.text)) continue;
    const SymbolId id = ledger_.symbols.intern(r.text);
    if (ledger_.symbols[id].failed && ledger_.symbols[id].message == message) {
      continue;  // a name that stands twice on the line
    }
    before_.clear();
    ledger_.release(id, origin, before_);
    out += before_;
    ledger_.symbols[id].failed = true;
    ledger_.symbols[id].message = message;
    ledger_.symbols[id].bound = origin;
    out += std::string(r.text) + " = fail " + quote(message) + at_note(origin) +
           "\n";
    ledger_.write_idle_frees(out);
  }
}

void Session::print_unknown(std::string_view name, const Error& error,
                            Origin origin, std::string& out) {
  report(error, origin);
  const std::string stand_in = ledger_.fresh_name();
  const std::string_view* as = line_.key("as");
  out += stand_in + " = fail " +
         quote(place_of(origin) + ": " + error.message) + "\n";
  out += "print " + stand_in + " as=" + std::string(as ? *as : name) +
         at_note(origin) + "\n";
  out += "free " + stand_in + "\n";
  ledger_.give_back(stand_in);
}

}  // namespace gt

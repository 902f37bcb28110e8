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
  const std::string message = place_of(origin) + ": " + error.message;
  if (line_.op == "print" || line_.op == "save") {
    output_failure(message, origin, out);
  }
  fail_results(message, origin, out);
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
    bind_failed(id, message, origin, out);
    out += std::string(r.text) + " = fail " + quote(message);
    write_tail(origin, out);
    line_.remark = {};  // stands on the first of them
    ledger_.write_idle_frees(out);
  }
}

void Session::bind_failed(SymbolId id, const std::string& message,
                          Origin origin, std::string& out) {
  before_.clear();
  ledger_.release(id, origin, before_);
  out += before_;
  Symbol& s = ledger_.symbols[id];
  s.failed = true;
  s.message = message;
  s.bound = origin;
}

// A print that cannot be done prints why, so that its reader does not wait; a
// save saves a failure, so that a load after it does not find an older file.
void Session::output_failure(const std::string& message, Origin origin,
                             std::string& out) {
  std::string name = "print";
  std::string_view path;
  for (const Operand& o : line_.operands) {
    if (o.kind == Operand::Kind::kName && name == "print") name = o.text;
    if (o.kind == Operand::Kind::kString) path = o.text;
  }
  if (const std::string_view* as = line_.key("as")) {
    if (is_name(*as) && !is_internal_name(*as)) name = *as;
  }
  if (line_.op == "save" && path.empty()) return;
  const std::string stand_in = ledger_.fresh_name();
  out += stand_in + " = fail " + quote(message) + "\n";
  if (line_.op == "print") {
    out += "print " + stand_in + " as=" + name;
  } else {
    out += "save " + stand_in + " " + std::string(path);
  }
  write_tail(origin, out);
  out += "free " + stand_in + "\n";
  ledger_.give_back(stand_in);
}

}  // namespace gt

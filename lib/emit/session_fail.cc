// Rejected lines: what is said, and what later stages get in their place.
#include <algorithm>

#include "emit/session.h"
#include "ops/table.h"
#include "stream/ranks.h"

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
  if (is_output(statement_of(line_.op))) output_failure(message, origin, out);
  fail_results(message, origin, out);
}

void Session::fail_results(const std::string& message, Origin origin,
                           std::string& out) {
  for (size_t i = 0; i < line_.results.size(); ++i) {
    const Name& r = line_.results[i];
    if (!is_name(r.text)) continue;
    const bool is_ours = is_internal_name(r.text) && r.text != kSeedName;
    if (!ledger_.emitted && is_ours) continue;
    // A name may stand twice on the line.
    const auto same = [&r](const Name& other) {
      return other.text == r.text && other.ranks == r.ranks;
    };
    const auto begin = line_.results.begin();
    const auto here = begin + static_cast<std::ptrdiff_t>(i);
    if (std::find_if(begin, here, same) != here) continue;
    bind_failed(r, message, origin, out);
    out += with_ranks(r.text, r.ranks) + " = fail " + quote(message);
    write_tail(origin, out);
    line_.remark = {};  // stands on the first of them
    ledger_.write_idle_frees(out);
  }
}

void Session::bind_failed(const Name& name, const std::string& message,
                          Origin origin, std::string& out) {
  before_.clear();
  let_go_seed(name.text, name.ranks);
  SymbolId id;
  if (name.ranks.empty()) {
    id = ledger_.symbols.intern(name.text);
    ledger_.release(id, origin, before_);
  } else {
    const Ranks ranks = ascending(parse_ranks(name.ranks).value());
    ledger_.release_piece(name.text, ranks, origin, before_);
    id = ledger_.symbols.intern_piece(name.text, ranks);
  }
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
  std::string ranks;
  for (const Operand& o : line_.operands) {
    if (o.kind == Operand::Kind::kName && name == "print") {
      // Nothing is printed under a filter's name.
      if (!is_internal_name(o.text)) name = o.text;
      // A line for each rank, or one for the whole.
      if (line_.key("split") == nullptr) ranks = o.ranks;
    }
    if (o.kind == Operand::Kind::kString) path = o.text;
  }
  if (const std::string_view* as = line_.key("as")) {
    if (is_name(*as) && !is_internal_name(*as)) name = *as;
  }
  const bool saves = statement_of(line_.op) == Statement::kSave;
  if (saves && path.empty()) return;
  // "y@0" is no name for as=, but what is not bound can stand for itself.
  const bool itself =
      !ranks.empty() && line_.key("as") == nullptr && !saves &&
      ledger_.find_pieces(name, ascending(parse_ranks(ranks).value()))
          .pieces.empty();
  const std::string stand_in = itself ? name : ledger_.fresh_name(name);
  const std::string there = with_ranks(stand_in, ranks);
  out += there + " = fail " + quote(message) + "\n" + std::string(line_.op) +
         " " + there;
  if (saves) {
    out += " " + std::string(path);
  } else if (!itself) {
    out += " as=" + name;
  }
  write_tail(origin, out);
  out += "free " + there + "\n";
  if (!itself) ledger_.give_back(stand_in);
}

}  // namespace gt

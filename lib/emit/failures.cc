#include "emit/failures.h"

#include <algorithm>

#include "emit/usage.h"
#include "ops/table.h"
#include "stream/ranks.h"

namespace gt::emit {

void Failures::reject(LineState& state, const Error& error, std::string& out) {
  messages_.error(error, state.origin, state.text);
  const std::string message =
      messages_.place_of(state.origin, state.text) + ": " + error.message;
  if (is_output(statement_of(state.line.op))) write_output(state, message, out);
  fail_results(state, message, out);
}

// True if the failure can be bound to the result. If a name stands twice on the
// line, the first is bound.
bool Failures::takes_failure(const LineState& state, size_t result) const {
  const std::vector<Name>& results = state.line.results;
  const Name& r = results[result];
  if (!is_name(r.text)) return false;
  const bool is_ours = is_internal_name(r.text) && r.text != Seeds::kName;
  if (!ledger_.emitted && is_ours) return false;
  return std::none_of(results.begin(),
                      results.begin() + static_cast<std::ptrdiff_t>(result),
                      [&r](const Name& other) {
                        return other.text == r.text && other.ranks == r.ranks;
                      });
}

void Failures::fail_results(LineState& state, const std::string& message,
                            std::string& out) {
  const auto why = std::make_shared<const std::string>(message);
  for (size_t i = 0; i < state.line.results.size(); ++i) {
    if (!takes_failure(state, i)) continue;
    const Name& r = state.line.results[i];
    const std::string name = full_name(r.text, r.ranks);
    if (!has_room_for(ledger_, name)) continue;
    bind(r, why, state.origin, out);
    out += name + " = fail " + quote(message);
    writer_.write_tail(state, out);
    state.line.remark = {};  // the remark stands on the first line
    ledger_.write_idle_frees(out);
  }
}

void Failures::bind(const Name& name, const FailureText& why, Origin origin,
                    std::string& out) {
  seeds_.let_go(name.text, name.ranks);
  Ranks ranks;
  if (!name.ranks.empty()) ranks = ascending(parse_ranks(name.ranks).value());
  ledger_.fail(ledger_.vacate(name.text, ranks, origin, out), why, origin);
}

namespace {

// What a print or save names, as far as the line can be read.
struct OutputForm {
  std::string name = "print";  // the name that it is printed under
  std::string_view path;       // if it is a save
  std::string ranks;           // there is a line for each of them
};

OutputForm output_form(const Line& line) {
  OutputForm form;
  for (const Operand& o : line.operands) {
    if (o.kind == Operand::Kind::kName && form.name == "print") {
      // Nothing is printed under an internal name.
      if (!is_internal_name(o.text)) form.name = o.text;
      // A line for each rank, or one for the whole.
      if (line.key("split") == nullptr) form.ranks = o.ranks;
    }
    if (o.kind == Operand::Kind::kString) form.path = o.text;
  }
  if (const std::string_view* as = line.key("as")) {
    if (is_name(*as) && !is_internal_name(*as)) form.name = *as;
  }
  return form;
}

}  // namespace

// A print that cannot be done prints the reason, so that its reader does not
// wait; a save saves a failure, so that a later load does not find an older
// file.
void Failures::write_output(const LineState& state, const std::string& message,
                            std::string& out) {
  const Line& line = state.line;
  const auto [name, path, ranks] = output_form(line);
  const bool saves = statement_of(line.op) == Statement::kSave;
  if (saves && path.empty()) return;
  // as=y@0 is not allowed, but an unbound name can be bound to the failure
  // itself.
  const bool itself =
      !ranks.empty() && line.key("as") == nullptr && !saves &&
      ledger_.find_pieces(name, ascending(parse_ranks(ranks).value()))
          .pieces.empty();
  const std::string stand_in = itself ? name : ledger_.fresh_name(name);
  const std::string there = full_name(stand_in, ranks);
  out += there + " = fail " + quote(message) + "\n" + std::string(line.op) +
         " " + there;
  if (saves) {
    out += " " + std::string(path);
  } else if (!itself) {
    out += " as=" + name;
  }
  writer_.write_tail(state, out);
  out += "free " + there + "\n";
  if (!itself) ledger_.give_back(stand_in);
}

}  // namespace gt::emit

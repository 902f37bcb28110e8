#include "emit/session.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/hash.h"
#include "emit/history_text.h"
#include "grad/line_types.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "program/costs.h"
#include "spmd/labels.h"
#include "spmd/specs.h"
#include "stream/ranks.h"

namespace gt::emit {
namespace {

// Checks that no name belongs to the filters, except `allowed`, which programs
// may name as well. The name that a result is printed under is checked too,
// since it names a register when the result is read back.
Status check_internal_names(const Line& line, std::string_view allowed) {
  const auto check = [&](std::string_view name, uint32_t column) -> Status {
    if (!is_internal_name(name) || name == allowed) return ok_status();
    return Error{"names that begin with '_', as " + std::string(name) +
                     ", belong to the filters; choose another",
                 column};
  };
  for (const Name& r : line.results) {
    if (Status s = check(r.text, r.column); !s.ok()) return s;
  }
  for (const Operand& o : line.operands) {
    if (o.kind != Operand::Kind::kName) continue;
    if (Status s = check(o.text, o.column); !s.ok()) return s;
  }
  for (const Key& key : line.keys) {
    if (key.key != "as") continue;
    if (Status s = check(key.value, key.column); !s.ok()) return s;
  }
  return ok_status();
}

// Checks that each name is bound once, or on disjoint ranks each time.
Status check_results(const Line& line) {
  const auto overlap = [](const Name& a, const Name& b) {
    if (a.ranks == b.ranks) return true;
    const auto x = parse_ranks(a.ranks);
    const auto y = parse_ranks(b.ranks);
    return x.ok() && y.ok() &&
           !common(ascending(x.value()), ascending(y.value())).empty();
  };
  std::unordered_multimap<std::string_view, const Name*> before;
  for (const Name& name : line.results) {
    const auto [begin, end] = before.equal_range(name.text);
    const bool is_bound = std::any_of(begin, end, [&](const auto& same) {
      return overlap(name, *same.second);
    });
    if (is_bound) {
      return Error{
          "'" + std::string(name.text) + "' is bound twice on one line",
          name.column};
    }
    before.emplace(name.text, &name);
  }
  return ok_status();
}

}  // namespace

Session::Session(EmitOptions options, std::function<void(std::string_view)> say)
    : options_(std::move(options)),
      messages_(options_.program, files_, std::move(say)),
      seeds_(ledger_, writer_, options_.seed),
      operands_(ledger_, seeds_, options_.tape),
      recorder_(ledger_, messages_, {options_.history, options_.tape}),
      gradient_({ledger_, messages_, writer_, operands_, recorder_}) {
  ledger_.usage.counts = options_.is_client;
  ledger_.usage.quota = options_.quota;
}

void Session::feed(std::string_view line, Origin origin, std::string& out) {
  ledger_.symbols.begin_line();
  // Lines of one pattern may be in different regions.
  const bool has_region = options_.region && line.find("#signal=") != line.npos;
  const Pattern* pattern = options_.tape || has_region ? nullptr : scan(line);
  if (pattern != nullptr && feed_known(*pattern, line, origin, out)) return;
  state_.begin(line, origin);
  state_.has_pattern = pattern != nullptr;
  if (Status s = parse_line(line, state_.line); !s.ok()) {
    state_.line.notes.clear();
    state_.line.remark = {};
    return failures_.reject(state_, s.error(), out);
  }
  if (state_.line.kind != Line::Kind::kInstruction) {
    // The next reader would take a CR at the end as part of the line's end.
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (answer_tape(line, out)) return;
    out += line;
    out += '\n';
    return;
  }
  if (Status s = instruction(state_, out); !s.ok()) {
    return failures_.reject(state_, s.error(), out);
  }
  if (state_.is_plain) memos_.note(*pattern, state_);
}

// Answers "#tape NAME" with the history behind the value. False if it is no
// such comment, or the name holds no value.
bool Session::answer_tape(std::string_view comment, std::string& out) const {
  constexpr std::string_view kHead = "#tape ";
  if (!comment.starts_with(kHead)) return false;
  const SymbolId id = ledger_.symbols.find(comment.substr(kHead.size()));
  if (id == kNoSymbol || ledger_.symbols[id].value == kNil) return false;
  std::string text;
  append_history(ledger_, ledger_.symbols[id].value, text);
  append_tape_marks(text, out);
  return true;
}

const Pattern* Session::scan(std::string_view line) {
  const uint64_t hash = hash_bytes(line);
  const Scanned* known =
      scanned_.find(hash, line, [this](const Scanned& entry) {
        return entry.emitted == ledger_.emitted;
      });
  if (known != nullptr) return &known->pattern;
  if (!pattern_.scan(line, ledger_.emitted)) return nullptr;
  if (scanned_.wants(hash, line)) {
    auto scanned = std::make_unique<Scanned>();
    scanned->text = line;
    scanned->emitted = ledger_.emitted;
    scanned->pattern.scan(scanned->text, ledger_.emitted);
    scanned_.insert(hash, std::move(scanned),
                    [](const Scanned&) { return false; });
  }
  return &pattern_;
}

// Answers a line of a known pattern, or a plain free.
bool Session::feed_known(const Pattern& pattern, std::string_view line,
                         Origin origin, std::string& out) {
  const bool is_free = pattern.is_free();
  if (is_free ? !frees_.run_plain(pattern, origin, out)
              : !memos_.define(pattern, origin, out)) {
    return false;
  }
  out += line;
  writer_.append_at(origin, pattern.has_at(), out);
  out += '\n';
  ledger_.write_idle_frees(out);
  if (is_free) return true;
  ledger_.recipes.begin_line(std::nullopt);
  recorder_.limit(origin);
  return true;
}

void Session::reject_long(std::string_view head, Origin origin,
                          std::string& out) {
  state_.begin(head, origin);
  state_.line = {};
  const size_t most = options_.is_client ? kMostOfClient : Reader::kMaxLine;
  failures_.reject(
      state_,
      {"line is longer than " + std::to_string(most >> 20) + " MiB" +
       (options_.is_client
            ? ", the most of a client's; save large data as .npy, bring it "
              "there (gt-emit --send), and load it"
            : "; save large data as .npy and load it")},
      out);
}

Status Session::instruction(LineState& state, std::string& out) {
  const Line& line = state.line;
  const Statement statement = statement_of(line.op);
  const bool is_grad =
      statement == Statement::kGrad;  // takes floats, and seeds are none
  if (!ledger_.emitted) {
    const Status s = check_internal_names(line, is_grad ? "" : Seeds::kName);
    if (!s.ok()) return s;
  }
  if (is_declaration(statement)) return declare(state, out);
  if (statement == Statement::kFree) return frees_.run(state, out);
  if (is_grad) return grad(state, out);
  if (statement == Statement::kFail) return fail(state, out);
  if (statement == Statement::kLoad || statement == Statement::kSave) {
    if (Status s = saved_.check(line); !s.ok()) {
      if (statement == Statement::kLoad) return s;
      // A refused save saves no failure, since the path is not the client's.
      messages_.error(s.error(), state.origin, state.text);
      return ok_status();
    }
  }
  if (!is_placed(line)) return compute(state, out);
  ledger_.drop_types();
  auto where = line_ranks(line);
  if (!where.ok()) return where.error();
  state.where = std::move(where.value());
  state.mesh = ledger_.meshes.of(line);
  if (is_output(statement)) return output(state, out);
  if (states_specs(line)) return redistribute(state, out);
  return compute(state, out);
}

Status Session::declare(LineState& state, std::string& out) {
  if (Status s = ledger_.meshes.take(state.line); !s.ok()) return s;
  writer_.write(state, out);
  return ok_status();
}

Status Session::fail(LineState& state, std::string& out) {
  const Line& line = state.line;
  if (Status s = bind_fail(line, state.call); !s.ok()) return s;
  if (is_placed(line)) {
    if (auto where = line_ranks(line); !where.ok()) return where.error();
  }
  const auto why =
      std::make_shared<const std::string>(unquote(line.operands[0].text));
  for (const Name& r : line.results) {
    failures_.bind(r, why, state.origin, out);
  }
  writer_.write(state, out);
  ledger_.write_idle_frees(out);
  return ok_status();
}

Status Session::grad(LineState& state, std::string& out) {
  if (Status s = check_results(state.line); !s.ok()) return s;
  if (Status s = gradient_.check_form(state); !s.ok()) return s;
  const auto found = find_operands(state, out);
  if (!found.ok()) return found.error();
  if (!found.value()) return ok_status();
  ledger_.recipes.begin_line(std::nullopt);
  std::string* tape = options_.tape ? &tape_text_ : nullptr;
  const Status s = gradient_.write(state, tape, out);
  operands_.settle(state);
  if (!s.ok()) return s;
  recorder_.limit(state.origin);
  return ok_status();
}

// ---- computing lines --------------------------------------------------------

Status Session::compute(LineState& state, std::string& out) {
  if (Status s = check_results(state.line); !s.ok()) return s;
  if (options_.region) note_region(state);
  if (Status s = complete(state, out); !s.ok()) return s;
  const auto bound =
      is_placed(state.line) ? bind_placed(state, out) : bind(state, out);
  if (!bound.ok()) return bound.error();
  if (!bound.value()) return ok_status();
  if (ledger_.usage.counts) {
    if (Status s = count_usage(ledger_, operands_, state); !s.ok()) return s;
  }
  for (const ValueId v : state.values) {
    state.type_ids.push_back(v == kNil ? 0 : ledger_.tape.type(v));
  }
  state.is_plain = state.has_pattern && state.added_texts.empty() &&
                   state.call.op->row->statement == Statement::kCompute &&
                   state.line.note("recompute") == nullptr &&
                   operands_.are_whole(state);
  // Gradient lines are made later from the line as it is written here.
  std::string written;
  writer_.write(state, written);
  state.form = recorder_.record({state.line, state.call, state.values,
                                 state.result_types, state.mesh, state.origin},
                                state.results);
  add_recipe(state);
  operands_.settle(state);
  bind_results(state);
  out += state.before;
  out += written;
  if (state.call.op->row->statement == Statement::kSave) {
    saved_.note(state, {state.call.arguments[0].type});
  }
  ledger_.write_idle_frees(out);
  if (state.adds_seed) seeds_.advance(state, out);
  recorder_.limit(state.origin);
  return ok_status();
}

// Adds the note #recompute= of the line's region, if it is to be in one.
void Session::note_region(LineState& state) const {
  if (ledger_.emitted || is_placed(state.line) ||
      state.line.note("recompute") != nullptr) {
    return;
  }
  std::string region = options_.region(state.line);
  if (region.empty()) return;
  state.added_texts.push_back(std::move(region));
  state.line.notes.push_back({"recompute", state.added_texts.back()});
}

// Leaves a recipe of the results, which the backward is to compute again.
void Session::add_recipe(const LineState& state) {
  if (state.results.empty()) return;
  const std::string_view* note = state.line.note("recompute");
  ledger_.recipes.begin_line(note == nullptr ? std::nullopt
                                             : std::optional(*note));
  const bool has_recipe =
      note != nullptr && !ledger_.emitted && !is_placed(state.line) &&
      state.call.op->row->statement == Statement::kCompute &&
      state.form.id() != kNil &&
      ledger_.tape.producer(state.results[0]) != kNil;
  if (!has_recipe) return;
  // Results that were added for the gradient are kept.
  std::vector<ValueId> results = state.results;
  std::fill(results.end() - static_cast<std::ptrdiff_t>(state.added_results),
            results.end(), kNil);
  ledger_.recipes.add(state.form.share(), state.values, std::move(results));
}

// Adds the operands that the user may leave to gt-emit: a seed, the type of a
// load.
Status Session::complete(LineState& state, std::string& out) {
  const Line& line = state.line;
  if (!is_placed(line) && Seeds::is_read(line) && !ledger_.emitted) {
    seeds_.begin(out);
  }
  const Op* op = find_op(line.op);
  if (op == nullptr) return ok_status();
  if (op->row->statement == Statement::kLoad) return saved_.complete(state);
  const bool takes_seed = op->is_seed(line.operands.size()) &&
                          !(is_placed(line) && line.results.empty());
  if (takes_seed) seeds_.complete(state, out);
  return ok_status();
}

Result<bool> Session::bind(LineState& state, std::string& out) {
  // An unknown op is reported before an unknown name.
  if (find_op(state.line.op) == nullptr) return unknown_op(state.line);
  auto found = find_operands(state, out);
  if (!found.ok() || !found.value()) return found;
  Status s = gt::bind(state.line, state.types, state.call);
  if (s.ok()) s = seeds_.check(state, state.call.results);
  if (!s.ok()) return s.error();
  if (recorder_.add_results(state)) {
    GT_CHECK(gt::bind(state.line, state.types, state.call).ok());
  }
  for (const Type& type : state.call.results) {
    state.result_types.push_back(ledger_.types.id(type));
  }
  return true;
}

Result<bool> Session::bind_placed(LineState& state, std::string& out) {
  state.types.assign(state.line.operands.size(), nullptr);
  Status s = bind_form(state.line, state.types, state.call);
  if (!s.ok()) return s.error();
  auto found = find_operands(state, out);
  if (!found.ok() || !found.value()) return found;
  s = operands_.join(state);
  if (!s.ok()) return s.error();
  if (recorder_.add_results(state)) {
    GT_CHECK(bind_form(state.line, state.types, state.call).ok());
  }
  s = type_placed(state);
  if (s.ok()) return true;
  operands_.settle(state);
  std::vector<Name>& results = state.line.results;
  for (; state.added_results > 0; --state.added_results) {
    ledger_.give_back(results.back().text);
    results.pop_back();
  }
  return s.error();
}

Status Session::type_placed(LineState& state) {
  std::vector<const grad::PlacedType*> operands;
  for (const ValueId v : state.values) {
    operands.push_back(v == kNil ? nullptr
                                 : &ledger_.types.placed(ledger_.tape.type(v)));
  }
  const AxisNames names(ledger_.meshes.all_of(space_name(state.line)));
  auto types = line_types(state.line, state.where, names, operands);
  if (!types.ok()) return types.error();
  std::vector<grad::PlacedType>& results = types.value().results;
  if (Status s = seeds_.check(state, results); !s.ok()) return s;
  for (grad::PlacedType& type : results) {
    state.result_types.push_back(ledger_.types.id(std::move(type)));
  }
  return ok_status();
}

// If an operand is a failure, so are the line's results. A print or save of a
// failure prints or saves it. The line must be right except for the type of the
// failure, which is unknown; a line that gt-emit wrote may save the failure of
// its own path, which was reported already.
Result<bool> Session::find_operands(LineState& state, std::string& out) {
  FailureText failed;
  Status s = is_placed(state.line)
                 ? operands_.resolve_pieces(state, failed, out)
                 : operands_.resolve(state, failed);
  if (s.ok() && failed != nullptr) s = pass_failure(state, *failed, out);
  if (!s.ok()) return s.error();
  return failed == nullptr;
}

// Writes a line that reads a failure: its results fail for the same reason, and
// a line without results goes to the worker, which says so.
Status Session::pass_failure(LineState& state, const std::string& failed,
                             std::string& out) {
  if (!state.line.results.empty()) {
    failures_.fail_results(state, failed, out);
    return ok_status();
  }
  if (!is_placed(state.line)) {
    static const Type kStandIn{Dtype::kF32, {}};
    for (size_t i = 0; i < state.types.size(); ++i) {
      const bool is_name = state.line.operands[i].kind == Operand::Kind::kName;
      if (is_name && state.types[i] == nullptr) state.types[i] = &kStandIn;
    }
    const Status s = gt::bind(state.line, state.types, state.call);
    if (!s.ok() && !ledger_.emitted) return s;
  }
  writer_.write(state, out);
  return ok_status();
}

void Session::bind_results(LineState& state) {
  const std::vector<Name>& results = state.line.results;
  for (size_t r = 0; r < results.size(); ++r) {
    const Name& name = results[r];
    const ValueId value = state.results[r];
    seeds_.let_go(name.text, name.ranks);
    if (r + state.added_results >= results.size()) {
      ledger_.hold_internal(value, name.text, state.origin);
      ledger_.tape.end_fresh(value);
      continue;
    }
    const Ranks ranks =
        name.ranks.empty() ? Ranks() : ascending(state.where.ranks);
    ledger_.bind(name.text, ranks, value, false, state.origin, state.before);
  }
}

// ---- other lines with ranks -------------------------------------------------

// Returns where the line runs, once its form was checked and everything that it
// reads was found. Returns nothing if it reads a failure; then it was answered.
Result<std::optional<Grid>> Session::read_pieces(LineState& state,
                                                 std::string& out) {
  state.types.assign(state.line.operands.size(), nullptr);
  Status s = bind_form(state.line, state.types, state.call);
  if (!s.ok()) return s.error();
  auto grid = grid_of(state.line, state.mesh, state.where.ranks);
  if (!grid.ok()) return grid.error();
  const auto found = find_operands(state, out);
  if (!found.ok()) return found.error();
  if (!found.value()) return std::optional<Grid>();
  return std::optional<Grid>(std::move(grid.value()));
}

// Replaces a redistribute between two specs by lines over one axis each, under
// the result's name. They are priced on the default machine, since gt-emit
// reads no config.
Status Session::redistribute(LineState& state, std::string& out) {
  const auto grid = read_pieces(state, out);
  if (!grid.ok()) return grid.error();
  if (!grid.value()) return ok_status();
  const LetterOn letter = [&](const std::string& axis) {
    const SymbolId symbol = state.reads[0].pieces[0].symbol;
    const TypeId type = ledger_.tape.type(ledger_.symbols[symbol].value);
    const auto axes = state.mesh->resolve(axis);
    return ledger_.types.placed(type).letters.on(*axes.value()[0]);
  };
  auto steps =
      redistribution_steps(state.line, *grid.value(),
                           operands_.piece_types(state), letter, Machine());
  if (!steps.ok()) return steps.error();
  for (const RedistributionStep& step : steps.value()) {
    LineState inner;
    inner.begin(state.text, state.origin);
    inner.line = step.line;
    if (Status s = instruction(inner, out); !s.ok()) {
      failures_.reject(inner, s.error(), out);
    }
  }
  return ok_status();
}

Status Session::output(LineState& state, std::string& out) {
  const auto grid = read_pieces(state, out);
  if (!grid.ok()) return grid.error();
  if (!grid.value()) return ok_status();
  std::vector<Type> printed;
  if (state.line.key("split") != nullptr) {
    const auto whole =
        assembly(state.line, *grid.value(), operands_.piece_types(state));
    if (!whole.ok()) return whole.error();
    printed.push_back(whole.value().whole);
  } else {
    for (const int64_t rank : state.where.ranks) {
      printed.push_back(*operands_.piece_type(state, 0, rank));
    }
  }
  Line local = state.line;
  std::erase_if(local.keys, [](const Key& key) {
    return key.key == "split" || key.key == "shape";
  });
  for (const Type& type : printed) {
    state.types[0] = &type;
    if (Status s = gt::bind(local, state.types, state.call); !s.ok()) return s;
    ledger_.usage.cost += line_cost(state.call) + print_cost(type.elements());
  }
  writer_.write(state, out);
  if (statement_of(state.line.op) == Statement::kSave) {
    saved_.note(state, printed);
  }
  return ok_status();
}

// ---- all of it --------------------------------------------------------------

void Session::state(std::string& text, const PlaceVisitor& visit) {
  text.clear();
  ledger_.state(text, visit);
  saved_.describe(text);
  text += recorder_.has_warned() ? "warned" : "";
}

void Session::finish() {
  messages_.tell_counts();
  if (!options_.tape) return;
  const std::vector<NodeId> nodes = ledger_.tape.nodes_by_age();
  tape_text_ +=
      "# history at the end: " + std::to_string(nodes.size()) + " lines\n";
  append_history(ledger_, messages_, nodes, tape_text_);
}

void Session::let_go(std::string& out) const {
  constexpr size_t kLongLine = 4096;
  std::string unplaced;
  const auto flush = [&] {
    if (!unplaced.empty()) out += "free" + std::exchange(unplaced, {}) + "\n";
  };
  for (SymbolId id = 0; id < ledger_.symbols.size(); ++id) {
    const Symbol& symbol = ledger_.symbols[id];
    if (!symbol.is_live()) continue;
    const std::string_view name = ledger_.symbols.name_of(id);
    if (symbol.ranks) {
      out.append("free ").append(name).append("\n");
      continue;
    }
    unplaced.append(" ").append(name);
    if (unplaced.size() > kLongLine) flush();
  }
  flush();
  for (const std::string& space : ledger_.meshes.open_spaces()) {
    out += space.empty() ? "endmesh\n" : "endmesh space=" + space + "\n";
  }
}

}  // namespace gt::emit

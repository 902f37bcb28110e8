#include "emit/session.h"

#include <algorithm>

#include "base/hash.h"
#include "grad/reads.h"
#include "ops/table.h"
#include "stream/npy.h"

namespace gt {
namespace {

constexpr size_t kMemos = 4096;  // a power of two
constexpr size_t kMemoText = 512;
constexpr std::string_view kSeedName = "_eseed";

bool has_internal_name(const Line& line, uint32_t& column,
                       std::string_view& name) {
  for (const Name& r : line.results) {
    if (!is_internal_name(r.text)) continue;
    column = r.column;
    name = r.text;
    return true;
  }
  for (const Operand& o : line.operands) {
    if (o.kind != Operand::Kind::kName || !is_internal_name(o.text)) continue;
    column = o.column;
    name = o.text;
    return true;
  }
  return false;
}

const Error* placed_name(const Line& line, Error& error) {
  uint32_t column = 0;
  for (const Name& r : line.results) {
    if (!r.ranks.empty()) column = r.column;
  }
  for (const Operand& o : line.operands) {
    if (!o.ranks.empty()) column = o.column;
  }
  if (column == 0) return nullptr;
  error = {
      "names with ranks (x@0-3) are not supported by this gt-emit; place "
      "the program after it",
      column};
  return &error;
}

// The instruction with "r" and "x" for its names: what the history needs of it,
// the same for every line of a pattern.
void append_without_names(const Line& line, std::string& out) {
  for (size_t r = 0; r < line.results.size(); ++r) out += "r ";
  out += "= ";
  out += line.op;
  for (const Operand& o : line.operands) {
    out += ' ';
    out += o.kind == Operand::Kind::kName ? "x" : o.text;
  }
  for (const Key& key : line.keys) {
    out += ' ';
    out += key.key;
    out += '=';
    out += key.value;
  }
}

}  // namespace

Session::Session(EmitOptions options, std::function<void(std::string_view)> say)
    : options_(std::move(options)), say_(std::move(say)), memos_(kMemos) {}

uint32_t Session::add_file(std::string_view name, bool at) {
  files_.push_back({std::string(name), at});
  return static_cast<uint32_t>(files_.size() - 1);
}

void Session::feed(std::string_view line, Origin origin, std::string& out) {
  Memo* memo = nullptr;
  uint64_t hash = 0;
  if (!options_.tape && pattern_.scan(line, emitted_)) {
    hash = hash_bytes(pattern_.key);
    memo = &memos_[hash % kMemos];
    if (feed_memo(line, origin, *memo, out)) return;
  }
  text_ = line;
  memorable_ = false;
  const Status parsed = parse_line(line, line_);
  if (!parsed.ok()) return reject(parsed.error(), origin, out);
  if (line_.kind != Line::Kind::kInstruction) {
    out += line;
    out += '\n';
    return;
  }
  instruction(origin, out);
  if (memo == nullptr || !memorable_) return;
  // Patterns that come once only are not worth the room.
  if (memo->seen == hash) remember(*memo);
  memo->seen = hash;
}

// Looks up the pattern's names; false when the memo does not hold for them.
bool Session::resolve_memo(const Memo& memo) {
  const std::vector<std::string_view>& names = pattern_.names;
  size_t next = pattern_.results;
  operand_values_.clear();
  for (const bool is_name : memo.is_name) {
    operand_values_.push_back(kNil);
    if (!is_name) continue;
    const SymbolId id = symbols_.find(names[next]);
    if (id == kNil || symbols_[id].value == kNil) return false;
    const ValueId value = symbols_[id].value;
    const TypeId type = memo.operand_types[next++ - pattern_.results];
    if (tape_.value(value).type != type) return false;
    operand_values_.back() = value;
  }
  for (size_t i = 1; i < pattern_.results; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) return false;
    }
  }
  return true;
}

bool Session::feed_memo(std::string_view line, Origin origin, const Memo& memo,
                        std::string& out) {
  if (memo.op == nullptr || memo.emitted != emitted_ ||
      memo.key != pattern_.key || !resolve_memo(memo)) {
    return false;
  }
  if (memo.node != nullptr) {
    tape_.record({memo.op, memo.node, operand_values_, memo.result_types,
                  memo.differentiable, memo.needed_operands,
                  memo.needed_results, origin},
                 result_values_);
  } else {
    result_values_.clear();
    for (size_t r = 0; r < pattern_.results; ++r) {
      result_values_.push_back(tape_.add_leaf(
          memo.result_types[r], memo.differentiable[r] != 0, origin));
    }
  }
  before_.clear();
  for (size_t r = 0; r < pattern_.results; ++r) {
    bind_result(symbols_.intern(pattern_.names[r]), result_values_[r], origin,
                before_);
  }
  out += before_;
  out += line;
  if (files_[origin.file()].at && line.find(" #at=") == line.npos) {
    line_.notes.clear();
    out += at_note(origin);
  }
  out += '\n';
  write_idle_frees(out);
  limit_history(origin);
  return true;
}

void Session::remember(Memo& memo) {
  memo.key = pattern_.key;
  memo.emitted = emitted_;
  memo.op = call_.op;
  memo.is_name.clear();
  memo.operand_types.clear();
  for (size_t i = 0; i < operand_symbols_.size(); ++i) {
    memo.is_name.push_back(operand_symbols_[i] != kNil);
    if (operand_symbols_[i] == kNil) continue;
    memo.operand_types.push_back(types_.id(*operand_types_[i]));
  }
  memo.result_types = result_types_;
  memo.differentiable = differentiable_;
  memo.needed_operands = needed_operands_;
  memo.needed_results = needed_results_;
  memo.node = node_text_;
}

void Session::reject_long(std::string_view head, Origin origin,
                          std::string& out) {
  text_ = head;
  line_.results.clear();
  reject({"line is longer than 64 MiB; save large data as .npy and load it"},
         origin, out);
}

void Session::instruction(Origin origin, std::string& out) {
  Error error;
  if (placed_name(line_, error) != nullptr) return reject(error, origin, out);
  uint32_t column = 0;
  std::string_view name;
  if (!emitted_ && has_internal_name(line_, column, name)) {
    return reject({"names that begin with '_', as " + std::string(name) +
                       ", belong to the filters; choose another",
                   column},
                  origin, out);
  }
  if (line_.op == "free") return free_names(origin, out);
  if (line_.op == "grad") return grad(origin, out);
  if (line_.op == "fail") return bind_fail(origin, out);
  plain(origin, out);
}

bool Session::resolve(Origin origin, std::string& out) {
  operand_symbols_.clear();
  operand_values_.clear();
  operand_types_.clear();
  const Symbol* failed = nullptr;
  for (const Operand& o : line_.operands) {
    operand_symbols_.push_back(kNil);
    operand_values_.push_back(kNil);
    operand_types_.push_back(nullptr);
    if (o.kind != Operand::Kind::kName) continue;
    const SymbolId id = symbols_.find(o.text);
    if (id == kNil || !symbols_[id].is_bound()) {
      const Error error{std::string(line_.op) + ": unknown name '" +
                            std::string(o.text) + "'" +
                            did_you_mean(o.text, symbols_.bound_names()),
                        o.column};
      if (line_.op == "print") {
        print_unknown(o.text, error, origin, out);
      } else {
        reject(error, origin, out);
      }
      return false;
    }
    if (symbols_[id].failed) {
      failed = &symbols_[id];
      continue;
    }
    operand_symbols_.back() = id;
    operand_values_.back() = symbols_[id].value;
    operand_types_.back() = &types_[tape_.value(symbols_[id].value).type];
  }
  if (failed == nullptr) return true;
  if (line_.results.empty()) {  // print and save of a failure: it prints so
    write_line(origin, out);
  } else {
    const std::string message = failed->message;
    fail_results(message, origin, out);
  }
  return false;
}

Status Session::check_results() const {
  for (size_t i = 0; i < line_.results.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (line_.results[i].text == line_.results[j].text) {
        return Error{"'" + std::string(line_.results[i].text) +
                         "' is bound twice on one line",
                     line_.results[i].column};
      }
    }
  }
  return ok_status();
}

void Session::plain(Origin origin, std::string& out) {
  if (Status s = check_results(); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  before_.clear();
  const bool completed_before = !completion_.empty();
  if (completed_before) completion_.clear();
  if (Status s = complete(out); !s.ok()) return reject(s.error(), origin, out);
  if (!resolve(origin, out)) return;
  if (Status s = gt::bind(line_, operand_types_, call_); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  line_out_.clear();
  write_line(origin, line_out_);
  // What gradient lines are made from later is the line that was written.
  record(call_, origin);
  for (size_t r = 0; r < line_.results.size(); ++r) {
    bind_result(symbols_.intern(line_.results[r].text), result_values_[r],
                origin, before_);
  }
  out += before_;
  out += line_out_;
  note_saved();
  write_idle_frees(out);
  if (!completion_.empty() && call_.op->name != "load") {
    out += std::string(kSeedName) + " = add " + std::string(kSeedName) + " 1" +
           at_note(origin) + "\n";
  }
  limit_history(origin);
  memorable_ = completion_.empty() && !line_.results.empty() &&
               call_.op->name != "load" && call_.op->name != "save";
}

// Operands that the user left to gt-emit: the seed, the type of a load.
Status Session::complete(std::string& out) {
  const Op* op = find_op(line_.op);
  if (op == nullptr) return ok_status();
  if (op->name == "load") return complete_load();
  const size_t at = line_.operands.size();
  if (at >= op->operands.size() || op->operands[at].name != "seed") {
    return ok_status();
  }
  SymbolId seed = symbols_.find(kSeedName);
  if (seed == kNil || !symbols_[seed].is_bound()) {
    out += std::string(kSeedName) + " = tensor i64[] " +
           std::to_string(options_.seed) + "\n";
    seed = symbols_.intern(kSeedName);
    const ValueId v = tape_.add_leaf(types_.id({Dtype::kI64, {}}), false, {});
    tape_.hold(v, seed, true);
    tape_.add_read(v);  // the register stays
    symbols_[seed].value = v;
  }
  completion_ = kSeedName;
  line_.operands.push_back({Operand::Kind::kName, 0, completion_, {}});
  return ok_status();
}

Status Session::complete_load() {
  const bool typed = line_.operands.size() > 1 &&
                     line_.operands[1].kind == Operand::Kind::kType;
  if (line_.operands.empty() || typed) return ok_status();
  if (line_.operands[0].kind != Operand::Kind::kString) return ok_status();
  const std::string path = unquote(line_.operands[0].text);
  if (const auto it = saved_.find(path); it != saved_.end()) {
    completion_ = to_string(it->second);
  } else {
    const auto header = read_npy_header(path);
    if (!header.ok()) {
      return Error{"load: " + header.error().message, line_.operands[0].column};
    }
    completion_ = to_string(header.value().type);
  }
  line_.operands.insert(line_.operands.begin() + 1,
                        {Operand::Kind::kType, 0, completion_, {}});
  return ok_status();
}

void Session::note_saved() {
  if (call_.op->name != "save") return;
  saved_[unquote(call_.arguments[1].text)] = call_.arguments[0].type;
}

void Session::bind_fail(Origin origin, std::string& out) {
  if (line_.results.size() != 1 || line_.operands.size() != 1 ||
      line_.operands[0].kind != Operand::Kind::kString) {
    return reject({"fail: usage: y = fail \"message\"", line_.op_column},
                  origin, out);
  }
  const SymbolId id = symbols_.intern(line_.results[0].text);
  before_.clear();
  release(id, origin, before_);
  symbols_[id].failed = true;
  symbols_[id].message = unquote(line_.operands[0].text);
  symbols_[id].bound = origin;
  out += before_;
  write_line(origin, out);
  write_idle_frees(out);
}

void Session::free_names(Origin origin, std::string& out) {
  if (!line_.results.empty() || line_.operands.empty() || !line_.keys.empty()) {
    return reject({"free: usage: free x...", line_.op_column}, origin, out);
  }
  std::vector<SymbolId> freed;
  for (const Operand& o : line_.operands) {
    if (o.kind == Operand::Kind::kGlob) {
      std::vector<std::string_view> names;
      for (const std::string_view name : symbols_.bound_names()) {
        if (glob_matches(o.text, name)) names.push_back(name);
      }
      std::sort(names.begin(), names.end());
      for (const std::string_view name : names) {
        freed.push_back(symbols_.find(name));
      }
      continue;
    }
    const SymbolId id =
        o.kind == Operand::Kind::kName ? symbols_.find(o.text) : SymbolId{kNil};
    if (id == kNil || !symbols_[id].is_bound()) {
      return reject({"free: unknown name '" + std::string(o.text) + "'" +
                         did_you_mean(o.text, symbols_.bound_names()),
                     o.column},
                    origin, out);
    }
    freed.push_back(id);
  }
  std::vector<SymbolId> once;
  for (const SymbolId id : freed) {
    if (std::find(once.begin(), once.end(), id) == once.end()) {
      once.push_back(id);
    }
  }
  if (once.empty()) return;  // a glob that matches nothing
  before_.clear();
  std::string names;
  for (const SymbolId id : once) {
    names += " " + symbols_[id].text;
    release(id, origin, before_);
    symbols_.note_unbound();
  }
  out += before_;
  out += "free" + names;
  append_notes(out, line_);
  out += at_note(origin) + "\n";
  write_idle_frees(out);
}

// ---- failure ---------------------------------------------------------------

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

std::string_view Session::lost_name(const Lost& lost) const {
  if (lost.name == kNil) return "a name";
  const Symbol& s = symbols_[lost.name];
  const bool same = static_cast<uint16_t>(s.generation) == lost.generation;
  return same ? std::string_view(s.text) : "a name";
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
    if (!emitted_ && is_internal_name(r.text)) continue;
    const SymbolId id = symbols_.intern(r.text);
    before_.clear();
    release(id, origin, before_);
    out += before_;
    symbols_[id].failed = true;
    symbols_[id].message = message;
    symbols_[id].bound = origin;
    out += std::string(r.text) + " = fail " + quote(message) + at_note(origin) +
           "\n";
    write_idle_frees(out);
  }
}

void Session::print_unknown(std::string_view name, const Error& error,
                            Origin origin, std::string& out) {
  report(error, origin);
  const std::string stand_in = fresh_name();
  const std::string_view* as = line_.key("as");
  out += stand_in + " = fail " +
         quote(place_of(origin) + ": " + error.message) + "\n";
  out += "print " + stand_in + " as=" + std::string(as ? *as : name) +
         at_note(origin) + "\n";
  out += "free " + stand_in + "\n";
  numbers_.give_back(static_cast<uint32_t>(std::stoul(stand_in.substr(2))));
}

// ---- names and values ------------------------------------------------------

void Session::find_needed(const Call& call) {
  needed_operands_.clear();
  needed_results_.clear();
  const auto& reads = gradient_reads(*call.op);
  const size_t count = call.arguments.size();
  std::vector<bool> operands(call.op->operands.size());
  std::vector<bool> results(call.op->results.size());
  for (size_t i = 0; i < count; ++i) {
    const int32_t operand = call.arguments[i].operand;
    if (operand < 0) continue;
    const ValueId v = operand_values_[static_cast<size_t>(operand)];
    if (v == kNil || !tape_.reachable(v)) continue;
    const GradientReads& r = reads[call.op->parameter_of(i, count)];
    for (const uint32_t p : r.operands) operands[p] = true;
    for (const uint32_t p : r.results) results[p] = true;
  }
  for (size_t i = 0; i < count; ++i) {
    const Argument& a = call.arguments[i];
    if (a.operand < 0 || !operands[call.op->parameter_of(i, count)]) continue;
    if (operand_values_[static_cast<size_t>(a.operand)] == kNil) continue;
    needed_operands_.push_back(static_cast<uint32_t>(a.operand));
  }
  for (size_t r = 0; r < call.result_count; ++r) {
    if (results[call.op->result_parameter_of(r, call.result_count)]) {
      needed_results_.push_back(static_cast<uint32_t>(r));
    }
  }
}

// Values of the line's results: with history where the op has a gradient.
void Session::record(const Call& call, Origin origin) {
  result_types_.clear();
  differentiable_.clear();
  bool floats = false;
  for (const Type& type : call.results) {
    result_types_.push_back(types_.id(type));
    differentiable_.push_back(is_float(type.dtype) ? 1 : 0);
    floats = floats || is_float(type.dtype);
  }
  if (!floats || !call.op->has_gradient()) {
    result_values_.clear();
    for (size_t r = 0; r < result_types_.size(); ++r) {
      result_values_.push_back(
          tape_.add_leaf(result_types_[r], differentiable_[r] != 0, origin));
    }
    needed_operands_.clear();
    needed_results_.clear();
    node_text_.reset();
    return;
  }
  find_needed(call);
  auto node = std::make_shared<NodeText>();
  append_without_names(line_, node->line);
  if (options_.tape) append_instruction(node->shown, line_);
  for (const Note& note : line_.notes) {
    if (note.key != "signal" && note.key != "mb") continue;
    node->notes += " #" + std::string(note.key);
    if (!note.value.empty()) node->notes += "=" + std::string(note.value);
  }
  node_text_ = std::move(node);
  tape_.record({call.op, node_text_, operand_values_, result_types_,
                differentiable_, needed_operands_, needed_results_, origin},
               result_values_);
}

// Unbinds a name. If a history needs the value's data, an alias keeps it.
void Session::release(SymbolId id, Origin origin, std::string& before) {
  Symbol& s = symbols_[id];
  const ValueId old = s.value;
  s.value = kNil;
  s.failed = false;
  if (old == kNil) return;
  const bool internal = tape_.value(old).internal;
  Lost why;
  why.kind = Lost::Kind::kRebound;
  why.at = origin;
  if (!internal) {
    why.name = id;
    why.generation = static_cast<uint16_t>(s.generation);
    tape_.mutable_value(old).gone = why;
  }
  // Letting go may end the very histories that read the value.
  tape_.let_go(old, why);
  const Value& v = tape_.value(old);
  if (emitted_ || !v.alive || v.reads + v.pending == 0) return;
  const SymbolId alias = new_internal(old, origin);
  before += symbols_[alias].text + " = copy " + symbols_[id].text + "\n";
}

void Session::bind_result(SymbolId id, ValueId value, Origin origin,
                          std::string& before) {
  release(id, origin, before);
  tape_.hold(value, id, false);
  symbols_[id].value = value;
  symbols_[id].bound = origin;
}

std::string Session::fresh_name() {
  for (;;) {
    std::string name = "_e" + std::to_string(numbers_.take());
    const SymbolId id = symbols_.find(name);
    if (id == kNil || !symbols_[id].is_bound()) return name;
  }
}

SymbolId Session::new_internal(ValueId value, Origin origin) {
  const SymbolId id = symbols_.intern(fresh_name());
  tape_.hold(value, id, true);
  symbols_[id].value = value;
  symbols_[id].bound = origin;
  return id;
}

void Session::write_idle_frees(std::string& out) {
  std::string names;
  // Freeing one may leave others unread.
  for (auto idle = tape_.take_idle(); !idle.empty(); idle = tape_.take_idle()) {
    for (const ValueId v : idle) {
      const Value& value = tape_.value(v);
      if (!value.alive || !value.internal || value.reads + value.pending != 0) {
        continue;
      }
      Symbol& s = symbols_[value.name];
      names += " " + s.text;
      numbers_.give_back(static_cast<uint32_t>(std::stoul(s.text.substr(2))));
      s.value = kNil;
      tape_.let_go(v, {});
    }
  }
  if (!names.empty()) out += "free" + names + "\n";
}

void Session::limit_history(Origin origin) {
  while (tape_.node_count() > options_.history) {
    const NodeId oldest = tape_.oldest();
    if (!warned_history_) {
      warned_history_ = true;
      // Whoever follows from the oldest line holds it.
      std::string holder = "a live name";
      for (NodeId n = oldest; n != kNil;) {
        NodeId next = kNil;
        for (const ValueId r : tape_.node(n).results) {
          if (r == kNil) continue;
          const Value& v = tape_.value(r);
          if (v.name != kNil && !v.internal) holder = symbols_[v.name].text;
          if (!v.uses.empty()) next = v.uses.back().node;
        }
        n = holder == "a live name" ? next : kNil;
      }
      warn("the history that '" + holder + "' holds is longer than " +
               std::to_string(options_.history) +
               " lines; the oldest are forgotten. If no gradient of it is "
               "wanted, write " +
               holder + " = detach " + holder,
           origin);
    }
    Lost why;
    why.kind = Lost::Kind::kForgotten;
    why.at = origin;
    tape_.forget(oldest, why);
  }
}

// ---- writing ---------------------------------------------------------------

std::string Session::at_note(Origin origin) const {
  const File& file = files_[origin.file()];
  if (!file.at || line_.note("at") != nullptr) return "";
  const std::string place = file.name + ":" + std::to_string(origin.line());
  const bool plain = place.find_first_of(" \t\"#\\") == std::string::npos;
  return " #at=" + (plain ? place : quote(place));
}

void Session::write_line(Origin origin, std::string& out) {
  append_instruction(out, line_);
  const std::string_view remark = line_.remark;
  line_.remark = {};
  append_notes(out, line_);
  line_.remark = remark;
  out += at_note(origin);
  if (!remark.empty()) {
    out += ' ';
    out += remark;
  }
  out += '\n';
}

void Session::finish() {
  if (!options_.tape) return;
  std::vector<NodeId> nodes;
  for (NodeId n = tape_.oldest(); n != kNil; n = tape_.node(n).newer) {
    nodes.push_back(n);
  }
  tape_text_ +=
      "# history at the end: " + std::to_string(nodes.size()) + " lines\n";
  print_tape(nodes, tape_text_);
}

}  // namespace gt

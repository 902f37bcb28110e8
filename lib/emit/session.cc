#include "emit/session.h"

#include <algorithm>
#include <unordered_set>

#include "base/hash.h"
#include "file/stored.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "stream/ranks.h"

namespace gt {
namespace {

constexpr size_t kMemos = 4096;  // a power of two
constexpr size_t kMemoText = 512;

// A filter's name, other than the one that programs may name as well. What a
// result is printed under counts: it names a register when the result is read.
bool has_internal_name(const Line& line, std::string_view allowed,
                       uint32_t& column, std::string_view& name) {
  const auto take = [&](std::string_view text, uint32_t at) {
    if (!is_internal_name(text) || text == allowed) return false;
    column = at;
    name = text;
    return true;
  };
  for (const Name& r : line.results) {
    if (take(r.text, r.column)) return true;
  }
  for (const Operand& o : line.operands) {
    if (o.kind == Operand::Kind::kName && take(o.text, o.column)) return true;
  }
  for (const Key& key : line.keys) {
    if (key.key == "as" && take(key.value, key.column)) return true;
  }
  return false;
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
  if (!options_.tape && pattern_.scan(line, ledger_.emitted)) {
    hash = hash_bytes(pattern_.key);
    memo = &memos_[hash % kMemos];
    if (feed_memo(line, origin, *memo, out)) return;
  }
  text_ = line;
  memorable_ = false;
  const Status parsed = parse_line(line, line_);
  if (!parsed.ok()) {
    line_.notes.clear();
    line_.remark = {};
    return reject(parsed.error(), origin, out);
  }
  if (line_.kind != Line::Kind::kInstruction) {
    // The reader takes one for the end of the line; the rest would be next.
    while (line.ends_with('\r')) line.remove_suffix(1);
    out += line;
    out += '\n';
    return;
  }
  instruction(origin, out);
  if (memo == nullptr || !memorable_) return;
  // Patterns that come once only are not worth the room.
  if (memo->seen == hash) remember(*memo, origin);
  memo->seen = hash;
}

void Session::reject_long(std::string_view head, Origin origin,
                          std::string& out) {
  text_ = head;
  line_.results.clear();
  line_.op = {};
  reject({"line is longer than 64 MiB; save large data as .npy and load it"},
         origin, out);
}

void Session::instruction(Origin origin, std::string& out) {
  uint32_t column = 0;
  std::string_view name;
  const Statement statement = statement_of(line_.op);
  const bool is_grad =
      statement == Statement::kGrad;  // of floats, which no seed is
  if (!ledger_.emitted &&
      has_internal_name(line_, is_grad ? "" : kSeedName, column, name)) {
    return reject({"names that begin with '_', as " + std::string(name) +
                       ", belong to the filters; choose another",
                   column},
                  origin, out);
  }
  if (is_declaration(statement)) return declare(origin, out);
  if (statement == Statement::kFree) return free_names(origin, out);
  if (is_grad) return grad(origin, out);
  if (statement == Statement::kFail) return bind_fail(origin, out);
  if (is_placed(line_)) return placed(origin, out);
  plain(origin, out);
}

bool Session::resolve(Origin origin, std::string& out) {
  operand_symbols_.clear();
  operand_values_.clear();
  operand_types_.clear();
  const Symbol* failed = nullptr;
  for (size_t i = 0; i < line_.operands.size(); ++i) {
    const Operand& o = line_.operands[i];
    operand_symbols_.push_back(kNil);
    operand_values_.push_back(kNil);
    operand_types_.push_back(nullptr);
    if (o.kind != Operand::Kind::kName) continue;
    const SymbolId id = ledger_.symbols.find(o.text);
    if (id == kNil || !ledger_.symbols[id].is_bound()) {
      reject(unknown_name(line_, i, o.text, ledger_.symbols.bound_names()),
             origin, out);
      return false;
    }
    if (ledger_.symbols[id].failed) {
      failed = &ledger_.symbols[id];
      continue;
    }
    operand_symbols_.back() = id;
    operand_values_.back() = ledger_.symbols[id].value;
    operand_types_.back() =
        &ledger_.types[ledger_.tape.type(ledger_.symbols[id].value)];
  }
  if (failed == nullptr) return true;
  if (line_.results.empty()) {
    pass_failed(origin, out);
  } else {
    const std::string message = failed->message;
    fail_results(message, origin, out);
  }
  return false;
}

// Print and save of a failure: it prints so. But for its type, which nobody
// knows, the line must be right; one that gt-emit wrote may save the failure
// of its own path, which has been told.
void Session::pass_failed(Origin origin, std::string& out) {
  static const Type kStandIn{Dtype::kF32, {}};
  for (size_t i = 0; i < line_.operands.size(); ++i) {
    const bool name = line_.operands[i].kind == Operand::Kind::kName;
    if (name && operand_types_[i] == nullptr) operand_types_[i] = &kStandIn;
  }
  const Status s = gt::bind(line_, operand_types_, call_);
  if (!s.ok() && !ledger_.emitted) return reject(s.error(), origin, out);
  write_line(origin, out);
}

Status Session::check_results() const {
  const auto overlap = [](const Name& a, const Name& b) {
    if (a.ranks == b.ranks) return true;
    const auto x = parse_ranks(a.ranks);
    const auto y = parse_ranks(b.ranks);
    return x.ok() && y.ok() &&
           !common(ascending(x.value()), ascending(y.value())).empty();
  };
  for (size_t i = 0; i < line_.results.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (line_.results[i].text == line_.results[j].text &&
          overlap(line_.results[i], line_.results[j])) {
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
  completion_.clear();
  if (names_seed() && !ledger_.emitted) begin_seeds(out);
  if (Status s = complete(out); !s.ok()) return reject(s.error(), origin, out);
  // An unknown op is said before an unknown name.
  if (find_op(line_.op) == nullptr) {
    return reject(unknown_op(line_), origin, out);
  }
  if (!resolve(origin, out)) return;
  if (Status s = gt::bind(line_, operand_types_, call_); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  if (Status s = check_seed(call_.results); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  if (add_results(call_)) {
    GT_CHECK(gt::bind(line_, operand_types_, call_).ok());
  }
  line_out_.clear();
  write_line(origin, line_out_);
  // What gradient lines are made from later is the line that was written.
  record(call_, origin);
  bind_results(origin);
  out += before_;
  out += line_out_;
  note_saved();
  ledger_.write_idle_frees(out);
  const Statement statement = call_.op->row->statement;
  if (!completion_.empty() && statement != Statement::kLoad) {
    advance_seed(origin, out);
  }
  limit_history(origin);
  memorable_ = completion_.empty() && added_.empty() &&
               !line_.results.empty() && statement == Statement::kCompute;
}

void Session::bind_results(Origin origin) {
  const size_t own = line_.results.size() - added_.size();
  for (size_t r = 0; r < line_.results.size(); ++r) {
    const Name& name = line_.results[r];
    const ValueId value = result_values_[r];
    let_go_seed(name.text, name.ranks);
    if (r >= own) {
      ledger_.hold_internal(value, name.text, origin);
      ledger_.tape.let_be(value);
    } else if (name.ranks.empty()) {
      ledger_.bind(ledger_.symbols.intern(name.text), value, origin, before_);
    } else {
      ledger_.bind_piece(name.text, ascending(where_.ranks), value, false,
                         origin, before_);
    }
  }
}

// Operands that the user left to gt-emit: the seed, the type of a load.
Status Session::complete(std::string& out) {
  const Op* op = find_op(line_.op);
  if (op == nullptr) return ok_status();
  if (op->row->statement == Statement::kLoad) return complete_load();
  const size_t at = line_.operands.size();
  if (!op->is_seed(at)) return ok_status();
  begin_seeds(out);
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
  if (const auto it = saved_.find(normal_path(unquote(line_.operands[0].text)));
      it != saved_.end()) {
    completion_ = to_string(it->second);
  } else {
    const auto header = read_stored(split_path(path), headers_);
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
  if (call_.op->row->statement != Statement::kSave) return;
  saved_[normal_path(unquote(call_.arguments[1].text))] =
      call_.arguments[0].type;
}

void Session::declare(Origin origin, std::string& out) {
  if (Status s = ledger_.meshes.take(line_); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  write_line(origin, out);
}

// ---- writing ---------------------------------------------------------------

std::string Session::at_note(Origin origin) const {
  const File& file = files_[origin.file()];
  if (!file.at || ledger_.emitted || line_.note("at") != nullptr) return "";
  const std::string place = file.name + ":" + std::to_string(origin.line());
  const bool plain = place.find_first_of(" \t\"#\\") == std::string::npos;
  return " #at=" + (plain ? place : quote(place));
}

void Session::write_line(Origin origin, std::string& out) {
  append_instruction(out, line_);
  write_tail(origin, out);
}

// Notes, the place and the remark.
void Session::write_tail(Origin origin, std::string& out) {
  const std::string_view remark = std::exchange(line_.remark, {});
  append_notes(out, line_);
  line_.remark = remark;
  out += at_note(origin);
  if (!remark.empty()) {
    out += ' ';
    out += remark;
  }
  out += '\n';
}

void Session::state(std::string& text, const PlaceVisitor& visit) {
  text.clear();
  ledger_.state(text, visit);
  for (const auto& [path, type] : saved_) {
    text += path + " " + to_string(type) + "\n";
  }
  text += warned_history_ ? "warned" : "";
}

void Session::finish() {
  if (!options_.tape) return;
  const std::vector<NodeId> nodes = ledger_.tape.nodes_by_age();
  tape_text_ +=
      "# history at the end: " + std::to_string(nodes.size()) + " lines\n";
  print_tape(nodes, tape_text_);
}

}  // namespace gt

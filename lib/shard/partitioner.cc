#include "shard/partitioner.h"

#include <algorithm>

#include "base/message.h"
#include "base/text.h"
#include "ops/families.h"
#include "ops/shape_rules.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "spmd/labels.h"
#include "spmd/placed.h"
#include "spmd/stated.h"
#include "stream/notes.h"
#include "stream/ranks.h"

namespace gt {
namespace {

// A name of the input, _s12, that is no number of ours.
constexpr size_t kMostForeign = size_t{1} << 20;

// "c1/" of "c1/w".
std::string space_of(const Line& line) {
  const std::string_view name = space_name(line);
  const size_t slash = name.find('/');
  return slash == name.npos ? "" : std::string(name.substr(0, slash + 1));
}

// Notes that inserted lines share with the line they serve.
std::string shared_notes(const Line& line) {
  std::string out;
  for (const Note& note : line.notes) {
    if (note.key != "signal" && note.key != "mb" && note.key != "bwd" &&
        note.key != "at") {
      continue;
    }
    out += " #" + std::string(note.key);
    if (!note.value.empty()) out += "=" + std::string(note.value);
  }
  return out;
}

}  // namespace

Partitioner::Partitioner(const Config& config,
                         std::function<void(const std::string&)> explain,
                         PlanCache* shared)
    : config_(config),
      cluster_(config.mesh()),
      explain_(std::move(explain)),
      plans_(shared != nullptr ? *shared : own_plans_) {}

Status Partitioner::take(std::string_view text, std::string& out) {
  Line line;
  if (Status s = parse_line(text, line); !s.ok()) {
    ++messages_;
    return s;
  }
  const bool is_own = line.kind == Line::Kind::kInstruction &&
                      !config_.is_empty() &&
                      (!is_placed(line) || !check_mixed(line).ok());
  out_ = &out;
  space_ = space_of(line);
  if (line.kind == Line::Kind::kInstruction && !config_.is_empty()) {
    respect(line);
  }
  if (!is_own || is_declaration(statement_of(line.op))) {
    return pass(line, text);
  }
  notes_ = shared_notes(line);
  claims_ = take_claims(line);
  plans_.trim();
  Status done = instruction(line, text);
  costs_.peak_bytes = static_cast<double>(memory_.most());
  if (!done.ok() || explain_) ++messages_;
  if (explain_) explain_(explained_ + created_);
  explained_.clear();
  created_.clear();
  return done;
}

// Placed lines mean the axes that they came with.
Status Partitioner::pass(const Line& line, std::string_view text) {
  std::string& out = *out_;
  // Of which files, only its ranks tell.
  const Statement statement = statement_of(line.op);
  if (statement == Statement::kSave) create_all_loads();
  if (is_declaration(statement)) {
    has_mesh_ = split_notes(text).text == "mesh " + config_.mesh().describe();
    input_mesh_ = has_mesh_ ? "" : text;
  } else if (has_mesh_ && !input_mesh_.empty() && is_placed(line)) {
    has_mesh_ = false;
    out += input_mesh_ + "\n";
  }
  out += text;
  out += '\n';
  if (!is_placed(line)) return ok_status();
  if (Status s = check_mixed(line); !s.ok()) {
    ++messages_;
    return s;
  }
  for (const Name& name : line.results) {
    if (find(name.text) == nullptr) continue;
    ++messages_;
    return Error{"'" + std::string(name.text) +
                     "' was bound without ranks, and gt-shard gave it some; "
                     "free it first, or take another name",
                 name.column};
  }
  return ok_status();
}

Status Partitioner::instruction(const Line& line, std::string_view text) {
  if (is_placed(line)) return reject_mixed(line, check_mixed(line).error());
  if (Status s = check_emitted(line); !s.ok()) return reject(line, s.error());
  Work work{line, text, {}, {}, {}, false, false, 0, {}, {}, 0, nullptr};
  // As gt-emit and the workers, which say an unknown op before a name.
  if (find_op(line.op) == nullptr) return reject(line, unknown_op(line));
  if (Status s = find_values(work); !s.ok()) return reject(line, s.error());
  const Statement statement = statement_of(line.op);
  if (statement == Statement::kFree) {
    release(line);
    return ok_status();
  }
  if (statement == Statement::kFail) {
    if (Status s = check_failure(line); !s.ok()) return reject(line, s.error());
  }
  if (statement == Statement::kFail || fails(work)) {
    fail(work);
    return ok_status();
  }
  std::vector<const Type*> types;
  for (const ShardValuePtr& value : work.values) {
    types.push_back(value == nullptr ? nullptr : &value->type);
  }
  if (Status s = gt::bind(line, types, work.call); !s.ok()) {
    return reject(line, s.error());
  }
  if (Status s = find_scope(work); !s.ok()) return reject(line, s.error());
  has_rewritten_ = true;
  if (depth_ == 0) work.wish = wished_cuts(claims_);
  regathers_ = work.scope.regather.value_or(config_.regather());
  if (is_output(statement)) return output(work);
  if (can_hold(work)) {
    hold(work);
  } else {
    run(work);
  }
  write_frees();
  return ok_status();
}

Status Partitioner::find_values(Work& work) const {
  for (size_t i = 0; i < work.line.operands.size(); ++i) {
    const Operand& o = work.line.operands[i];
    work.values.push_back(nullptr);
    if (!is_name(o)) continue;
    work.values.back() = find(o.text);
    if (work.values.back() != nullptr) continue;
    std::vector<std::string_view> known;
    for (const auto& [name, value] : names_) known.push_back(name);
    return unknown_name(work.line, i, o.text, known);
  }
  return ok_status();
}

// What the config says of the line: by its signal, and by its result's name.
Status Partitioner::find_scope(Work& work) const {
  work.is_backward = work.line.note("bwd") != nullptr;
  if (const std::string_view* signal = work.line.note("signal")) {
    auto scope = config_.find(unquote(*signal), work.is_backward);
    if (!scope.ok()) return scope.error();
    work.scope = std::move(scope.value());
  }
  if (work.line.results.empty()) return ok_status();
  if (const Scope* named = config_.tensor(work.line.results[0].text)) {
    if (named->shard) work.scope.shard = named->shard;
    work.is_named = named->shard.has_value();
    if (named->results) work.scope.results = named->results;
    if (named->ranks) work.scope.ranks = named->ranks;
    if (named->compile) work.scope.compile = named->compile;
    if (named->regather) work.scope.regather = named->regather;
  }
  return ok_status();
}

void Partitioner::run(Work& work) {
  choose(work);
  if (work.call.op->row->collective == Collective::kCopy && !work.pin &&
      work.line.note("grad") == nullptr && work.values[0] != nullptr &&
      work.plan().moving == 0) {
    return share(work);
  }
  if (reshape_instead(work)) return;
  if (is_better_expanded(work)) {
    const size_t begin = out_->size();
    expand(work);
    settle(work);
    explain_result(work, std::string_view(*out_).substr(begin));
  } else {
    write_planned(work);
    explain_result(work, "");
  }
}

// Which dimensions a squeeze drops shows in the whole alone: a piece may have
// size 1 where the whole has not.
bool Partitioner::reshape_instead(const Work& work) {
  if (work.line.op != "squeeze" || work.plan().results[0].cuts.empty()) {
    return false;
  }
  Line line = work.line;
  const std::string shape = list_text(work.call.results[0].shape);
  line.op = "reshape";
  line.keys = {{"shape", shape, 0}};
  std::string text;
  append_line(text, line);
  GT_CHECK(parse_line(text, line).ok());
  const Status done = instruction(line, text);
  GT_CHECK(done.ok());
  return true;
}

// A second name of one value.
void Partitioner::share(const Work& work) {
  const ShardValuePtr value = work.values[0];
  const std::string name(work.line.results[0].text);
  if (value->held != nullptr) create_default(value);
  if (find(name) == value) {
    return;  // x = copy x
  }
  keep_for_readers(name);
  write(work.line, {value->own_name()},
        {value->copies[0].layout.set, "", "", ""});
  holds(name, value->copies[0].layout, value->type);
  line_ends();
  unbind(name);
  bind(name, value);
}

// ---- names
// -------------------------------------------------------------------

ShardValuePtr Partitioner::find(std::string_view name) const {
  const auto it = names_.find(std::string(name));
  return it == names_.end() ? nullptr : it->second;
}

void Partitioner::bind(const std::string& name, const ShardValuePtr& value) {
  names_[name] = value;
  value->names.push_back(name);
}

// The name holds its value no more; what was kept of it goes with the last.
void Partitioner::unbind(const std::string& name) {
  const auto it = names_.find(name);
  if (it == names_.end()) return;
  const ShardValuePtr value = it->second;
  names_.erase(it);
  std::erase(value->names, name);
  if (!value->names.empty() || value->held_readers > 0) return;
  if (value->held != nullptr) {
    for (const ShardValuePtr& operand : value->held->operands) {
      if (operand != nullptr) stop_reading(operand);
    }
    value->held = nullptr;
  }
  for (const ShardCopy& copy : value->copies) {
    if (!copy.name.empty()) free_later(copy.name, copy.layout.set);
  }
  value->copies.clear();
}

std::string Partitioner::new_name() {
  return space_ + "_s" + std::to_string(numbers_.take());
}

// A name of the input that looks like one of ours is the input's.
void Partitioner::respect(const Line& line) {
  for (const Name& name : line.results) {
    const size_t slash = name.text.rfind('/') + 1;  // npos + 1 is 0
    const std::string_view own = name.text.substr(slash);
    size_t number = 0;
    if (!own.starts_with("_s") || !read_number(own.substr(2), number) ||
        number > kMostForeign || !foreign_.insert(number).second) {
      continue;
    }
    if (numbers_.is_used(number)) move_away(number);
    numbers_.keep(number);
  }
}

// What we hold under that number gets another.
void Partitioner::move_away(size_t number) {
  std::set<ShardValue*> seen;
  const auto move = [&](std::string& name, const Layout& layout,
                        const Type& type) {
    if (name.empty() || number_of(name) != number) return;
    const std::string ranks = "@" + cluster_.ranks_text(layout.set);
    const std::string to = name.substr(0, name.rfind("_s")) + "_s" +
                           std::to_string(numbers_.take());
    *out_ += to + ranks + " = copy " + name + ranks + "\nfree " + name + ranks +
             "\n";
    holds(to, layout, type);
    line_ends();
    lets_go(name, cluster_.ranks(layout.set));
    name = to;
  };
  const auto visit = [&](const auto& self, const ShardValuePtr& value) -> void {
    if (value == nullptr || !seen.insert(value.get()).second) return;
    for (ShardCopy& copy : value->copies) {
      move(copy.name, copy.layout, value->type);
    }
    if (value->held == nullptr) {
      if (!value->copies.empty()) {
        move(value->hidden, value->copies[0].layout, value->type);
      }
      return;
    }
    for (const ShardValuePtr& operand : value->held->operands) {
      self(self, operand);
    }
  };
  declare_mesh();
  for (const auto& [name, value] : names_) visit(visit, value);
}

size_t Partitioner::number_of(const std::string& name) {
  size_t number = 0;
  GT_CHECK(
      read_number(std::string_view(name).substr(name.rfind("_s") + 2), number));
  return number;
}

void Partitioner::free_later(const std::string& name, uint32_t set) {
  frees_.emplace_back(name, set);
}

void Partitioner::write_frees() {
  std::map<uint32_t, std::string> by_set;
  for (const auto& [name, set] : frees_) {
    by_set[set] += " " + name + "@" + cluster_.ranks_text(set);
    lets_go(name, cluster_.ranks(set));
    numbers_.give(number_of(name));
  }
  frees_.clear();
  for (const auto& [set, names] : by_set) *out_ += "free" + names + "\n";
}

// Copies that were for one line.
void Partitioner::drop_copies(const ShardValuePtr& value) {
  std::erase_if(value->copies, [&](const ShardCopy& copy) {
    const bool drop = std::find(passing_names_.begin(), passing_names_.end(),
                                copy.name) != passing_names_.end() &&
                      !copy.name.empty();
    if (drop) free_later(copy.name, copy.layout.set);
    return drop;
  });
}

void Partitioner::state(std::string& text, const PlaceVisitor& /*visit*/) {
  std::map<std::string, const ShardValue*> sorted;
  for (const auto& [name, value] : names_) sorted[name] = value.get();
  std::map<const ShardValue*, size_t> number;
  std::string& out = text;
  out.clear();
  const auto describe = [&](const auto& self, const ShardValue& value) -> void {
    const auto [it, is_new] = number.try_emplace(&value, number.size());
    out += " #" + std::to_string(it->second);
    if (!is_new) return;
    out += to_string(value.type) + (value.is_source ? "s" : "") +
           (value.is_failed ? "f" + value.message : "") + value.hidden +
           std::to_string(value.held_readers);
    for (const std::string& name : value.names) out += "," + name;
    for (const ShardCopy& copy : value.copies) {
      out += " " + copy.name + "=" + cluster_.describe(copy.layout) + ";" +
             cluster_.split_text(copy.layout);
    }
    if (value.held == nullptr) return;
    out += "{" + value.held->text;
    for (const ShardValuePtr& operand : value.held->operands) {
      if (operand != nullptr) self(self, *operand);
    }
    out += "}";
  };
  for (const auto& [name, value] : sorted) {
    out += name;
    describe(describe, *value);
    out += '\n';
  }
  for (const auto& [shape, layout] : summed_) {
    out += "sum " + shape + "=" + cluster_.split_text(layout) + "\n";
  }
  for (const bool used : numbers_.used()) out += used ? '1' : '0';
  out += has_mesh_ ? "m" : "";
  out += input_mesh_;
}

}  // namespace gt

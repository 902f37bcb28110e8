#include "check/checker.h"

#include <algorithm>

#include "base/hash.h"
#include "base/message.h"
#include "check/remedies.h"
#include "ops/call.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "spmd/labels.h"
#include "spmd/rank_set.h"
#include "spmd/stated.h"
#include "stream/ranks.h"

namespace gt::check {

bool Checker::holds(const Checked& entry) const {
  return entry.mesh_version == meshes_.version() &&
         std::all_of(entry.reads.begin(), entry.reads.end(),
                     [this](const Checked::Use& use) {
                       return registers_[use.name].stamp == use.stamp;
                     });
}

bool Checker::is_dead(const Checked& entry) const {
  return entry.mesh_version != meshes_.version() ||
         std::any_of(entry.reads.begin(), entry.reads.end(),
                     [this](const Checked::Use& use) {
                       return registers_[use.name].stamp.generation !=
                              use.stamp.generation;
                     });
}

const Checker::Checked& Checker::take(std::string_view text) {
  const uint64_t hash = hash_bytes(text);
  Checked* known = known_.find(
      hash, text, [this](const Checked& entry) { return holds(entry); });
  if (known != nullptr) {
    apply(*known);
    known->is_new = false;
    return *known;
  }
  if (registers_.is_large()) {
    known_.clear();
    registers_.forget_dead();
  }
  registers_.begin_line();
  entry_ = Checked{};
  entry_.text = text;
  check(reading_, entry_);
  entry_.mesh_version = meshes_.version();
  apply(entry_);
  if (!entry_.once && known_.wants(hash, text)) {
    known_.insert(hash, std::make_unique<Checked>(entry_),
                  [this](const Checked& entry) { return is_dead(entry); });
  }
  return entry_;
}

void Checker::apply(const Checked& entry) {
  if (footprint_ != nullptr) {
    for (const Checked::Use& use : entry.reads) footprint_->read(use.name);
    for (const Checked::Write& write : entry.writes) {
      footprint_->gain(registers_.parts(write.stamp.type), write.ranks);
    }
    for (const Checked::Write& write : entry.writes) {
      footprint_->lose(registers_.parts(registers_.content(write.name)),
                       write.ranks);
      registers_.set(write.name, write.stamp.type);
    }
    if (!entry.transfers.empty()) {
      footprint_->send(entry.writes[0].name, entry.transfers);
    }
    return;
  }
  for (const Checked::Write& write : entry.writes) {
    registers_.set(write.name, write.stamp.type);
  }
}

// Finds what a copy sends: each piece to the rank at the same position, or the
// only one to all.
void Checker::find_transfers(const Reading& in, const LineRanks& where,
                             Checked& entry) {
  const std::vector<int64_t>& from = where.operands[0];
  const ShardedValue& value = *in.values[0];
  for (size_t p = 0; p < where.ranks.size(); ++p) {
    const int64_t source = from[from.size() == 1 ? 0 : p];
    const size_t i = position_of(source, value.ranks);
    if (source == where.ranks[p] || i >= value.pieces.size()) continue;
    entry.transfers.push_back(
        {source, where.ranks[p], value.pieces[i].bytes()});
  }
}

void Checker::fail(const char* kind, const Error& error, Checked& entry) {
  entry.problems.push_back({kind, "", error.message, "", {}, error.column});
}

void Checker::check(Reading& in, Checked& entry) {
  in.names = AxisNames();
  in.values.clear();
  in.operands.clear();
  in.target.reset();
  entry.noted = entry.text;
  if (Status s = parse_line(entry.text, in.line); !s.ok()) {
    entry.is_unreadable = true;
    entry.error = s.error();
    return;
  }
  if (in.line.kind != Line::Kind::kInstruction) return;
  entry.op = in.line.op;
  if (const std::string_view* at = in.line.note("at")) entry.at = unquote(*at);
  const Statement statement = statement_of(in.line.op);
  if (is_declaration(statement)) {
    entry.once = true;
    if (Status s = meshes_.take(in.line); !s.ok()) {
      entry.is_unreadable = true;
      entry.error = s.error();
    }
    if (statement != Statement::kEndmesh) note_axes(in);
    return;
  }
  in.names = AxisNames(meshes_.all_of(space_name(in.line)));
  check_instruction(in, statement, entry);
}

void Checker::note_axes(const Reading& in) {
  for (const Key& key : in.line.keys) {
    if (key.key != "space") axes_.emplace(key.key);
  }
}

void Checker::check_instruction(Reading& in, Statement statement,
                                Checked& entry) {
  const bool placed = is_placed(in.line);
  // Without a mesh only which names exist matters.
  if (!placed && in.names.mesh() == nullptr) {
    return statement == Statement::kFree ? release(in, nullptr, entry)
                                         : write_results(in, {}, entry);
  }
  std::optional<LineRanks> where;
  if (placed) {
    auto ranks = line_ranks(in.line);
    if (!ranks.ok()) {
      fail("ranks", ranks.error(), entry);
      return write_results(in, {}, entry);
    }
    where = std::move(ranks.value());
    if (!Grid::make(in.names.mesh(), where->ranks).ok()) in.names = AxisNames();
  }
  const LineRanks* at = where.has_value() ? &*where : nullptr;
  if (statement == Statement::kFree) return release(in, at, entry);
  if (find_op(in.line.op) == nullptr) {
    fail("opaque", unknown_op(in.line), entry);
    return write_results(in, {}, entry);
  }
  if (!read_operands(in, at, entry) || statement == Statement::kFail) {
    return write_results(in, {}, entry);
  }
  find_target(in, at, entry);
  TypeFaults faults;
  const LineToType line{in.line,
                        at,
                        in.names,
                        in.operands,
                        in.target.has_value() ? &*in.target : nullptr,
                        mode_};
  const ReadLine read(line, faults);
  const Inferred made = infer(read, std::move(faults));
  for (const TypeFault& fault : made.faults) {
    entry.problems.push_back(in_words(read, fault));
    entry.problems.back().fixes = remedies(read, fault);
  }
  for (const Remark& remark : made.remarks) {
    entry.remarks.push_back(in_words(read, remark));
  }
  if (traces_) entry.trace = trace_of(in, made.results);
  if (!entry.problems.empty()) entry.types = types_of(in);
  annotate(in, made.results, entry);
  write_results(in, made.results, entry);
  const bool fits = where.has_value() && !where->operands.empty() &&
                    (where->operands[0].size() == 1 ||
                     where->operands[0].size() == where->ranks.size());
  const bool copies = collective_of(in.line.op) == Collective::kCopy;
  if (copies && fits && in.values[0].has_value()) {
    find_transfers(in, *where, entry);
  }
}

// ---- names ------------------------------------------------------------------

SymbolId Checker::note_read(std::string_view name, Checked& entry) {
  const SymbolId id = registers_.obtain(name);
  if (!registers_[id].is_live()) registers_.set(id, kNoType);
  entry.reads.push_back({id, registers_[id].stamp});
  return id;
}

bool Checker::read_operands(Reading& in, const LineRanks* where,
                            Checked& entry) {
  in.values.assign(in.line.operands.size(), std::nullopt);
  in.operands.assign(in.line.operands.size(), nullptr);
  static const ShardedValue unknown;
  const std::vector<int64_t> none;
  for (size_t o = 0; o < in.line.operands.size(); ++o) {
    const Operand& operand = in.line.operands[o];
    if (!is_name(operand)) continue;
    const SymbolId name = note_read(operand.text, entry);
    const auto& ranks =
        where == nullptr ? none : ranks_read(in.line, *where, o);
    in.values[o] = registers_.read(name, ranks, in.names);
    in.operands[o] = in.values[o].has_value() ? &*in.values[o] : &unknown;
    if (in.values[o].has_value()) continue;
    fail_unbound(in.line, o, ranks, entry);
    return false;
  }
  return true;
}

void Checker::fail_unbound(const Line& line, size_t operand,
                           const std::vector<int64_t>& ranks,
                           Checked& entry) const {
  const std::vector<std::string> known = registers_.some_full_names();
  fail("unbound",
       unknown_name(line, operand, ascending(ranks),
                    {known.begin(), known.end()}),
       entry);
}

void Checker::find_target(Reading& in, const LineRanks* where, Checked& entry) {
  const std::string_view* note = in.line.note("grad");
  if (note == nullptr || in.line.results.empty()) return;
  const SymbolId name = note_read(unquote(*note), entry);
  const Ranks ranks = where == nullptr ? Ranks{} : ascending(where->ranks);
  for (const ShardedValue& part : registers_.parts(registers_.content(name))) {
    // A value on other ranks, or in parts that were bound separately, is cut
    // otherwise.
    if (ascending(part.ranks) == ranks) {
      in.target = registers_.read(name, ranks, in.names);
    }
  }
}

void Checker::release(const Reading& in, const LineRanks* where,
                      Checked& entry) {
  Call call;
  if (Status s = bind_free(in.line, call); !s.ok()) {
    fail("shape", s.error(), entry);
    return write_results(in, {}, entry);
  }
  for (size_t o = 0; o < in.line.operands.size(); ++o) {
    const Operand& operand = in.line.operands[o];
    if (operand.kind == Operand::Kind::kGlob) {
      entry.once = true;
      registers_.release(operand.text, [this](Content held) {
        if (footprint_ == nullptr) return;
        for (const ShardedValue& part : registers_.parts(held)) {
          footprint_->lose({part}, part.ranks);
        }
      });
    }
    if (!is_name(operand)) continue;
    const SymbolId name = note_read(operand.text, entry);
    const std::vector<int64_t> none;
    const auto& ranks = where == nullptr ? none : where->operands[o];
    const bool counts = where != nullptr || in.names.mesh() != nullptr;
    if (counts && !registers_.read(name, ranks, in.names)) {
      fail_unbound(in.line, o, ranks, entry);
    }
    const Content rest = registers_.without(registers_.content(name), ranks);
    entry.writes.push_back({{name, {rest, 0}}, ranks});
  }
}

// True if the line copies what a name holds on some ranks to that name on
// others: "w@1 = copy w@0".
bool Checker::spreads_own_value(const Reading& in) {
  return in.line.results.size() == 1 && in.operands.size() == 1 &&
         in.operands[0] != nullptr && !in.line.results[0].ranks.empty() &&
         in.line.operands[0].text == in.line.results[0].text &&
         collective_of(in.line.op) == Collective::kCopy;
}

// Binds the line's results. Those without a value in `results` get a value of
// unknown type.
void Checker::write_results(const Reading& in,
                            const std::vector<ShardedValue>& results,
                            Checked& entry) {
  for (size_t r = 0; r < in.line.results.size(); ++r) {
    ShardedValue value;
    const Name& name = in.line.results[r];
    if (r < results.size()) {
      value = results[r];
    } else if (const auto ranks = parse_ranks(name.ranks);
               !name.ranks.empty() && ranks.ok()) {
      value.ranks = ranks.value();
    }
    const SymbolId id = note_read(name.text, entry);
    Content before = registers_.content(id);
    // A name may stand twice among the results; the last one stays.
    for (const Checked::Write& use : entry.writes) {
      if (use.name == id) before = use.stamp.type;
    }
    const Content after =
        spreads_own_value(in)
            ? registers_.with_copy(before, in.operands[0]->ranks, value,
                                   in.names)
            : registers_.with(before, value);
    entry.writes.push_back({{id, {after, 0}}, value.ranks});
  }
}

void Checker::declare(std::string_view name, const ShardedValue& value) {
  const SymbolId id = registers_.obtain(name);
  registers_.set(id, registers_.with(registers_.content(id), value));
}

const ShardedValue* Checker::value_of(std::string_view name) {
  const auto& parts =
      registers_.parts(registers_.content(registers_.obtain(name)));
  return parts.empty() ? nullptr : parts.data();
}

// ---- what is written and told -----------------------------------------------

namespace {

bool are_alike(const std::vector<std::string>& texts) {
  return std::all_of(texts.begin(), texts.end(),
                     [&](const std::string& t) { return t == texts[0]; });
}

// Returns a text with a part for each result, as part_of_result() reads it.
std::string parts_text(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    out += (&text == texts.data() ? "" : ";") + text;
  }
  return out;
}

}  // namespace

void Checker::annotate(Reading& in, const std::vector<ShardedValue>& results,
                       Checked& entry) {
  if (results.empty() || in.line.results.empty()) return;
  std::vector<std::string> types(in.line.results.size());
  std::vector<std::string> specs(in.line.results.size());
  for (size_t r = 0; r < std::min(results.size(), types.size()); ++r) {
    if (results[r].state != ShardedValue::State::kTyped) continue;
    types[r] = in.names.type_text(results[r].type);
    if (!types[r].empty()) specs[r] = in.names.spec_text(results[r].type);
  }
  // One type may stand for all results; a spec has a part for each.
  const std::string type = are_alike(types) ? types[0] : parts_text(types);
  const std::string spec =
      are_alike(specs) && specs[0].empty() ? "" : parts_text(specs);
  if (type.empty()) return;
  const std::string_view* old_type = in.line.note("type");
  const std::string_view* old_spec = in.line.note("spec");
  const bool same = old_type != nullptr && *old_type == type &&
                    (old_spec == nullptr ? spec.empty() : *old_spec == spec);
  if (same) return;
  std::vector<Note> notes;
  bool done = false;
  const auto put = [&] {
    if (!done) notes.push_back({"type", type});
    if (!done && !spec.empty()) notes.push_back({"spec", spec});
    done = true;
  };
  for (const Note& note : in.line.notes) {
    if (note.key == "type" || note.key == "spec") {
      put();
    } else {
      notes.push_back(note);
    }
  }
  put();
  in.line.notes = std::move(notes);
  entry.noted.clear();
  append_line(entry.noted, in.line);
}

std::string Checker::trace_of(const Reading& in,
                              const std::vector<ShardedValue>& results) {
  std::string text = std::string(in.line.op) + "(";
  bool first = true;
  for (const ShardedValue* value : in.operands) {
    if (value == nullptr) continue;
    text += (first ? "" : ", ") + in.names.describe(value->type);
    first = false;
  }
  text += ") -> ";
  for (const ShardedValue& result : results) {
    text += (&result == results.data() ? "" : ", ") +
            in.names.describe(result.type);
  }
  return text;
}

std::string Checker::types_of(const Reading& in) {
  std::string text;
  for (size_t o = 0; o < in.line.operands.size(); ++o) {
    if (in.operands[o] == nullptr) continue;
    const ShardedValue& value = *in.operands[o];
    text += (text.empty() ? "" : "   ") +
            std::string(in.line.operands[o].text) +
            (value.pieces.empty() ? "" : " " + to_string(value.pieces[0])) +
            " " + in.names.describe(value.type);
  }
  if (in.names.mesh() == nullptr) return text;
  return text + "   under mesh {" + in.names.mesh()->describe() + "}";
}

}  // namespace gt::check

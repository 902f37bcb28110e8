#include "check/checker.h"

#include <algorithm>

#include "base/hash.h"
#include "base/message.h"
#include "check/remedies.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "spmd/labels.h"
#include "spmd/rank_set.h"
#include "spmd/stated.h"
#include "stream/ranks.h"

namespace gt {

bool Checker::holds(const Checked& entry, uint64_t version) {
  return entry.mesh_version == version &&
         std::all_of(entry.reads.begin(), entry.reads.end(),
                     [](const Checked::Use& use) {
                       return use.slot->content == use.content;
                     });
}

const Checker::Checked& Checker::take(std::string_view text) {
  const uint64_t hash = hash_bytes(text);
  Known* known = known_.find(hash, text);
  if (known != nullptr) {
    for (const auto& variant : known->variants) {
      if (!holds(*variant, meshes_.version())) continue;
      apply(*variant);
      variant->is_new = false;
      return *variant;
    }
  }
  if (registers_.is_large()) {
    known_.for_each([](Known* entry) { delete entry; });
    known_.forget();
    known = nullptr;
    registers_.forget_dead();
  }
  entry_ = Checked{};
  entry_.text = text;
  check(entry_);
  entry_.mesh_version = meshes_.version();
  apply(entry_);
  // A line is kept when it comes for the second time.
  if (text.size() <= kMaxText && !entry_.once && seen_.before(hash)) {
    keep(hash, known);
  }
  return entry_;
}

// The oldest variant goes when there are too many.
void Checker::keep(uint64_t hash, Known* known) {
  if (known == nullptr) {
    auto fresh = std::make_unique<Known>();
    fresh->text = entry_.text;
    known = fresh.get();
    known_.insert(hash, std::move(fresh));
  }
  auto& variants = known->variants;
  if (variants.size() == kMaxVariants) variants.erase(variants.begin());
  variants.push_back(std::make_unique<Checked>(entry_));
}

void Checker::apply(const Checked& entry) {
  if (footprint_ != nullptr) {
    for (const Checked::Use& use : entry.reads) footprint_->read(use.slot);
    for (const Checked::Write& write : entry.writes) {
      footprint_->gain(registers_.parts(write.content), write.ranks);
    }
    for (const Checked::Write& write : entry.writes) {
      footprint_->lose(registers_.parts(write.slot->content), write.ranks);
      registers_.set(write.slot, write.content);
    }
    if (!entry.transfers.empty()) {
      footprint_->send(entry.writes[0].slot, entry.transfers);
    }
    return;
  }
  for (const Checked::Write& write : entry.writes) {
    registers_.set(write.slot, write.content);
  }
}

// What a copy sends: to the rank at the same position, or from the only one.
void Checker::find_transfers(const LineRanks& where, Checked& entry) {
  const std::vector<int64_t>& from = where.operands[0];
  const ShardedValue& value = *values_[0];
  for (size_t p = 0; p < where.ranks.size(); ++p) {
    const int64_t source = from[from.size() == 1 ? 0 : p];
    const size_t i = position_of(source, value.ranks);
    if (source == where.ranks[p] || i >= value.pieces.size()) continue;
    entry.transfers.push_back(
        {source, where.ranks[p], value.pieces[i].bytes()});
  }
}

void Checker::fail(const char* kind, const Error& error, Checked& entry) {
  entry.problems.push_back({kind, "", error.message, "", {}});
}

void Checker::check(Checked& entry) {
  entry.noted = entry.text;
  if (Status s = parse_line(entry.text, line_); !s.ok()) {
    entry.is_unreadable = true;
    entry.error = s.error();
    return;
  }
  if (line_.kind != Line::Kind::kInstruction) return;
  entry.op = line_.op;
  if (const std::string_view* at = line_.note("at")) entry.at = unquote(*at);
  const Statement statement = statement_of(line_.op);
  if (is_declaration(statement)) {
    entry.once = true;
    if (Status s = meshes_.take(line_); !s.ok()) {
      entry.is_unreadable = true;
      entry.error = s.error();
    }
    if (statement != Statement::kEndmesh) note_axes();
    return;
  }
  names_ = AxisNames(meshes_.all_of(space_name(line_)));
  check_instruction(statement, entry);
}

void Checker::note_axes() {
  for (const Key& key : line_.keys) {
    if (key.key != "space") axes_.emplace(key.key);
  }
}

void Checker::check_instruction(Statement statement, Checked& entry) {
  // Of the line before this one; not every line's operands are looked up.
  values_.clear();
  operands_.clear();
  const bool placed = is_placed(line_);
  // Without a mesh all that counts is which names there are.
  if (!placed && names_.mesh() == nullptr) {
    return statement == Statement::kFree ? release(nullptr, entry)
                                         : write_results({}, entry);
  }
  std::optional<LineRanks> where;
  if (placed) {
    auto ranks = line_ranks(line_);
    if (!ranks.ok()) {
      fail("ranks", ranks.error(), entry);
      return write_results({}, entry);
    }
    where = std::move(ranks.value());
    if (!Grid::make(names_.mesh(), where->ranks).ok()) names_ = AxisNames();
  }
  const LineRanks* at = where.has_value() ? &*where : nullptr;
  if (statement == Statement::kFree) return release(at, entry);
  if (find_op(line_.op) == nullptr) {
    fail("opaque", Error{"no such op" + suggest_op(line_.op)}, entry);
    return write_results({}, entry);
  }
  if (!read_operands(at, entry) || statement == Statement::kFail) {
    return write_results({}, entry);
  }
  find_target(at, entry);
  TypeFaults faults;
  const LineToType line{
      line_, at, names_, operands_, target_.has_value() ? &*target_ : nullptr,
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
  describe(made.results, entry);
  annotate(made.results, entry);
  write_results(made.results, entry);
  const bool fits = where.has_value() && !where->operands.empty() &&
                    (where->operands[0].size() == 1 ||
                     where->operands[0].size() == where->ranks.size());
  const bool copies = collective_of(line_.op) == Collective::kCopy;
  if (copies && fits && values_[0].has_value()) {
    find_transfers(*where, entry);
  }
}

// ---- names ------------------------------------------------------------------

bool Checker::read_operands(const LineRanks* where, Checked& entry) {
  values_.assign(line_.operands.size(), std::nullopt);
  operands_.assign(line_.operands.size(), nullptr);
  static const ShardedValue unknown;
  const std::vector<int64_t> none;
  for (size_t o = 0; o < line_.operands.size(); ++o) {
    const Operand& operand = line_.operands[o];
    if (!is_name(operand)) continue;
    CheckRegisters::Slot* slot = registers_.slot(operand.text);
    entry.reads.push_back({slot, slot->content});
    const auto& ranks = where == nullptr ? none : ranks_read(line_, *where, o);
    values_[o] = registers_.read(*slot, ranks, names_);
    operands_[o] = values_[o].has_value() ? &*values_[o] : &unknown;
    if (values_[o].has_value()) continue;
    fail_unbound(operand, ranks, entry);
    return false;
  }
  return true;
}

void Checker::fail_unbound(const Operand& operand,
                           const std::vector<int64_t>& ranks, Checked& entry) {
  fail("unbound",
       Error{"'" + std::string(operand.text) + "' has no value" +
             (ranks.empty() ? "" : " on ranks " + to_string(ranks))},
       entry);
}

void Checker::find_target(const LineRanks* where, Checked& entry) {
  target_.reset();
  const std::string_view* note = line_.note("grad");
  if (note == nullptr || line_.results.empty()) return;
  CheckRegisters::Slot* slot = registers_.slot(unquote(*note));
  entry.reads.push_back({slot, slot->content});
  const Ranks ranks = where == nullptr ? Ranks{} : ascending(where->ranks);
  for (const ShardedValue& part : registers_.parts(slot->content)) {
    // On other ranks, or in parts that were bound apart, it is cut otherwise.
    if (ascending(part.ranks) == ranks) {
      target_ = registers_.read(*slot, ranks, names_);
    }
  }
}

void Checker::release(const LineRanks* where, Checked& entry) {
  for (size_t o = 0; o < line_.operands.size(); ++o) {
    const Operand& operand = line_.operands[o];
    if (operand.kind == Operand::Kind::kGlob) {
      entry.once = true;
      registers_.release(operand.text, [this](CheckRegisters::Content held) {
        if (footprint_ == nullptr) return;
        for (const ShardedValue& part : registers_.parts(held)) {
          footprint_->lose({part}, part.ranks);
        }
      });
    }
    if (!is_name(operand)) continue;
    CheckRegisters::Slot* slot = registers_.slot(operand.text);
    const std::vector<int64_t> none;
    const auto& ranks = where == nullptr ? none : where->operands[o];
    entry.reads.push_back({slot, slot->content});
    const bool counts = where != nullptr || names_.mesh() != nullptr;
    if (counts && !registers_.read(*slot, ranks, names_)) {
      fail_unbound(operand, ranks, entry);
    }
    entry.writes.push_back(
        {{slot, registers_.without(slot->content, ranks)}, ranks});
  }
}

// Whether the line copies what a name holds on some ranks to that name on
// others: "w@1 = copy w@0".
bool Checker::spreads_own_value() const {
  return line_.results.size() == 1 && operands_.size() == 1 &&
         operands_[0] != nullptr && !line_.results[0].ranks.empty() &&
         line_.operands[0].text == line_.results[0].text &&
         collective_of(line_.op) == Collective::kCopy;
}

// Without results these are of no known type.
void Checker::write_results(const std::vector<ShardedValue>& results,
                            Checked& entry) {
  for (size_t r = 0; r < line_.results.size(); ++r) {
    ShardedValue value;
    const Name& name = line_.results[r];
    if (r < results.size()) {
      value = results[r];
    } else if (const auto ranks = parse_ranks(name.ranks);
               !name.ranks.empty() && ranks.ok()) {
      value.ranks = ranks.value();
    }
    CheckRegisters::Slot* slot = registers_.slot(name.text);
    CheckRegisters::Content before = slot->content;
    // A name may stand twice among the results; the last one stays.
    for (const Checked::Write& use : entry.writes) {
      if (use.slot == slot) before = use.content;
    }
    entry.reads.push_back({slot, slot->content});
    const CheckRegisters::Content after =
        spreads_own_value()
            ? registers_.with_copy(before, operands_[0]->ranks, value, names_)
            : registers_.with(before, value);
    entry.writes.push_back({{slot, after}, value.ranks});
  }
}

void Checker::declare(std::string_view name, const ShardedValue& value) {
  CheckRegisters::Slot* slot = registers_.slot(name);
  registers_.set(slot, registers_.with(slot->content, value));
}

const ShardedValue* Checker::value_of(std::string_view name) {
  const auto& parts = registers_.parts(registers_.slot(name)->content);
  return parts.empty() ? nullptr : parts.data();
}

// ---- what is written and told -----------------------------------------------

namespace {

bool are_alike(const std::vector<std::string>& texts) {
  return std::all_of(texts.begin(), texts.end(),
                     [&](const std::string& t) { return t == texts[0]; });
}

// A part for each result, as part_of_result() reads it.
std::string parts_text(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    out += (&text == texts.data() ? "" : ";") + text;
  }
  return out;
}

}  // namespace

void Checker::annotate(const std::vector<ShardedValue>& results,
                       Checked& entry) {
  if (results.empty() || line_.results.empty()) return;
  std::vector<std::string> types(line_.results.size());
  std::vector<std::string> specs(line_.results.size());
  for (size_t r = 0; r < std::min(results.size(), types.size()); ++r) {
    if (results[r].state != ShardedValue::State::kTyped) continue;
    types[r] = names_.type_text(results[r].type);
    if (!types[r].empty()) specs[r] = names_.spec_text(results[r].type);
  }
  // A type may speak of all results, a spec of as many as it has parts.
  const std::string type = are_alike(types) ? types[0] : parts_text(types);
  const std::string spec =
      are_alike(specs) && specs[0].empty() ? "" : parts_text(specs);
  if (type.empty()) return;
  const std::string_view* old_type = line_.note("type");
  const std::string_view* old_spec = line_.note("spec");
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
  for (const Note& note : line_.notes) {
    if (note.key == "type" || note.key == "spec") {
      put();
    } else {
      notes.push_back(note);
    }
  }
  put();
  line_.notes = std::move(notes);
  entry.noted.clear();
  append_line(entry.noted, line_);
}

void Checker::describe(const std::vector<ShardedValue>& results,
                       Checked& entry) {
  std::string& trace = entry.trace;
  trace = std::string(line_.op) + "(";
  bool first = true;
  append_instruction(entry.place, line_);
  for (size_t o = 0; o < line_.operands.size(); ++o) {
    if (operands_[o] == nullptr) continue;
    const ShardedValue& value = *operands_[o];
    const std::string types = names_.describe(value.type);
    trace += (first ? "" : ", ") + types;
    first = false;
    entry.place +=
        "   " + std::string(line_.operands[o].text) +
        (value.pieces.empty() ? "" : " " + to_string(value.pieces[0])) + " " +
        types;
  }
  trace += ") -> ";
  for (const ShardedValue& result : results) {
    trace +=
        (&result == results.data() ? "" : ", ") + names_.describe(result.type);
  }
  if (names_.mesh() != nullptr) {
    entry.place += "   under mesh {" + names_.mesh()->describe() + "}";
  }
}

}  // namespace gt

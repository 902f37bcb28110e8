#include "log/typing.h"

#include <algorithm>

#include "ops/table.h"
#include "stream/ranks.h"

namespace gt {

const Type* Typing::type_of(const Name& name) const {
  std::string key(name.text);
  if (!name.ranks.empty()) {
    const auto ranks = parse_ranks(name.ranks);
    if (!ranks.ok()) return nullptr;
    key += "@" + std::to_string(ranks.value()[0]);
  }
  const auto it = slots_.find(key);
  return it == slots_.end() ? nullptr : types_[it->second.type];
}

const Priced& Typing::take(std::string_view text) {
  const Entry* entry = &entry_;
  const auto it = text.size() <= kMaxText ? known_.find(text) : known_.end();
  if (it != known_.end() && holds(it->second)) {
    entry = &it->second;
  } else {
    limit();
    entry_ = Entry{};
    price(text, entry_);
    // A line is kept when it comes for the second time: those that never come
    // again would cost more to keep than to price.
    if (text.size() <= kMaxText && !entry_.once &&
        seen_.before(hash_bytes(text))) {
      known_.insert_or_assign(std::string(text), entry_);
    }
  }
  for (const Use& use : entry->writes) {
    live_ += use.type != kNone;
    live_ -= use.slot->type != kNone;
    use.slot->type = use.type;
  }
  return entry->priced;
}

bool Typing::holds(const Entry& entry) {
  return std::all_of(entry.reads.begin(), entry.reads.end(),
                     [](const Use& use) { return use.slot->type == use.type; });
}

void Typing::price(std::string_view text, Entry& entry) {
  if (!parse_line(text, line_).ok()) return;
  entry.priced.op = line_.op;
  if (const std::string_view* signal = line_.note("signal")) {
    entry.priced.signal = unquote(*signal);
  }
  const Statement statement = statement_of(line_.op);
  if (is_declaration(statement)) {
    entry.once = true;
    entry.priced.typed = meshes_.take(line_).ok();
    known_.clear();
    return;
  }
  if (is_placed(line_)) return price_placed(entry);
  operand_types_.clear();
  for (const Operand& operand : line_.operands) {
    operand_types_.push_back(nullptr);
    if (operand.kind != Operand::Kind::kName) continue;
    Slot* slot = slot_of(operand.text);
    entry.reads.push_back({slot, slot->type});
    operand_types_.back() = types_[slot->type];
  }
  if (statement == Statement::kFree) return release(entry);
  if (statement == Statement::kGrad) return type_gradients(entry);
  price_op(entry);
}

void Typing::price_op(Entry& entry) {
  const bool fails = statement_of(line_.op) == Statement::kFail;
  bool known = !fails;
  for (size_t i = 0; i < line_.operands.size(); ++i) {
    known = known && (line_.operands[i].kind != Operand::Kind::kName ||
                      operand_types_[i] != nullptr);
  }
  known = known && gt::bind(line_, operand_types_, call_).ok();
  entry.priced.typed = known || fails;
  if (!known) return write_results(entry, {});
  entry.priced.bytes = bytes(call_);
  entry.priced.flops = flops(call_);
  write_results(entry, call_.results);
}

void Typing::release(Entry& entry) {
  entry.priced.typed = true;
  for (const Operand& operand : line_.operands) {
    if (operand.kind == Operand::Kind::kName) {
      entry.writes.push_back({slot_of(operand.text), kNone});
    } else if (operand.kind == Operand::Kind::kGlob) {
      entry.once = true;  // what it stands for changes
      for (auto& [name, slot] : slots_) {
        const std::string_view whole = name;
        if (glob_matches(operand.text, whole.substr(0, whole.find('@')))) {
          live_ -= slot.type != kNone;
          slot.type = kNone;
        }
      }
    }
  }
}

// A source's grad has no price of its own, but its results have the types of
// what it is asked for.
void Typing::type_gradients(Entry& entry) {
  std::vector<Type> types;
  for (size_t i = 1; i < operand_types_.size(); ++i) {
    if (operand_types_[i] == nullptr) break;
    types.push_back(*operand_types_[i]);
  }
  write_results(entry, types);
}

// Without as many types as results these are of no known type.
void Typing::write_results(Entry& entry, const std::vector<Type>& types) {
  const bool known = types.size() == line_.results.size();
  for (size_t i = 0; i < line_.results.size(); ++i) {
    entry.writes.push_back(
        {slot_of(line_.results[i].text), known ? intern(types[i]) : kNone});
  }
}

Typing::Slot* Typing::slot_of(std::string_view name) {
  if (const auto it = slots_.find(name); it != slots_.end()) {
    return &it->second;
  }
  return &slots_.emplace(name, Slot{}).first->second;
}

Typing::Slot* Typing::piece_of(std::string_view name, int64_t rank) {
  key_ = name;
  key_ += '@';
  key_ += std::to_string(rank);
  return slot_of(key_);
}

Typing::TypeId Typing::intern(const Type& type) {
  const auto [it, fresh] =
      type_ids_.try_emplace(type, static_cast<TypeId>(types_.size()));
  if (fresh) types_.push_back(&it->first);
  return it->second;
}

void Typing::limit() {
  if (known_.size() >= kMaxKnown) known_.clear();
  const bool few_live = slots_.size() > 4 * live_ + kDead;
  if (!few_live && live_ < kMaxNames && types_.size() < kMaxTypes) return;
  known_.clear();
  std::erase_if(slots_,
                [](const auto& item) { return item.second.type == kNone; });
  if (live_ < kMaxNames && types_.size() < kMaxTypes) return;
  slots_.clear();
  live_ = 0;
  type_ids_.clear();
  types_.assign(1, nullptr);
}

}  // namespace gt

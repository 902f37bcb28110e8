// Writes all that later lines can depend on as one text (Ledger::state).
#include <algorithm>
#include <unordered_map>

#include "emit/ledger.h"

namespace gt::emit {
namespace {

// Writes values, lines of history and names in an order that does not depend on
// ids, and refers to them by their places in it, so that all rounds of a loop
// give one text although the ids differ.
class StateText {
 public:
  StateText(Ledger& ledger, std::string& text, const PlaceVisitor& visit)
      : ledger_(ledger), tape_(ledger.tape), text_(text), visit_(visit) {}

  void write() {
    number_values();
    number_nodes();
    for (const ValueId v : values_) add_value(v);
    for (const NodeId n : nodes_) add_node(n);
    for (const SymbolId id : live_names()) add_name(id);
    add(ledger_.meshes.describe());
    add(ledger_.types.rounds());
    add(ledger_.recipes.lines());
    add(ledger_.recipes.note().value_or(""));
  }

 private:
  static constexpr uint64_t kNone = UINT64_MAX;

  void number_values() {
    for (ValueId v = 0; v < tape_.value_limit(); ++v) {
      if (tape_.is_alive(v)) values_.push_back(v);
    }
    std::ranges::sort(values_, {}, [this](ValueId v) { return age(v); });
    for (const ValueId v : values_) value_number_[v] = value_number_.size();
  }

  void number_nodes() {
    nodes_ = tape_.nodes_by_age();
    for (const NodeId n : nodes_) node_number_[n] = node_number_.size();
  }

  std::vector<SymbolId> live_names() const {
    std::vector<SymbolId> names;
    for (SymbolId id = 0; id < ledger_.symbols.size(); ++id) {
      if (ledger_.symbols[id].is_live()) names.push_back(id);
    }
    std::ranges::sort(names, {}, [this](SymbolId id) { return name_of(id); });
    return names;
  }

  // ---- what has a number, or a name -----------------------------------------

  uint64_t age(ValueId v) const { return tape_.serial(v); }
  uint64_t number_of(ValueId v) const {
    return v == kNil ? kNone : value_number_.at(v);
  }
  uint64_t number_of_producer(ValueId v) const {
    const NodeId producer = tape_.producer(v);
    return producer == kNil ? kNone : node_number_.at(producer);
  }
  std::string_view name_of(SymbolId id) const {
    return id == kNil ? std::string_view() : ledger_.symbols.name_of(id);
  }

  // ---- parts of the text ----------------------------------------------------

  void add(uint64_t n) {
    text_.append(reinterpret_cast<const char*>(&n), sizeof n);
  }
  void add(std::string_view s) {
    add(s.size());
    text_ += s;
  }
  void add_numbers(const grad::Node::Values& values) {
    for (const ValueId v : values) add(number_of(v));
  }

  void add_value(ValueId v) {
    grad::Lost lost = tape_.lost(v);
    grad::Lost gone = tape_.gone(v);
    add_consumed_targets(tape_.consumed_targets(v));
    add_former_names(v);
    add(tape_.type(v));
    add(name_of(tape_.name(v)));
    add(name_of(tape_.alias(v)));
    add((tape_.is_internal(v) ? 1U : 0U) +
        (tape_.is_differentiable(v) ? 2U : 0U) +
        4U * static_cast<unsigned>(lost.kind) +
        32U * static_cast<unsigned>(gone.kind));
    add(ledger_.lost_name(lost));
    add(ledger_.lost_name(gone));
    add(tape_.reads(v));
    add(tape_.pending(v));
    add(number_of_producer(v));
    add(tape_.users(v).size());
    add_recipe(v);
    Origin origin = tape_.origin(v);
    visit_(origin);
    visit_(lost.at);
    visit_(gone.at);
    tape_.move_places(v, origin, lost.at, gone.at);
  }

  // Regions are counted back from the present one.
  void add_recipe(ValueId value) {
    const Recipe* recipe = ledger_.recipes.find(value);
    if (recipe == nullptr) return add(kNone);
    const grad::Form& form = tape_.forms()[recipe->form.id()];
    add(form.line);
    add(form.notes);
    for (const ValueId v : recipe->operands) add(number_of(v));
    for (const ValueId v : recipe->results) add(number_of(v));
    add(ledger_.recipes.region() - recipe->region);
    add(ledger_.recipes.readers(value));
    add(ledger_.recipes.is_dropped(value) ? 1 : 0);
  }

  // Only those targets behind a lost history count that still exist.
  void add_consumed_targets(const grad::ConsumedTargets& targets) {
    if (!targets.table) return;
    add(targets.table->targets.at(targets.row, 0) ? "unknown" : "known");
    for (const uint64_t serial : targets.table->serials) {
      if (!targets.may_be(serial)) continue;
      const auto at = std::ranges::lower_bound(
          values_, serial, {}, [this](ValueId v) { return age(v); });
      if (at != values_.end() && age(*at) == serial) add(number_of(*at));
    }
  }

  // Many values share a set of names, or have rows of one table, so the names
  // are written where they first come.
  void add_former_names(ValueId v) {
    if (const grad::NameSets::Ref& names = tape_.former_names(v); names) {
      add((*names)->is_unknown ? "unknown names" : "names");
      if (is_first(&*names)) add_names((*names)->names);
    }
    const grad::ConsumedTargets& consumed = tape_.consumed_targets(v);
    if (!consumed.table) return;
    add("consumed names");
    if (is_first(&*consumed.table)) add_names(consumed.table->names);
    const grad::BitRows& behind = consumed.table->behind;
    for (size_t w = 0; w < behind.words; ++w) {
      add(behind.bits[consumed.row * behind.words + w]);
    }
  }
  // Adds the number of a table or set. True if it had none yet.
  bool is_first(const void* shared) {
    const auto [it, is_new] = shared_.emplace(shared, shared_.size());
    add(it->second);
    return is_new;
  }
  void add_names(const std::vector<grad::NamedSince>& names) {
    add(names.size());
    for (const grad::NamedSince& name : names) {
      add(ledger_.is_known(name) ? name_of(name.name) : std::string_view());
    }
  }

  void add_node(NodeId n) {
    const grad::Node node = tape_.node(n);
    add(node.form->line);
    add(node.form->notes);
    add(node.form->mesh);
    add_numbers(node.operands);
    add_numbers(node.results);
    add_numbers(node.needed);
    add(node.live_inputs);
    // The node's place is that of its first result, which was visited if it is
    // alive.
    if (tape_.is_alive(n)) return;
    Origin origin = node.origin;
    visit_(origin);
    tape_.move_places(n, origin, {}, {});
  }

  void add_name(SymbolId id) {
    Symbol& s = ledger_.symbols[id];
    add(name_of(id));
    add(number_of(s.value));
    add(s.failed ? *ledger_.symbols.failure_of(id) : std::string_view());
    visit_(s.bound);
  }

  Ledger& ledger_;
  grad::Tape& tape_;
  std::string& text_;
  const PlaceVisitor& visit_;
  std::vector<ValueId> values_;  // all, the oldest first
  std::vector<NodeId> nodes_;
  std::unordered_map<ValueId, uint64_t> value_number_;
  std::unordered_map<NodeId, uint64_t> node_number_;
  std::unordered_map<const void*, uint64_t> shared_;  // the numbers of sets and
                                                      // tables of names
};

}  // namespace

void Ledger::state(std::string& text, const PlaceVisitor& visit) {
  StateText(*this, text, visit).write();
}

}  // namespace gt::emit

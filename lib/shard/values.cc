#include "shard/values.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/message.h"
#include "base/text.h"

namespace gt::shard {
namespace {

// If the input binds a name such as _s12, its number is kept apart from our
// numbers up to this limit. It is assumed that we never have so many registers
// that we would invent a name beyond it.
constexpr size_t kMostForeign = size_t{1} << 20;

size_t number_of(std::string_view name) {
  size_t number = 0;
  GT_CHECK(read_number(name.substr(name.rfind("_s") + 2), number));
  return number;
}

using Clones = std::unordered_map<const ShardValue*, ShardValuePtr>;

ShardValuePtr clone(const ShardValuePtr& value, Clones& clones) {
  if (value == nullptr) return nullptr;
  ShardValuePtr& copy = clones[value.get()];
  if (copy != nullptr) return copy;
  const auto made = std::make_shared<ShardValue>(*value);
  copy = made;
  if (made->held != nullptr) {
    made->held = std::make_shared<UnwrittenLine>(*made->held);
    for (ShardValuePtr& operand : made->held->operands) {
      operand = clone(operand, clones);
    }
  }
  return made;
}

class Description {
 public:
  Description(const Cluster& cluster, std::string& out)
      : cluster_(cluster), out_(out) {}

  void add(const ShardValue& value) {
    const auto [it, is_new] = number_.try_emplace(&value, number_.size());
    out_ += " #" + std::to_string(it->second);
    if (!is_new) return;
    out_ += to_string(value.type) + (value.is_source ? "s" : "") +
            (value.is_failed ? "f" + value.message : "") + value.hidden +
            std::to_string(value.held_readers);
    if (!value.regathered.empty()) out_ += "^" + value.regathered;
    if (!value.narrow.empty()) out_ += "~" + value.narrow + value.scale;
    if (!value.rest.empty()) out_ += "&" + value.rest;
    if (value.is_gradient) out_ += 'g';
    if (value.sum_dtype) out_ += "+" + std::string(to_string(*value.sum_dtype));
    for (const std::string& name : value.names) out_ += "," + name;
    for (const ShardCopy& copy : value.copies) {
      out_ += " " + copy.name + "=";
      add(copy.layout);
    }
    if (value.held == nullptr) return;
    const UnwrittenLine& held = *value.held;
    out_ += "{" + held.text;
    // A reader or an operand may have decided these.
    if (held.pin) add(*held.pin);
    out_ += held.is_wish ? "?" : "!";
    if (held.offer) add(*held.offer);
    if (held.set) out_ += "@" + cluster_.ranks_text(*held.set);
    for (const ShardValuePtr& operand : value.held->operands) {
      if (operand != nullptr) add(*operand);
    }
    out_ += "}";
  }

 private:
  void add(const Layout& layout) {
    out_ += cluster_.describe(layout) + ";" + cluster_.split_text(layout);
  }

  const Cluster& cluster_;
  std::string& out_;
  std::map<const ShardValue*, size_t> number_;
};

}  // namespace

// ---- names ------------------------------------------------------------------

ShardValuePtr ValueTable::find(std::string_view name) const {
  const Bound* bound = values_.value_of(name);
  return bound == nullptr ? nullptr : bound->value;
}

void ValueTable::bind(const std::string& name, const ShardValuePtr& value) {
  values_.begin_line();
  values_[values_.obtain(name)].value = value;
  value->names.push_back(name);
}

ShardValuePtr ValueTable::unbind(const std::string& name) {
  const SymbolId id = values_.find(name);
  if (id == kNoSymbol) return nullptr;
  const ShardValuePtr value = std::exchange(values_[id].value, nullptr);
  values_.retire(id);
  std::erase(value->names, name);
  return value;
}

std::vector<std::string_view> ValueTable::names() const {
  std::vector<std::string_view> names;
  each([&](std::string_view name, const ShardValuePtr&) {
    names.push_back(name);
  });
  return names;
}

std::string ValueTable::new_name(const std::string& space) {
  return space + "_s" + std::to_string(numbers_.take());
}

void ValueTable::give_back(const std::string& name) {
  numbers_.give(number_of(name));
}

bool ValueTable::take_over(std::string_view name, size_t& number) {
  const std::string_view own = name.substr(name.rfind('/') + 1);
  if (!own.starts_with("_s") || !read_number(own.substr(2), number) ||
      number > kMostForeign || !foreign_.insert(number).second) {
    return false;
  }
  if (numbers_.is_used(number)) return true;
  numbers_.keep(number);
  return false;
}

void ValueTable::visit(size_t number, const Rename& f) {
  std::set<ShardValue*> seen;
  const auto rename = [&](std::string& name, const Layout& layout,
                          const Type& type) {
    if (!name.empty() && number_of(name) == number) f(name, layout, type);
  };
  const auto visit = [&](const auto& self, const ShardValuePtr& value) -> void {
    if (value == nullptr || !seen.insert(value.get()).second) return;
    if (!value->regathered.empty() && number_of(value->regathered) == number) {
      value->regathered.clear();
    }
    for (ShardCopy& copy : value->copies) {
      rename(copy.name, copy.layout, value->type);
    }
    if (value->held != nullptr) {
      for (const ShardValuePtr& operand : value->held->operands) {
        self(self, operand);
      }
    } else if (!value->copies.empty()) {
      rename(value->hidden, value->layout(), value->type);
    }
  };
  // A cast or a rest has a name in the table, which changes behind the loop.
  std::string* name = nullptr;
  each([&](std::string_view, const ShardValuePtr& value) {
    visit(visit, value);
    for (std::string* ours : {&value->narrow, &value->scale, &value->rest}) {
      if (!ours->empty() && number_of(*ours) == number) name = ours;
    }
  });
  if (name == nullptr) return;
  const ShardValuePtr value = unbind(*name);
  rename(*name, value->layout(), value->type);
  bind(*name, value);
}

void ValueTable::free_later(const std::string& name, uint32_t set,
                            bool keeps_name) {
  frees_.emplace_back(name, set);
  if (!keeps_name) freed_names_.push_back(name);
}

std::vector<std::pair<std::string, uint32_t>> ValueTable::take_frees() {
  for (const std::string& name : freed_names_) give_back(name);
  freed_names_.clear();
  return std::exchange(frees_, {});
}

ValueTable ValueTable::copies_of(const std::vector<std::string>& names) const {
  ValueTable copies;
  copies.numbers_ = numbers_;
  Clones clones;
  for (const std::string& name : names) {
    if (const ShardValuePtr value = find(name)) {
      copies.values_[copies.values_.obtain(name)].value = clone(value, clones);
    }
  }
  return copies;
}

void ValueTable::describe(const Cluster& cluster, std::string& out) const {
  std::map<std::string_view, const ShardValue*> sorted;
  each([&](std::string_view name, const ShardValuePtr& value) {
    sorted[name] = value.get();
  });
  Description values(cluster, out);
  for (const auto& [name, value] : sorted) {
    out += name;
    values.add(*value);
    out += '\n';
  }
  for (const bool used : numbers_.used()) out += used ? '1' : '0';
}

}  // namespace gt::shard

// How shards lie: which axis of a dimension is the outer one, and that what is
// sharded alike is cut alike.
#include <algorithm>
#include <set>

#include "check/judge.h"

namespace gt {

namespace {

// How two axes nest: 1 if a is the outer one of b, -1 if b is of a; 0 if they
// cut no dimension together.
int nesting(const Placement& type, const Axis& a, const Axis& b) {
  for (const SpecEntry& entry : type.spec) {
    const auto x = std::find(entry.begin(), entry.end(), a);
    const auto y = std::find(entry.begin(), entry.end(), b);
    if (x != entry.end() && y != entry.end()) return x < y ? 1 : -1;
  }
  return 0;
}

}  // namespace

// Brings an operand into the order that split= states, or the first one has.
void Judge::offer_order(const Axis& a, const Axis& b, const Placement& stated) {
  int wanted = nesting(stated, a, b);
  for (size_t o = 0; o < operands_.size(); ++o) {
    const int is = is_name(o) ? nesting(operands_[o]->type, a, b) : 0;
    if (wanted == 0) wanted = is;
    if (is == 0 || is == wanted) continue;
    Placement to = operands_[o]->type;
    for (SpecEntry& entry : to.spec) {
      for (Axis& axis : entry) axis = axis == a ? b : axis == b ? a : axis;
    }
    return offer_redistribution(o, operands_[o]->type, to);
  }
}

// Entries of all operands together say which axis is the outer one.
bool Judge::order_entries() {
  std::set<std::pair<Axis, Axis>> before;
  for (const auto& operand : operands_) {
    if (!operand.has_value()) continue;
    for (const SpecEntry& entry : operand->type.spec) {
      for (size_t i = 0; i < entry.size(); ++i) {
        for (size_t j = i + 1; j < entry.size(); ++j) {
          before.insert({entry[i], entry[j]});
        }
      }
    }
  }
  Placement stated;
  if (!types_.empty() && whole_.op->row->part_operand < 0 &&
      !whole_.results.empty() &&
      spec_of_split(whole_.results[0].shape.size(), stated)) {
    for (const SpecEntry& entry : stated.spec) {
      for (size_t i = 0; i < entry.size(); ++i) {
        for (size_t j = i + 1; j < entry.size(); ++j) {
          before.insert({entry[i], entry[j]});
        }
      }
    }
  }
  for (const auto& [outer, inner] : before) {
    if (before.count({inner, outer}) == 0) continue;
    add("shard-order", &outer,
        in_.names.name(outer) + "+" + in_.names.name(inner) + " and " +
            in_.names.name(inner) + "+" + in_.names.name(outer) +
            " nest differently: " + wholes_text());
    offer_order(outer, inner, stated);
    return false;
  }
  for (Placement& type : types_) {
    for (SpecEntry& entry : type.spec) {
      for (size_t i = 1; i < entry.size(); ++i) {
        for (size_t j = i; j > 0 && before.count({entry[j], entry[j - 1]});
             --j) {
          std::swap(entry[j], entry[j - 1]);
        }
      }
      for (size_t i = 0; i + 1 < entry.size(); ++i) {
        if (before.count({entry[i], entry[i + 1]}) > 0) continue;
        add("shard-order", &entry[i],
            "axes " + in_.names.name(entry[i]) + " and " +
                in_.names.name(entry[i + 1]) +
                " meet on one dimension, and nothing says which is the outer");
        return false;
      }
    }
  }
  return true;
}

// ---- cuts -------------------------------------------------------------------

// Operands that are sharded alike are cut alike, and the results as they are.
bool Judge::check_cuts() {
  if (in_.where == nullptr) return true;
  for (size_t r = 0; r < types_.size(); ++r) {
    if (!types_[r].is_sharded() || !pieces_.has_value() || !pieces_->ok() ||
        pieces_->value()[r][0].shape.size() == types_[r].spec.size()) {
      continue;
    }
    add("shard-prop", nullptr,
        "a piece comes out with other dimensions than the whole: " +
            wholes_text());
    return false;
  }
  for (size_t l = 0; l < labels_.size(); ++l) {
    if (!label_axes_[l].empty() && !check_cut(labels_[l], label_axes_[l][0])) {
      return false;
    }
  }
  return true;
}

bool Judge::check_cut(const Label& label, const Axis& axis) {
  for (size_t p = 0; p < in_.where->ranks.size(); ++p) {
    int64_t count = -1;
    std::string of;
    const auto same = [&](const LabelDim& place, const Type& piece,
                          std::string_view name, bool is_result) {
      if (!place.is_there()) return true;
      const int64_t size = piece.shape[static_cast<size_t>(place.dim)];
      const int64_t mine = size / place.unit;
      if (count < 0) {
        count = mine;
        of = name;
      }
      if (size % place.unit == 0 && mine == count) return true;
      const bool splits = whole_.op->row->regroups && !is_result;
      add(splits ? "reshape-split" : "uneven", &axis,
          "rank " + std::to_string(in_.where->ranks[p]) + " has " +
              std::to_string(size) + " of dimension " +
              std::to_string(place.dim) + " of " + std::string(name) +
              (of == name ? std::string(", no multiple of ") +
                                std::to_string(place.unit)
                          : ", and " + std::to_string(count * place.unit) +
                                " would match " + of),
          "operands that are sharded alike must be cut alike");
      return false;
    };
    for (size_t i = 0; i < whole_.arguments.size(); ++i) {
      const Placement* type = type_of(i);
      if (type == nullptr || !label.arguments[i].is_there()) continue;
      if (type->dim_of(axis) < 0) continue;  // one element, repeated
      const auto o = static_cast<size_t>(whole_.arguments[i].operand);
      if (operands_[o]->pieces.size() <= p) continue;
      if (!same(label.arguments[i], operands_[o]->pieces[p],
                line_.operands[o].text, false)) {
        return false;
      }
    }
    if (!pieces_.has_value() || !pieces_->ok()) continue;
    for (size_t r = 0; r < types_.size() && r < label.results.size(); ++r) {
      if (!same(label.results[r], pieces_->value()[r][p], line_.results[r].text,
                true)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace gt

#include "shard/epilogue.h"

#include <algorithm>
#include <map>

#include "base/message.h"
#include "ops/shape_rules.h"

namespace gt::shard {
namespace {

constexpr const char* kWhyWide = "parts are summed in f32";

}  // namespace

std::vector<std::string> gradient_targets(const Line& line) {
  std::vector<std::string> targets;
  for (const Note& note : line.notes) {
    if (note.key == "grad") targets.emplace_back(unquote(note.value));
  }
  std::vector<std::string> out(line.results.size());
  std::vector<size_t> named;
  for (size_t r = 0; r < line.results.size(); ++r) {
    const std::string_view name = line.results[r].text;
    if (name[name.rfind('/') + 1] != '_') named.push_back(r);
  }
  if (named.size() != targets.size()) return out;
  for (size_t i = 0; i < named.size(); ++i) out[named[i]] = targets[i];
  return out;
}

// ---- sums of halves ---------------------------------------------------------

std::vector<Type> Epilogue::widen(const LineWork& work, Line& line,
                                  std::vector<std::string>& operands) {
  const Call& call = work.call;
  std::vector<const Type*> types(operands.size(), nullptr);
  std::vector<Type> wide(operands.size());
  const bool adds_in_f32 = call.op->key_index("out") >= 0;
  if (adds_in_f32) {
    std::erase_if(line.keys, [](const Key& key) { return key.key == "out"; });
    line.keys.push_back({"out", "f32", 0});
  }
  std::map<std::string, std::string> casts;  // one cast for each register
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    const auto o = static_cast<size_t>(call.arguments[i].operand);
    types[o] = &(wide[o] = call.type(i));
    if (adds_in_f32 || !is_half(wide[o].dtype)) continue;
    wide[o].dtype = traits(wide[o].dtype).computed;
    std::string& name = casts[operands[o]];
    if (name.empty()) {
      name = values_.new_name(work.at.space);
      const Layout& layout = work.plan().arguments[i];
      writer_.write_cast(name, operands[o], layout, wide[o], work.at.notes,
                         kWhyWide);
      values_.free_later(name, layout.set);
    }
    operands[o] = name;
  }
  Call made;
  GT_CHECK(gt::bind(line, types, made).ok());
  return {made.results.begin(), made.results.end()};
}

// Rounds results whose registers have more digits than their types say, after
// their sums are taken.
void Epilogue::narrow(const LineWork& work) {
  const std::vector<std::string> targets = gradient_targets(work.line);
  for (size_t r = 0; r < work.line.results.size(); ++r) {
    const std::string name(work.line.results[r].text);
    const ShardValuePtr value = values_.find(name);
    const Type& type = work.call.results[r];
    if (value->type == type) continue;
    Layout wanted = value->layout();
    wanted.partial = 0;
    if (!(value->layout() == wanted)) {
      materializer_.change(value, wanted, kWhyWide, work.at);
    }
    value->type = type;
    writer_.write_cast(
        name, name, wanted, type,
        work.at.notes + (targets[r].empty() ? "" : " #grad=" + targets[r]),
        kWhyWide);
  }
}

// ---- results ----------------------------------------------------------------

void Epilogue::settle_written(LineWork& work) {
  find_extremes(work);
  settle(work);
  if (work.plan().sums_halves) narrow(work);
}

// Each rank has the maximum of its own part. Finds that of all parts; likewise
// for minima.
void Epilogue::find_extremes(const LineWork& work) {
  for (const auto& [axis, what] : work.plan().extremes) {
    for (const Name& result : work.line.results) {
      const ShardValuePtr value = values_.find(result.text);
      const Layout& layout = value->layout();
      writer_.write_moves({extreme(cluster_, config_.machine(), value->type,
                                   layout, axis, what)},
                          value->type, value->own_name(), layout.set,
                          value->own_name(), work.at.notes, "",
                          std::string(work.line.op) + " of all parts");
    }
  }
}

void Epilogue::settle(LineWork& work) {
  if (work.pin) {
    const ShardValuePtr value =
        materializer_.alone(std::string(work.line.results[0].text));
    if (value->held != nullptr) materializer_.create_default(value, work.at);
    const Layout wanted = pinned(value->layout(), *work.pin, value->type.shape);
    if (!(value->layout() == wanted)) {
      materializer_.change(value, wanted, "the config says so", work.at);
    }
  }
  if (work.sum) {
    const ShardValuePtr value = values_.find(work.line.results[0].text);
    if (value->layout().partial != 0) {
      materializer_.change(value, *work.sum,
                           std::string(work.line.op) + " in chunks", work.at);
    }
  }
  settle_gradients(work);
}

// Returns the layout after it is cut as the pin says. A pin without cuts says
// that nothing is cut. Cuts by other axes stay if both are possible.
Layout Epilogue::pinned(Layout layout, const Layout& pin,
                        const Shape& whole) const {
  if (pin.cuts.empty()) return Layout{layout.set, 0, {}};
  for (const AxisCut& cut : pin.cuts) {
    if (cluster_.count(layout.set, cut.axis) == 1) continue;
    const AxisCut* there = layout.cut_of(cut.axis);
    if (there != nullptr && *there == cut) continue;
    layout.remove(cut.axis);
    layout.partial &= ~(1U << cut.axis);
    if (cluster_.try_cut(layout, cut, whole)) continue;
    Layout without = layout;
    std::erase_if(without.cuts, [&](const AxisCut& other) {
      return other.dim == cut.dim && pin.cut_of(other.axis) == nullptr;
    });
    if (cluster_.try_cut(without, cut, whole)) layout = std::move(without);
  }
  return layout;
}

// ---- gradients --------------------------------------------------------------

// Returns the layout that a gradient must have. It is cut as its target is, so
// that an optimizer finds both alike. It is summed at once, so that the sum
// overlaps with later lines. The gradient of a microbatch is not summed, since
// it is first added to those of other microbatches.
Layout Epilogue::gradient_layout(const LineWork& work,
                                 const std::string& target, const Type& type,
                                 const Layout& made) const {
  Layout wanted = made;
  const bool accumulates = work.line.note("mb") != nullptr;
  if (!accumulates) wanted.partial = 0;
  const ShardValuePtr value = values_.find(target);
  if (value == nullptr || value->held != nullptr || value->is_failed ||
      !(value->type.shape == type.shape)) {
    return wanted;
  }
  const Layout& own = value->layout();
  const bool fits =
      std::all_of(own.cuts.begin(), own.cuts.end(), [&](const AxisCut& cut) {
        return cluster_.count(own.set, cut.axis) ==
               cluster_.count(made.set, cut.axis);
      });
  if (!fits) return wanted;
  wanted.cuts = own.cuts;
  for (size_t a = 0; a < cluster_.axes(); ++a) {
    if (wanted.is_partial(a)) wanted.remove(a);
  }
  return wanted;
}

Line Epilogue::without_early_notes(const LineWork& work) const {
  Line line = work.line;
  const std::vector<std::string> targets = gradient_targets(line);
  for (size_t r = 0; r < targets.size(); ++r) {
    if (targets[r].empty()) continue;
    const Layout& made = work.plan().results[r];
    const Layout wanted =
        gradient_layout(work, targets[r], work.call.results[r], made);
    if (made.cuts == wanted.cuts && !work.plan().sums_halves) continue;
    std::erase_if(line.notes, [&](const Note& note) {
      return note.key == "grad" && unquote(note.value) == targets[r];
    });
  }
  return line;
}

void Epilogue::settle_gradients(const LineWork& work) {
  const std::vector<std::string> targets = gradient_targets(work.line);
  for (size_t r = 0; r < targets.size(); ++r) {
    const ShardValuePtr value = values_.find(work.line.results[r].text);
    if (targets[r].empty() || value->held != nullptr) continue;
    const Layout made = value->layout();
    const Layout wanted = gradient_layout(work, targets[r], value->type, made);
    if (made == wanted) continue;
    const bool is_noted = made.cuts == wanted.cuts || work.plan().sums_halves;
    materializer_.change(
        materializer_.alone(std::string(work.line.results[r].text)), wanted,
        "the gradient of " + targets[r], work.at,
        is_noted ? "" : " #grad=" + targets[r]);
  }
}

}  // namespace gt::shard

#include "shard/precision.h"

#include <algorithm>

#include "base/message.h"
#include "shard/epilogue.h"

namespace gt::shard {
namespace {

bool is_factor(const Call& call, size_t argument) {
  return is_tensor(call.arguments[argument]) &&
         call.op->reads_factor(
             call.op->parameter_of(argument, call.arguments.size()));
}

// Returns true if a product reads this argument in the other dtype.
bool is_narrowed(const Call& call, size_t argument) {
  return is_factor(call, argument) && call.type(argument).dtype == Dtype::kF32;
}

// Returns true if the argument is a layer's weight, which the next lines of the
// step will read, too.
bool reads_weight(const LineWork& work, size_t argument) {
  const int weight = work.call.op->row->weight_operand;
  return !work.is_backward && weight >= 0 &&
         argument == static_cast<size_t>(weight) &&
         work.value(argument)->is_source;
}

bool is_scaled(const ShardValue& value, Dtype dtype) {
  return dtype == Dtype::kF16 && value.is_gradient &&
         value.type.shape.elements() > 0;
}

}  // namespace

bool makes_gradient(const LineWork& work) {
  if (work.line.note("bwd") == nullptr ||
      work.line.note("recompute") != nullptr) {
    return false;
  }
  const bool is_view = work.call.op->row->alias && work.values[0] != nullptr;
  return !is_view || work.values[0]->is_gradient;
}

std::optional<Dtype> MixedPrecision::dtype_for(const LineWork& work) const {
  const Call& call = work.call;
  const Dtype said = work.scope.precision.value_or(config_.precision());
  if (!is_half(said) || !call.op->is_product() || work.at.depth > 0) {
    return std::nullopt;
  }
  bool any = false;
  size_t gradients = 0;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    any |= is_narrowed(call, i);
    gradients += is_tensor(call.arguments[i]) && work.value(i)->is_gradient;
    // A product of several dtypes is one of the largest of them.
    if (is_factor(call, i) && call.type(i).dtype != Dtype::kF32 &&
        call.type(i).dtype != said) {
      return std::nullopt;
    }
  }
  // The scale of one gradient is taken back behind the product.
  if (said == Dtype::kF16 && gradients > 1) return std::nullopt;
  return any ? std::optional(said) : std::nullopt;
}

bool MixedPrecision::write(const LineWork& work) {
  const auto dtype = dtype_for(work);
  if (!dtype) return false;
  drop_others(work);
  for (size_t i = 0; i < work.call.arguments.size(); ++i) {
    if (is_narrowed(work.call, i)) make_narrow(work, i, *dtype);
  }
  write_product(work);
  return true;
}

// Rewrites a line that serves the one of this context.
void MixedPrecision::take_step(const std::string& text, LineContext at) const {
  at.passing.clear();
  ++at.depth;
  Line line;
  GT_CHECK(parse_line(text, line).ok());
  take_(line, at);
}

// Drops casts that the line does not read, but for those of weights.
void MixedPrecision::drop_others(const LineWork& work) {
  LineContext at = work.at;
  std::erase_if(narrow_, [&](const std::weak_ptr<ShardValue>& casted) {
    const ShardValuePtr value = casted.lock();
    if (value == nullptr || value->narrow.empty()) return true;
    if (std::find(work.values.begin(), work.values.end(), value) !=
            work.values.end() ||
        values_.find(value->narrow)->copies.size() > 1) {
      return false;
    }
    materializer_.drop_narrow(value, at);
    return true;
  });
}

// Casts to the dtype what an argument reads, unless that was done for another
// product. A gradient is scaled before its cast to f16: zeros get a scale as
// well, and inf and nan stay what they are.
void MixedPrecision::make_narrow(const LineWork& work, size_t argument,
                                 Dtype dtype) {
  const ShardValuePtr& value = work.value(argument);
  const ShardValuePtr known = values_.find(value->narrow);
  if (known != nullptr && known->type.dtype == dtype) return;
  chooser_.pin_weight(work, argument);
  LineContext at = work.at;
  at.is_operand = true;
  materializer_.drop_narrow(value, at);
  std::string from(work.call.arguments[argument].text);
  const std::string cast = values_.new_name(at.space);
  if (is_scaled(*value, dtype)) {
    const std::string scale = values_.new_name(at.space);
    take_step(scale + " = abs " + from + at.notes, at);
    take_step(scale + " = max " + scale + at.notes, at);
    take_step(scale + " = maximum " + scale + " 1e-30" + at.notes, at);
    take_step(scale + " = div 16384 " + scale + at.notes, at);
    take_step(cast + " = mul " + from + " " + scale + at.notes, at);
    value->scale = scale;
    from = cast;
  }
  const std::string word(to_string(dtype));
  take_step(cast + " = cast " + from + " " + word + at.notes, at);
  value->narrow = cast;
  if (!reads_weight(work, argument)) narrow_.push_back(value);
}

std::string MixedPrecision::write_view(const LineWork& work) {
  if (!work.call.op->row->alias || work.at.depth > 0 ||
      work.plan().bytes == 0 || work.call.results.size() != 1 ||
      work.call.results[0].dtype != Dtype::kF32) {
    return "";
  }
  const ShardValuePtr& value = work.value(0);
  if (value->narrow.empty() || !value->scale.empty()) return "";
  Line line = work.line;
  line.notes = shared_notes(line);
  const std::string name = values_.new_name(work.at.space);
  line.operands[0].text = value->narrow;
  line.results[0].text = name;
  LineContext at = work.at;
  at.passing.clear();
  ++at.depth;
  take_(line, at);
  return name;
}

void MixedPrecision::keep_view(const ShardValuePtr& view, std::string narrow) {
  view->narrow = std::move(narrow);
  narrow_.push_back(view);
}

// Writes the product of the casts. Its results have the type that the program
// gives them: they are left in f32 (out=f32), or cast if the op has no such
// key. If a gradient was scaled, they are divided again.
void MixedPrecision::write_product(const LineWork& work) {
  Line line = work.line;
  std::vector<std::string> names(line.operands.size());
  std::string scale;
  for (size_t i = 0; i < work.call.arguments.size(); ++i) {
    if (!is_narrowed(work.call, i)) continue;
    const ShardValue& value = *work.value(i);
    const auto o = static_cast<size_t>(work.call.arguments[i].operand);
    line.operands[o].text = names[o] = value.narrow;
    if (!value.scale.empty()) scale = value.scale;
  }
  const bool adds_in_f32 = work.call.op->key_index("out") >= 0;
  if (adds_in_f32 && line.key("out") == nullptr) {
    line.keys.push_back({"out", "f32", 0});
  }
  if (adds_in_f32 && scale.empty()) return take_(line, work.at);
  // widen() says what the results are gradients of.
  std::erase_if(line.notes, [](const Note& n) { return n.key == "grad"; });
  std::vector<std::string> made;
  for (size_t r = 0; r < line.results.size(); ++r) {
    made.push_back(values_.new_name(work.at.space));
  }
  for (size_t r = 0; r < made.size(); ++r) line.results[r].text = made[r];
  take_(line, work.at);
  widen(work, made, scale);
}

// Makes the results of a product from what it left under names of ours.
void MixedPrecision::widen(const LineWork& work,
                           const std::vector<std::string>& made,
                           const std::string& scale) {
  LineContext at = work.at;
  const std::vector<std::string> targets = gradient_targets(work.line);
  for (size_t r = 0; r < made.size(); ++r) {
    at.is_operand = r > 0;  // the config speaks of the first result
    const std::string name(work.line.results[r].text);
    const std::string notes =
        at.notes + (targets[r].empty() ? "" : " #grad=" + targets[r]);
    std::string from = made[r];
    const bool is_half = values_.find(from)->type != work.call.results[r];
    if (is_half && scale.empty()) {
      take_step(name + " = cast " + from + " f32" + notes, at);
      // The next reader may be a product.
      const ShardValuePtr value = values_.find(name);
      value->narrow = from;
      narrow_.push_back(value);
      continue;
    }
    if (is_half) {
      from = values_.new_name(at.space);
      take_step(from + " = cast " + made[r] + " f32" + at.notes, at);
      materializer_.drop_invented(made[r], at);
    }
    const std::string how =
        scale.empty() ? "copy " + from : "div " + from + " " + scale;
    take_step(name + " = " + how + notes, at);
    materializer_.drop_invented(from, at);
  }
}

}  // namespace gt::shard

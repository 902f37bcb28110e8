#include "shard/materializer.h"

#include <algorithm>

#include "base/message.h"
#include "ops/index_rule.h"
#include "ops/table.h"

namespace gt::shard {
namespace {

bool is_local(const std::vector<Move>& moves) {
  return std::all_of(moves.begin(), moves.end(), [](const Move& move) {
    return collective_of(move.op) == Collective::kConvert;
  });
}

// Returns the layout with only those cuts that a line can make without moving
// anything. The units of a cut must be whole in the operands: a reshape of
// [2,5] to [10] can be cut into units of 5, and so into 5 and 5, but not into
// 3, 3, 2 and 2.
Layout makeable(const Cluster& cluster, const Call& call,
                const Layout& wanted) {
  const Shape& whole = call.results[0].shape;
  Layout out{wanted.set, wanted.partial, {}};
  const std::vector<Label> labels = index_rule(call);
  for (const AxisCut& cut : wanted.cuts) {
    const auto label = std::find_if(
        labels.begin(), labels.end(),
        [&](const Label& l) { return l.results[0].dim == cut.dim; });
    if (label == labels.end() || cut.unit % label->results[0].unit == 0) {
      out.add(cut);
      continue;
    }
    Layout as_is = out, in_units = out;
    as_is.add(cut);
    in_units.add({cut.axis, cut.dim, label->results[0].unit});
    if (cluster.is_same_cut(as_is, in_units, cut.dim,
                            whole[static_cast<size_t>(cut.dim)])) {
      out = in_units;
    }
  }
  return out;
}

// Returns the plan in which the result has this layout and each argument is cut
// as the result is, in the dimensions that have the same index.
Plan plan_as_result(const Call& call, const Layout& layout) {
  Plan plan;
  plan.results = {layout};
  plan.arguments.assign(call.arguments.size(), Layout{layout.set, 0, {}});
  for (const Label& label : index_rule(call)) {
    for (const AxisCut& cut : layout.cuts) {
      if (label.results[0].dim != cut.dim) continue;
      for (size_t i = 0; i < plan.arguments.size(); ++i) {
        const LabelDim& place = label.arguments[i];
        if (!place.is_there()) continue;
        plan.arguments[i].add({cut.axis, place.dim,
                               cut.unit / label.results[0].unit * place.unit});
      }
    }
  }
  return plan;
}

}  // namespace

// ---- layouts ----------------------------------------------------------------

std::string Materializer::fetch(const ShardValuePtr& value,
                                const Layout& wanted, bool is_shared,
                                const std::string& why, LineContext& at) {
  create_for(value, wanted, at);
  const std::vector<Layout> layouts = value->layouts();
  const auto& [from, way] =
      nearest(cluster_, config_.machine(), value->type, layouts, wanted);
  if (way.empty()) return value->name_of(value->copies[from]);
  const bool is_only =
      value->names.size() + (value->hidden.empty() ? 0 : 1) == 1;
  if (from == 0 && is_only && !is_shared && layouts[0].partial != 0 &&
      wanted.partial == 0) {
    Layout summed = wanted;
    if (wanted.set != layouts[0].set) {
      summed = layouts[0];
      summed.partial = 0;
    }
    change(value, summed, why, at);
    return fetch(value, wanted, is_shared, why, at);
  }
  const bool passes = is_local(way) || at.regathers;
  const std::string name = passes && !is_local(way)
                               ? name_for_gather(value, at)
                               : values_.new_name(at.space);
  move(*value, layouts[from], wanted, name, value->name_of(value->copies[from]),
       at.notes, "", why);
  value->copies.push_back({wanted, name});
  if (passes) at.passing.push_back(name);
  return name;
}

// Returns the name of the register for a copy that is dropped behind the line.
std::string Materializer::name_for_gather(const ShardValuePtr& value,
                                          const LineContext& at) {
  const auto is_held = [&](const ShardCopy& copy) {
    return copy.name == value->regathered;
  };
  if (value->regathered.empty()) {
    value->regathered = values_.new_name(at.space);
  } else if (std::any_of(value->copies.begin(), value->copies.end(), is_held)) {
    return values_.new_name(at.space);
  }
  return value->regathered;
}

void Materializer::create_for(const ShardValuePtr& value, const Layout& wanted,
                              LineContext& at) {
  if (value->held == nullptr) return;
  create(value, made_as(value, wanted), at.place, at);
}

void Materializer::create_operands(LineWork& work) {
  for (size_t i = 0; i < work.call.arguments.size(); ++i) {
    if (!is_tensor(work.call.arguments[i])) continue;
    create_for(work.value(i), work.plan().arguments[i], work.at);
  }
}

void Materializer::change(const ShardValuePtr& value, const Layout& wanted,
                          const std::string& why, const LineContext& at,
                          const std::string& note) {
  GT_CHECK(value->layout().set == wanted.set);
  const std::string name = value->own_name();
  move(*value, value->layout(), wanted, name, name, at.notes, note, why);
  value->copies[0].layout = wanted;
}

// Writes the lines that bring the value, of which the register `source` has
// this layout, into another layout in the register `name`. If its sum is sent
// in a dtype of fewer digits, it is cast before and behind.
void Materializer::move(const ShardValue& value, const Layout& from,
                        const Layout& to, const std::string& name,
                        const std::string& source, const std::string& notes,
                        const std::string& last_note, const std::string& why) {
  const Type type = moved_type(value.type, value.sum_dtype, from, to);
  const std::vector<Move> moves =
      redistribution(cluster_, config_.machine(), type, from, to);
  const bool is_cast = !(type == value.type);
  if (is_cast) {
    writer_.write_cast(name, source, from, type, notes,
                       why_sent_as(type.dtype));
  }
  writer_.sums().move(moves, {type, value.type.dtype, to, name,
                              is_cast ? name : source, notes, last_note, why});
}

void Materializer::drop_passing(const ShardValuePtr& value,
                                const LineContext& at) {
  std::erase_if(value->copies, [&](const ShardCopy& copy) {
    const bool drop =
        !copy.name.empty() && std::find(at.passing.begin(), at.passing.end(),
                                        copy.name) != at.passing.end();
    if (drop) {
      values_.free_later(copy.name, copy.layout.set,
                         copy.name == value->regathered);
    }
    return drop;
  });
}

void Materializer::drop_passing(const LineWork& work) {
  for (const ShardValuePtr& value : work.values) {
    if (value != nullptr) drop_passing(value, work.at);
  }
}

ShardValuePtr Materializer::alone(const std::string& name) {
  const ShardValuePtr value = values_.find(name);
  if (value->held != nullptr || value->names.size() == 1) return value;
  const auto own = std::make_shared<ShardValue>();
  own->type = value->type;
  own->is_source = value->is_source;
  own->sum_dtype = value->sum_dtype;
  own->copies = {value->copies[0]};
  std::erase(value->names, name);
  values_.bind(name, own);
  return own;
}

// ---- lines that wait --------------------------------------------------------

// Returns the layout in which a waiting value is made for a reader that wants
// it in this layout. It is the wanted layout as far as the config leaves that
// open.
Layout Materializer::made_as(const ShardValuePtr& value,
                             const Layout& wanted) const {
  const UnwrittenLine& held = *value->held;
  Layout made = wanted;
  if (!held.is_zero) made.partial = 0;
  if (held.set) made.set = *held.set;
  if (!held.pin) return made;
  if (held.pin->cuts.empty()) return Layout{made.set, 0, {}};
  // First come the config's cuts, unless their units do not divide what these
  // ranks have. Within those, other axes cut as the reader wants.
  Layout out{made.set, made.partial, {}};
  for (const AxisCut& cut : held.pin->cuts) {
    out.partial &= ~(1U << cut.axis);
    (void)cluster_.try_cut(out, cut, value->type.shape);
  }
  for (const AxisCut& cut : made.cuts) {
    if (out.cut_of(cut.axis) != nullptr) continue;
    (void)cluster_.try_cut(out, cut, value->type.shape);
  }
  return cluster_.simplest(out, value->type.shape);
}

Layout Materializer::made_by_default(const ShardValuePtr& value) const {
  return made_as(value, Layout{value->held->set.value_or(0), 0, {}});
}

std::string Materializer::summands_note(const Layout& layout) const {
  std::string note;
  for (size_t a = 0; a < cluster_.axes(); ++a) {
    if (!layout.is_partial(a)) continue;
    note += (note.empty() ? " #type=" : ",") + cluster_.axis_name(a) + ":P";
  }
  return note;
}

// Writes the line of a waiting value, which gets this layout. `reader` is the
// place of the line that reads it, for explanations; "" stands for none.
void Materializer::create(const ShardValuePtr& value, const Layout& wanted,
                          const std::string& reader, LineContext& at) {
  const std::shared_ptr<UnwrittenLine> held = value->held;
  Line line;
  GT_CHECK(parse_line(held->text, line).ok());
  take_claims(line);
  std::vector<const Type*> types;
  for (const ShardValuePtr& operand : held->operands) {
    types.push_back(operand == nullptr ? nullptr : &operand->type);
  }
  Call call;
  GT_CHECK(gt::bind(line, types, call).ok());
  const Layout layout = makeable(cluster_, call, wanted);
  const Plan plan = plan_as_result(call, layout);
  if (value->names.empty()) value->hidden = values_.new_name(at.space);
  value->held = nullptr;
  value->copies = {{cluster_.simplest(layout, value->type.shape), ""}};
  explanation_.add_created(*held, layout, reader);
  std::vector<std::string> operands(line.operands.size());
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    const auto o = static_cast<size_t>(call.arguments[i].operand);
    operands[o] =
        fetch(held->operands[o], plan.arguments[i], false, "made together", at);
  }
  const std::string own = value->own_name();
  line.results[0].text = own;
  write_made(line, call, operands, layout, summands_note(layout));
  for (const ShardValuePtr& operand : held->operands) {
    if (operand != nullptr) stop_reading(operand, at);
  }
}

// Writes a line that only creates or moves bytes within each rank. `layout` is
// that of its result.
void Materializer::write_made(const Line& line, const Call& call,
                              const std::vector<std::string>& operands,
                              const Layout& layout, const std::string& notes) {
  Placing how = placing_of(cluster_, call, plan_as_result(call, layout));
  how.notes = notes;
  writer_.write(line, operands, how,
                cluster_.piece_bytes(layout, call.results[0]) /
                    config_.machine().memory_bandwidth);
  writer_.hold(std::string(line.results[0].text), layout, call.results[0]);
  writer_.end_line();
}

void Materializer::create_default(const ShardValuePtr& value, LineContext& at) {
  create(value, made_by_default(value), at.place, at);
}

void Materializer::create_unread(const ShardValuePtr& value, LineContext& at) {
  if (value->held == nullptr || !value->held->may_fail) return;
  Layout layout = made_by_default(value);
  if (!value->held->pin && value->is_source) {
    const uint32_t set = value->held->set.value_or(0);
    layout = {cluster_.set_of({cluster_.ranks(set)[0]}), 0, {}};
  }
  create(value, layout, "", at);
}

// ---- chunks -----------------------------------------------------------------

Layout Materializer::join(const std::vector<std::string>& chunks,
                          const Layout& layout, const std::string& name,
                          const Type& whole, const Chunking& chunking,
                          const LabelDim& place, const LineContext& at) {
  const Type viewed{whole.dtype, chunking.viewed(whole.shape, place)};
  const std::string along = std::to_string(chunking.axis(place));
  std::string text = name + " = concat";
  for (const std::string& chunk : chunks) text += " " + chunk;
  std::vector<Type> types;
  for (const int64_t length : chunking.lengths()) {
    types.push_back(viewed);
    types.back().shape[static_cast<size_t>(chunking.axis(place))] = length;
  }
  const auto write = [&](const std::vector<std::string>& operands,
                         const Layout& made) {
    Line line;
    Call call;
    std::vector<const Type*> read;
    for (const Type& type : types) read.push_back(&type);
    GT_CHECK(parse_line(text, line).ok() && gt::bind(line, read, call).ok());
    write_made(line, call, operands, made, "");
  };
  text += " axis=" + along + at.notes;
  write(chunks, layout);
  const Layout made = chunking.of_whole(layout, place);
  if (chunking.ranks > 1) {
    types = {viewed};
    text = name + " = reshape " + name + " shape=" + list_text(whole.shape) +
           at.notes;
    write({name}, made);
  }
  return made;
}

void Materializer::keep_joined(const ShardValuePtr& value,
                               const std::vector<std::string>& chunks,
                               const Layout& layout, const Chunking& chunking,
                               const LineContext& at) {
  const std::string name = values_.new_name(at.space);
  const LabelDim& place = chunking.label.arguments[Chunking::kOperand];
  value->copies.push_back(
      {join(chunks, layout, name, value->type, chunking, place, at), name});
}

// ---- what nobody reads ------------------------------------------------------

// Notes that a waiting line that would have read the value was written or
// dropped. Drops the value if nothing needs it any more.
void Materializer::stop_reading(const ShardValuePtr& value, LineContext& at) {
  --value->held_readers;
  if (value->held_readers > 0 || !value->names.empty()) return;
  create_unread(value, at);
  let_go(value, at);
}

void Materializer::drop_invented(const std::string& name, LineContext& at) {
  const ShardValuePtr value = values_.find(name);
  if (value == nullptr) return;
  keep_for_readers(name, at);
  if (value->held == nullptr) {
    values_.free_later(name, value->layout().set);
  } else {
    values_.give_back(name);  // it was never written
  }
  unbind(name, at);
}

void Materializer::drop_narrow(const ShardValuePtr& value, LineContext& at) {
  drop_invented(std::exchange(value->narrow, {}), at);
  drop_invented(std::exchange(value->scale, {}), at);
}

// Drops a value that has no names and no readers left.
void Materializer::let_go(const ShardValuePtr& value, LineContext& at) {
  drop_narrow(value, at);
  drop_invented(std::exchange(value->rest, {}), at);
  if (value->held != nullptr) {
    for (const ShardValuePtr& operand : value->held->operands) {
      if (operand != nullptr) stop_reading(operand, at);
    }
    value->held = nullptr;
  }
  for (const ShardCopy& copy : value->copies) {
    const std::string& name = value->name_of(copy);
    if (!name.empty()) values_.free_later(name, copy.layout.set);
    if (copy.name == value->regathered) value->regathered.clear();
  }
  if (!value->regathered.empty()) {
    values_.give_back(std::exchange(value->regathered, {}));
  }
  value->copies.clear();
}

void Materializer::unbind(const std::string& name, LineContext& at) {
  const ShardValuePtr value = values_.unbind(name);
  if (value == nullptr || !value->names.empty() || value->held_readers > 0) {
    return;
  }
  let_go(value, at);
}

void Materializer::keep_for_readers(const std::string& name, LineContext& at) {
  const ShardValuePtr value = values_.find(name);
  if (value == nullptr || value->names.size() > 1) return;
  if (value->held_readers == 0) create_unread(value, at);
  if (value->held != nullptr || value->is_failed || value->held_readers == 0) {
    return;
  }
  value->hidden = values_.new_name(at.space);
  writer_.write_local("copy", value->hidden, name, value->layout(), value->type,
                      "");
}

void Materializer::keep_for_readers(LineWork& work) {
  for (const Name& name : work.line.results) {
    keep_for_readers(std::string(name.text), work.at);
  }
}

}  // namespace gt::shard

#include "spmd/infer.h"

#include <algorithm>

#include "spmd/claim.h"
#include "spmd/stated.h"
#include "stream/notes.h"

namespace gt {
namespace {

std::string noted(const Line& line, std::string_view key) {
  const std::string_view* value = line.note(key);
  return value == nullptr ? "" : unquote(*value);
}

// ---- sinks ------------------------------------------------------------------

// Checks that the pieces of an output with split= make one whole.
void check_assembly(const ReadLine& in, const ShardedValue& value,
                    Findings& out) {
  const auto grid = grid_of(in.line, in.names.mesh(), in.ranks());
  if (!grid.ok()) {
    out.faults.add({.rule = Rule::kRanksUnfit,
                    .text = grid.error().message,
                    .column = grid.error().column});
    return;
  }
  const PieceType types = [&](size_t, int64_t rank) {
    return &value.pieces[position_of(rank, value.ranks)];
  };
  const auto put = assembly(in.line, grid.value(), types);
  if (put.ok() || out.faults.any()) return;
  out.faults.add({.rule = Rule::kShapesUnfit,
                  .text = put.error().message,
                  .column = put.error().column});
}

// Checks that a value that is printed or saved is no partial sum, and is cut as
// split= says.
bool check_output(const ReadLine& in, Findings& out) {
  for (size_t o = 0; o < in.operands.size(); ++o) {
    if (!in.operands[o].has_value()) continue;
    const ShardedValue& value = *in.operands[o];
    for (const Axis& axis : in.within) {
      const bool sums = value.type.on(axis) == 'P';
      if (!sums && value.type.pending(axis) == 0) continue;
      out.faults.add(
          {.rule = sums ? Rule::kSumWritten : Rule::kExtremePartlyRead,
           .axes = {axis},
           .operand = static_cast<int>(o)});
    }
    if (value.pieces.empty()) continue;
    if (!out.faults.any()) {
      check_split(in, value.type, value.pieces[0].shape.size(), out);
    }
    if (in.is_placed() && in.line.key("split") != nullptr) {
      check_assembly(in, value, out);
    }
  }
  return true;
}

// ---- the stages -------------------------------------------------------------

// Finds the results' types. False if they are not known.
bool find_types(const ReadLine& in, Findings& out) {
  if (in.op == nullptr) return false;
  if (is_output(in.op->row->statement)) return check_output(in, out);
  if (in.is_grad()) return take_gradients(in, out);
  if (!in.is_bound && !in.is_formed) return false;
  if (in.crosses()) return cross_ranks(in, out);
  const bool passes_over = in.in.mode.passes_over;
  if (!passes_over && !check_typed(in, out)) return false;
  std::optional<WholeLine> whole;
  if (!in.is_local() && !in.is_source()) whole.emplace(in);
  if (!join_axes(in, whole ? &*whole : nullptr, out) && !passes_over) {
    return false;
  }
  if (in.is_source()) {
    declare_source(in, out);
    return true;
  }
  if (!in.is_local()) {
    // A source has no shards to follow, and no labels.
    if (!propagate_shards(in, *whole, out)) return false;
  }
  cut_copies(in, out);
  return true;
}

// Reports errors of shapes and places, unless a more telling fault was found.
void tell_misfit(const ReadLine& in, Findings& out) {
  const bool fails = in.pieces.has_value() && !in.pieces->ok();
  if ((!fails && !in.misfit.has_value()) || out.faults.any()) return;
  const Error& why = fails ? in.pieces->error() : *in.misfit;
  const bool lacks_ranks =
      !in.is_placed() && in.is_formed && in.call.op->row->needs_ranks();
  out.faults.add({.rule = lacks_ranks ? Rule::kRanksUnfit : Rule::kShapesUnfit,
                  .text = why.message,
                  .column = why.column});
}

std::vector<Type> pieces_of_result(const ReadLine& in, size_t r) {
  if (in.is_grad() && in.is_name(r + 1)) return in.operands[r + 1]->pieces;
  if (in.is_placed()) {
    return in.has_pieces() ? in.pieces->value()[r] : std::vector<Type>{};
  }
  if (in.is_bound && r < in.call.results.size()) return {in.call.results[r]};
  return {};
}

std::vector<ShardedValue> results_of(const ReadLine& in, const Findings& out,
                                     bool known) {
  using State = ShardedValue::State;
  bool carries = false, is_soft = !in.is_placed();
  for (const auto& operand : in.operands) {
    if (!operand.has_value()) continue;
    carries = carries || operand->carries_gradient;
    is_soft = is_soft && operand->state == State::kSoft;
  }
  const bool stops_gradient = in.op != nullptr && in.op->row->stops_gradient;
  std::vector<ShardedValue> results;
  for (size_t r = 0; r < in.line.results.size(); ++r) {
    ShardedValue& value = results.emplace_back();
    value.carries_gradient = carries && !stops_gradient;
    if (in.is_placed()) value.ranks = in.ranks();
    value.pieces = pieces_of_result(in, r);
    if (known || in.in.mode.passes_over) value.type = out.types[r];
    if (known) value.state = is_soft ? State::kSoft : State::kTyped;
  }
  return results;
}

// ---- claims -----------------------------------------------------------------

// Checks that a claim that tells results apart has a part for each.
bool has_parts_for_results(const ReadLine& in, const std::string& claim,
                           Findings& out) {
  const auto parts =
      1 + static_cast<size_t>(std::count(claim.begin(), claim.end(), ';'));
  const size_t results = in.line.results.size();
  if (parts == 1 || parts == results) return true;
  return out.faults.add({.rule = Rule::kClaimParts,
                         .n = static_cast<int64_t>(parts),
                         .m = static_cast<int64_t>(results),
                         .text = claim});
}

// Applies #type= and #spec=, which say what the results are on each axis.
void claim_types(const ReadLine& in, std::vector<ShardedValue>& results,
                 Findings& out) {
  const std::string types = noted(in.line, "type");
  const std::string specs = noted(in.line, "spec");
  if ((types.empty() && specs.empty()) || in.names.mesh() == nullptr) return;
  if (!has_parts_for_results(in, types, out) ||
      !has_parts_for_results(in, specs, out)) {
    return;
  }
  const TypingMode& mode = in.in.mode;
  for (size_t r = 0; r < results.size(); ++r) {
    ShardedValue& value = results[r];
    const std::string type(part_of_result(types, r));
    // A spec without parts is that of the first result, since others have other
    // dimensions.
    const std::string spec(
        r > 0 && !tells_results_apart(specs) ? "" : part_of_result(specs, r));
    if ((type.empty() && spec.empty()) || value.pieces.empty()) continue;
    // The note #local is ignored here: such a line forgets its shards, and a
    // claim states them again.
    const auto is_local = [&](const Axis& axis) {
      return in.is_local_by_mode(axis);
    };
    const ClaimIn claim{type,
                        spec,
                        in.names,
                        in.within,
                        value.pieces[0].shape.size(),
                        in.call.op != nullptr && in.is_source(),
                        mode.local,
                        is_local,
                        mode.passes_over};
    const bool is_known =
        value.state == ShardedValue::State::kTyped || mode.passes_over;
    TypeFaults faults;
    auto made = claimed(claim, is_known ? value.type : Placement{}, faults);
    if (r == 0 || tells_results_apart(types + specs)) {
      for (const TypeFault& fault : faults) out.faults.add(fault);
    }
    if (!made.has_value()) continue;
    value.type = std::move(*made);
    value.state = ShardedValue::State::kTyped;
  }
}

// Applies #partial=, which makes a result that is V or P summands of a sum.
void claim_partial(const ReadLine& in, std::vector<ShardedValue>& results,
                   Findings& out) {
  const std::string names = noted(in.line, "partial");
  if (names.empty() || in.names.mesh() == nullptr) return;
  const auto axes = in.names.mesh()->resolve(names);
  if (!axes.ok()) {
    out.faults.add({.rule = Rule::kUnknownAxis, .text = axes.error().message});
    return;
  }
  for (ShardedValue& value : results) {
    const bool passes_over = in.in.mode.passes_over;
    if (value.state != ShardedValue::State::kTyped && !passes_over) continue;
    for (const MeshAxis* axis : axes.value()) {
      const char is = value.type.on(*axis);
      // If nothing is known, the note is believed.
      if (is == kUntyped && passes_over && in.is_within(*axis)) {
        value.type.set(*axis, 'P');
      }
      if (is == kUntyped || is == 'P') continue;
      if (is == 'V' && value.type.dim_of(*axis) < 0) {
        value.type.set(*axis, 'P');
        continue;
      }
      out.faults.add(
          {.rule = is == 'I' ? Rule::kPartialOneCopy : Rule::kPartialCopies,
           .axes = {*axis},
           .seen = value.type});
      return;
    }
  }
}

// Checks that the pieces of sharded results make one whole.
void check_pieces(const ReadLine& in, const std::vector<ShardedValue>& results,
                  Findings& out) {
  for (size_t r = 0; r < results.size(); ++r) {
    const ShardedValue& value = results[r];
    if (in.is_local() && !value.type.is_sharded()) continue;
    if (!value.is_placed() || value.pieces.empty() || whole_of(value)) continue;
    out.faults.add({.rule = Rule::kPiecesUnlike,
                    .result = static_cast<int>(r),
                    .seen = value.type});
  }
}

}  // namespace

Inferred infer(const ReadLine& in, TypeFaults faults) {
  Findings out;
  out.faults = std::move(faults);
  out.types.resize(in.line.results.size());
  out.summed.resize(in.line.results.size());
  const bool is_checked = in.line.note("unchecked") == nullptr;
  const bool is_readable =
      (in.is_readable && in.knows_all) || in.in.mode.passes_over;
  bool known = is_readable && is_checked && find_types(in, out);
  tell_misfit(in, out);
  known = known && !out.faults.any();
  Inferred made;
  made.results = results_of(in, out, known);
  claim_types(in, made.results, out);
  claim_partial(in, made.results, out);
  if (known && !out.faults.any()) {
    check_pieces(in, made.results, out);
    if (!out.faults.any() && check_optimizer(in, out)) {
      check_gradient(in, made.results, out);
    }
  }
  made.faults = std::move(out.faults);
  made.remarks = std::move(out.remarks);
  made.summed = std::move(out.summed);
  return made;
}

Inferred infer(const LineToType& line) {
  TypeFaults faults;
  const ReadLine read(line, faults);
  return infer(read, std::move(faults));
}

}  // namespace gt

#include "shard/ring.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/message.h"
#include "ops/attention.h"
#include "ops/index_rule.h"
#include "ops/shape_rules.h"
#include "shard/epilogue.h"
#include "stream/dtype.h"

namespace gt::shard {
namespace {

// Arguments and results of both ops. What is behind the values is of the
// gradient: o, lse, the gradient of o and, if it is given, that of lse.
constexpr size_t kQ = 0, kK = 1, kV = 2, kO = 3, kLse = 4, kGo = 5, kGlse = 6;
constexpr size_t kMaskOfForward = 3, kMaskOfGradient = 7;
constexpr size_t kGq = 0, kGk = 1, kGv = 2;

bool is_lse(size_t argument) { return argument == kLse || argument == kGlse; }

// Returns the dimension of the argument that has the rows of q, or of k and v.
int32_t rows_of(const Call& call, size_t argument) {
  const auto n = static_cast<int32_t>(call.type(argument).shape.size());
  return n - (is_lse(argument) ? 1 : 2);
}

// Why a plan is none of a ring, from what is asked of it first to the last.
enum class NoRing : uint8_t { kRowsWhole, kKeysElsewhere, kSummands, kUneven };

std::string_view words_of(NoRing why) {
  constexpr std::string_view kWords[] = {
      "no axis cuts the rows of its queries",
      "no axis cuts the rows of its queries, keys and values",
      "it reads or makes summands",
      "parts differ in size, or two axes cut one dimension"};
  return kWords[static_cast<size_t>(why)];
}

// True if no dimension is cut twice, and all parts are alike.
bool is_even(const Cluster& cluster, const Layout& layout, const Type& whole) {
  const auto is_cut_twice = [&](const AxisCut& cut) {
    return std::ranges::count(layout.cuts, cut.dim, &AxisCut::dim) > 1;
  };
  return std::ranges::none_of(layout.cuts, is_cut_twice) &&
         cluster.pieces(layout, whole).size() == 1;
}

// Returns the plan with keys and values where they are, if it reads them whole
// along the axis that cuts q's rows and they are there in parts. Else sets
// `why`.
std::optional<Ring> ring_of(const Cluster& cluster, const LineWork& work,
                            const PlanCache::Entry& planned, NoRing& why) {
  const Call& call = work.call;
  Ring ring{0, {planned.plan, std::nullopt}};
  why = NoRing::kRowsWhole;
  std::vector<Layout>& arguments = ring.planned.plan.arguments;
  const Layout& q = arguments[kQ];
  const auto cut = std::find_if(
      q.cuts.begin(), q.cuts.end(),
      [&](const AxisCut& c) { return c.dim == rows_of(call, kQ); });
  if (cut == q.cuts.end()) return std::nullopt;
  ring.axis = cut->axis;
  why = NoRing::kKeysElsewhere;
  for (const size_t i : {kK, kV}) {
    const ShardValue& value = *work.value(i);
    if (value.held != nullptr) return std::nullopt;
    Layout whole = value.layout();
    const AxisCut* rows = whole.cut_of(ring.axis);
    if (rows == nullptr || rows->dim != rows_of(call, i)) return std::nullopt;
    whole.remove(ring.axis);
    if (!(whole == arguments[i])) return std::nullopt;
    arguments[i] = value.layout();
  }
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    why = NoRing::kSummands;
    if (arguments[i].partial != 0) return std::nullopt;
    why = NoRing::kUneven;
    if (!is_even(cluster, arguments[i], call.type(i))) return std::nullopt;
  }
  std::vector<Layout>& results = ring.planned.plan.results;
  why = NoRing::kSummands;
  if (is_attention_gradient(*call.op)) {
    for (const size_t r : {kGk, kGv}) results[r] = arguments[r];
  }
  for (const Layout& result : results) {
    if (result.partial != 0) return std::nullopt;
  }
  return ring;
}

// No step of an expansion is written as a ring.
bool is_attention_line(const LineWork& work) {
  return work.at.depth == 0 &&
         (is_attention(*work.call.op) || is_attention_gradient(*work.call.op));
}

// Returns what does not allow a ring, however the line is cut; or "".
std::string_view bar_of(const Call& call) {
  const bool is_gradient = is_attention_gradient(*call.op);
  if (call.given(is_gradient ? kMaskOfGradient : kMaskOfForward)) {
    return "it has a mask";
  }
  if (call.has_key("part")) return "it reads a part of a sequence";
  for (size_t r = 0; is_gradient && r < call.results.size(); ++r) {
    if (call.results[r].shape == call.type(r).shape) continue;
    return "leading dimensions are broadcast, which makes larger gradients";
  }
  const auto rows = [&](size_t i) {
    return call.type(i).shape[static_cast<size_t>(rows_of(call, i))];
  };
  if (call.flag("causal") && rows(kQ) != rows(kK)) {
    return "it is causal, and its keys have another length than its queries";
  }
  return "";
}

// Returns the claim that the pieces of a value are parts of a whole.
std::string type_note(const Cluster& cluster, const Layout& layout) {
  std::string note;
  for (const AxisCut& cut : layout.cuts) {
    note += (note.empty() ? " #type=" : ",") + cluster.axis_name(cut.axis) +
            ":S" + std::to_string(cut.dim);
  }
  return note;
}

}  // namespace

FoundRing find_ring(
    const Cluster& cluster, const LineWork& work,
    const std::function<const std::vector<PlanCache::Entry>*()>& others) {
  if (!is_attention_line(work)) return {std::nullopt, ""};
  if (const std::string_view bar = bar_of(work.call); !bar.empty()) {
    return {std::nullopt, "not as a ring: " + std::string(bar)};
  }
  const auto found = [&](Ring& ring) {
    return FoundRing{ring, "as a ring over " + cluster.axis_name(ring.axis)};
  };
  const std::vector<PlanCache::Entry>& rest = *others();
  NoRing why{};
  if (auto ring = ring_of(cluster, work, *work.planned, why)) {
    return found(*ring);
  }
  for (const PlanCache::Entry& other : rest) {
    NoRing its_why{};
    if (auto ring = ring_of(cluster, work, other, its_why)) return found(*ring);
    why = std::max(why, its_why);
  }
  return {std::nullopt, "not as a ring: " + std::string(words_of(why))};
}

// ---- ranks ------------------------------------------------------------------

RankRows::RankRows(const Cluster& cluster, uint32_t set, uint32_t axis)
    : by_place_(static_cast<size_t>(cluster.count(set, axis))) {
  const Ranks& ranks = cluster.ranks(set);
  const std::vector<int64_t> places = cluster.places(set, uint32_t{1} << axis);
  for (size_t i = 0; i < ranks.size(); ++i) {
    by_place_[static_cast<size_t>(places[i])].push_back(ranks[i]);
  }
}

Ranks RankRows::at(const std::vector<int64_t>& places) const {
  Ranks out;
  for (size_t row = 0; row < by_place_[0].size(); ++row) {
    for (const int64_t p : places) {
      out.push_back(by_place_[static_cast<size_t>(p)][row]);
    }
  }
  return out;
}

Ranks RankRows::between(int64_t begin, int64_t end) const {
  std::vector<int64_t> places;
  for (int64_t p = begin; p < end; ++p) places.push_back(p);
  return ascending(at(places));
}

// ---- the line ---------------------------------------------------------------

RingWriter::RingWriter(const LineWork& work, const Line& line, uint32_t axis,
                       const std::vector<std::string>& operands,
                       Cluster& cluster, const Machine& machine,
                       ValueTable& values, PlacedWriter& writer)
    : work_(work),
      line_(line),
      cluster_(cluster),
      lines_(cluster, machine, values, writer, work.at, "attention in a ring"),
      axis_(axis),
      ranks_(cluster, work.plan().arguments[kQ].set, axis),
      all_(ranks_.between(0, ranks_.size())),
      is_causal_(work.call.flag("causal")),
      is_gradient_(is_attention_gradient(*work.call.op)) {
  const Call& call = work.call;
  const auto piece = [&](size_t i) {
    const Type& whole = call.type(i);
    return Type{whole.dtype,
                cluster.pieces(work.plan().arguments[i], whole)[0]};
  };
  const int64_t heads = call.integer("heads");
  if (heads > 0) {
    const int64_t size = call.type(kQ).shape.back() / heads;
    q_heads_ = piece(kQ).shape.back() / size;
    k_heads_ = piece(kK).shape.back() / size;
  }
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    const std::string& name =
        operands[static_cast<size_t>(call.arguments[i].operand)];
    lines_.know(name, piece(i));
    const int64_t n = i == kK || i == kV ? k_heads_ : q_heads_;
    operands_.push_back(is_lse(i) ? name : in_heads(name, n));
  }
}

std::string RingWriter::in_heads(const std::string& name, int64_t heads) {
  return heads == 0 ? name
                    : lines_.make("split_heads " + name +
                                      " heads=" + std::to_string(heads),
                                  all_);
}

// Returns the dimension that has the rows, once the tensor is in heads.
int64_t RingWriter::rows_dim(const std::string& name, bool is_lse) const {
  return static_cast<int64_t>(lines_.type(name).shape.size()) -
         (is_lse ? 1 : 2);
}

void RingWriter::write() {
  is_balanced_ = pays_to_balance();
  if (is_balanced_) {
    for (size_t i = 0; i < operands_.size(); ++i) {
      const std::string whole = operands_[i];
      operands_[i] = exchange(whole, rows_dim(whole, is_lse(i)), false);
      lines_.drop({whole});
    }
  }
  Held held{std::exchange(operands_[kK], ""), std::exchange(operands_[kV], "")};
  is_gradient_ ? backward(std::move(held)) : forward(std::move(held));
  lines_.drop(operands_);
  for (size_t r = 0; r < results_.size(); ++r) finish(r, results_[r]);
}

// Gives the result its name, dtype and form.
void RingWriter::finish(size_t r, std::string name) {
  const bool is_lse = !is_gradient_ && r == 1;
  const auto replace = [&](std::string made) {
    lines_.drop({name});
    name = std::move(made);
  };
  if (is_balanced_) replace(exchange(name, rows_dim(name, is_lse), true));
  const Dtype dtype = work_.call.results[r].dtype;
  std::string how = "copy " + name;
  const int64_t heads = is_gradient_ && r != kGq ? k_heads_ : q_heads_;
  const std::string cast = "cast " + name + " " + std::string(to_string(dtype));
  if (heads > 0 && !is_lse) {
    if (lines_.type(name).dtype != dtype) replace(lines_.make(cast, all_));
    how = "merge_heads " + name + " heads=" + std::to_string(heads);
  } else if (lines_.type(name).dtype != dtype) {
    how = cast;
  }
  std::string notes = type_note(cluster_, work_.plan().results[r]);
  const std::string target = gradient_targets(work_.line)[r];
  const auto is_said = [&](const Note& note) {
    return note.key == "grad" && unquote(note.value) == target;
  };
  if (!target.empty() &&
      std::any_of(line_.notes.begin(), line_.notes.end(), is_said)) {
    notes += " #grad=" + target;
  }
  lines_.write(std::string(work_.line.results[r].text) + " = " + how, all_,
               notes);
  lines_.drop({name});
}

// ---- parts and ranks --------------------------------------------------------

// Returns true if ranks compute sooner with two parts each, which copies bring
// there and back, than with the consecutive ones that they have.
bool RingWriter::pays_to_balance() const {
  const int64_t dim = rows_dim(operands_[kQ], false);
  const int64_t rows =
      lines_.type(operands_[kQ]).shape[static_cast<size_t>(dim)];
  if (!is_causal_ || rows == 0 || rows % 2 != 0) return false;
  const std::string results = is_gradient_ ? "a b c" : "a b";
  const Link link = link_of(lines_.machine(), [&](int64_t n) {
    return cluster_.is_within(uint32_t{1} << axis_, n);
  });
  const double step = lines_.seconds_of(results + " = " + product(operands_));
  double moving = 0;
  const auto add = [&](const std::string& name) {
    const auto bytes = static_cast<double>(lines_.type(name).bytes()) / 2;
    moving += 2 * message_seconds(link, bytes);
  };
  for (const std::string& name : operands_) add(name);
  // The results are as large as the first operands; lse is small.
  for (size_t r = 0; r < (is_gradient_ ? 3 : 1); ++r) add(operands_[r]);
  // The last rank's steps are whole but for the first, and all others' halves.
  return moving < static_cast<double>(ranks_.size() - 1) / 2 * step;
}

// Returns the tensor with the two parts of a rank in the order of a causal
// ring, or if `is_back` those in the order of the sequence.
std::string RingWriter::exchange(const std::string& name, int64_t dim,
                                 bool is_back) {
  const std::vector<std::string> from = halves(name, dim, all_);
  const std::vector<std::string> to{lines_.new_name(), lines_.new_name()};
  const int64_t n = ranks_.size();
  for (size_t in_order = 0; in_order < 2; ++in_order) {
    for (size_t in_ring = 0; in_ring < 2; ++in_ring) {
      // Part c is half c % 2 of rank c / 2 in the order of the sequence.
      std::vector<int64_t> by_order, by_ring;
      for (int64_t c = static_cast<int64_t>(in_order); c < 2 * n; c += 2) {
        if ((c < n) != (in_ring == 0)) continue;
        by_order.push_back(c / 2);
        by_ring.push_back(c < n ? c : 2 * n - 1 - c);
      }
      if (by_order.empty()) continue;
      if (is_back) {
        lines_.copy(to[in_order], ranks_.at(by_order), from[in_ring],
                    ranks_.at(by_ring));
      } else {
        lines_.copy(to[in_ring], ranks_.at(by_ring), from[in_order],
                    ranks_.at(by_order));
      }
    }
  }
  lines_.drop(from);
  std::string out = lines_.make(
      "concat " + to[0] + " " + to[1] + " axis=" + std::to_string(dim), all_);
  lines_.drop(to);
  return out;
}

// Passes on what ranks from place `first` on have, to the rank behind each and,
// if it wraps, from the last rank to the first. Returns the name there.
std::string RingWriter::pass_on(const std::string& name, int64_t first,
                                bool wraps) {
  const int64_t last = ranks_.size() - 1;
  std::string to = lines_.new_name();
  lines_.copy(to, ranks_.between(first + 1, last + 1), name,
              ranks_.between(first, last));
  if (wraps) lines_.copy(to, ranks_.at({0}), name, ranks_.at({last}));
  return to;
}

// Passes on keys and values before a step, so that they travel while it is
// computed. What no later step reads stays where it is.
RingWriter::Held RingWriter::pass_on(const Held& held, int64_t step) {
  if (step + 1 == ranks_.size()) return {};
  const bool all = !is_causal_ || is_balanced_;
  const int64_t first = all ? 0 : step;
  return {pass_on(held.k, first, all), pass_on(held.v, first, all)};
}

std::vector<std::string> RingWriter::halves(const std::string& name,
                                            int64_t dim, const Ranks& ranks) {
  std::vector<std::string> out{lines_.new_name(), lines_.new_name()};
  lines_.write(out[0] + " " + out[1] + " = split " + name +
                   " axis=" + std::to_string(dim),
               ranks);
  return out;
}

// Writes a half of rows as all of them, under the name `to`: it is the first or
// the second half, and the other one has this value.
void RingWriter::pad(const std::string& to, const std::string& half,
                     int64_t dim, bool is_first, const char* value,
                     const Ranks& ranks) {
  const Shape& shape = lines_.type(half).shape;
  std::vector<int64_t> width(2 * shape.size());
  width[2 * static_cast<size_t>(dim) + (is_first ? 1 : 0)] =
      shape[static_cast<size_t>(dim)];
  lines_.write(
      to + " = pad " + half + " width=" + list_text(width) + " value=" + value,
      ranks);
}

// Sums over steps are taken in f32.
void RingWriter::widen(const std::string& name) {
  if (!is_half(lines_.type(name).dtype)) return;
  lines_.write(name + " = cast " + name + " f32", all_);
}

// Returns the text of the product with these operands, "attention q k v".
std::string RingWriter::product(
    const std::vector<std::string>& operands) const {
  std::string text(work_.line.op);
  for (const std::string& name : operands) text += " " + name;
  for (const Key& key : work_.line.keys) {
    if (key.key == "scale" || key.key == "enable_gqa") {
      text += " " + std::string(key.key) + "=" + std::string(key.value);
    }
  }
  return text;
}

// ---- forward ----------------------------------------------------------------

void RingWriter::forward(Held held) {
  results_ = {lines_.new_name(), lines_.new_name()};
  for (int64_t step = 0; step < ranks_.size(); ++step) {
    Held next = pass_on(held, step);
    attend(held, step);
    lines_.drop({held.k, held.v});
    held = std::move(next);
  }
  if (work_.line.results.size() < results_.size()) {
    lines_.drop({results_.back()});
    results_.pop_back();
  }
}

// Computes with the keys and values that a rank holds in this step.
void RingWriter::attend(const Held& held, int64_t step) {
  const std::string& q = operands_[kQ];
  if (step == 0) {
    lines_.write(results_[0] + " " + results_[1] + " = " +
                     product({q, held.k, held.v}) +
                     (is_causal_ ? " causal=1" : ""),
                 all_);
    return widen(results_[0]);
  }
  const std::string o = lines_.new_name(), l = lines_.new_name();
  const Ranks after = ranks_.between(is_causal_ ? step : 0, ranks_.size());
  if (!is_balanced_) {
    lines_.write(o + " " + l + " = " + product({q, held.k, held.v}), after);
    return join(o, l, after);
  }
  const int64_t dim = rows_dim(q, false);
  const std::vector<std::string> k = halves(held.k, dim, after);
  const std::vector<std::string> v = halves(held.v, dim, after);
  lines_.write(o + " " + l + " = " + product({q, k[0], v[0]}), after);
  lines_.drop({k[0], k[1], v[0], v[1]});
  const Ranks before = ranks_.between(0, step);
  const std::vector<std::string> of_q = halves(q, dim, before);
  const std::string oh = lines_.new_name(), lh = lines_.new_name();
  lines_.write(oh + " " + lh + " = " + product({of_q[1], held.k, held.v}),
               before);
  pad(o, oh, dim, false, "0", before);
  pad(l, lh, rows_dim(lh, true), false, "-inf", before);
  lines_.drop({of_q[0], of_q[1], oh, lh});
  join(o, l, all_);
}

// Joins means of values, and the logarithms of their weights, to those so far:
// o = e^(l - m) o + e^(l' - m) o', where m is the logarithm of both weights'
// sum.
void RingWriter::join(const std::string& o, const std::string& l,
                      const Ranks& ranks) {
  const std::string& all_o = results_[0];
  const std::string& all_l = results_[1];
  const std::string m = lines_.make("logaddexp " + all_l + " " + l, ranks);
  const auto weigh = [&](const std::string& mean, const std::string& weight) {
    const std::string w = lines_.make("sub " + weight + " " + m, ranks);
    lines_.write(w + " = exp " + w, ranks);
    lines_.write(w + " = unsqueeze " + w + " axis=-1", ranks);
    lines_.write(mean + " = mul " + mean + " " + w, ranks);
    lines_.drop({w});
  };
  weigh(all_o, all_l);
  weigh(o, l);
  lines_.write(all_o + " = add " + all_o + " " + o, ranks);
  lines_.write(all_l + " = copy " + m, ranks);
  lines_.drop({o, l, m});
}

// ---- backward ---------------------------------------------------------------

// The gradients of keys and values are passed on behind what they are of.
void RingWriter::backward(Held held) {
  results_ = {lines_.new_name(), lines_.new_name(), lines_.new_name()};
  for (int64_t step = 0; step < ranks_.size(); ++step) {
    Held next = pass_on(held, step);
    differentiate(held, step);
    for (const size_t r : {kGk, kGv}) {
      const std::string before = results_[r];
      results_[r] = pass_on(before, 0, true);
      lines_.drop({before});
    }
    lines_.drop({held.k, held.v});
    held = std::move(next);
  }
}

void RingWriter::differentiate(const Held& held, int64_t step) {
  std::vector<std::string> operands = operands_;
  operands[kK] = held.k;
  operands[kV] = held.v;
  const auto write = [&](const std::vector<std::string>& made,
                         const std::string& how, const Ranks& ranks) {
    lines_.write(made[kGq] + " " + made[kGk] + " " + made[kGv] + " = " + how,
                 ranks);
  };
  if (step == 0) {
    write(results_, product(operands) + (is_causal_ ? " causal=1" : ""), all_);
    for (const std::string& name : results_) widen(name);
    return;
  }
  const auto names = [&] {
    return std::vector<std::string>{lines_.new_name(), lines_.new_name(),
                                    lines_.new_name()};
  };
  const std::vector<std::string> made = names();
  const Ranks after = ranks_.between(is_causal_ ? step : 0, ranks_.size());
  if (!is_balanced_) {
    write(made, product(operands), after);
    for (size_t r = 0; r < made.size(); ++r) add(r, made[r], after);
    return;
  }
  const int64_t dim = rows_dim(operands[kQ], false);
  // Writes the gradient with halves in place of these operands, the first or
  // the second, and makes of what they give gradients of the whole.
  const auto with_halves = [&](const std::vector<size_t>& taken, bool is_first,
                               const std::vector<size_t>& of_halves,
                               const Ranks& ranks) {
    std::vector<std::string> read = operands, dead;
    for (const size_t i : taken) {
      const std::vector<std::string> parts =
          halves(operands[i], rows_dim(operands[i], is_lse(i)), ranks);
      read[i] = parts[is_first ? 0 : 1];
      dead.insert(dead.end(), parts.begin(), parts.end());
    }
    std::vector<std::string> given = made;
    for (const size_t r : of_halves) given[r] = lines_.new_name();
    write(given, product(read), ranks);
    for (const size_t r : of_halves) {
      pad(made[r], given[r], dim, is_first, "0", ranks);
      dead.push_back(given[r]);
    }
    lines_.drop(dead);
  };
  with_halves({kK, kV}, true, {kGk, kGv}, after);
  std::vector<size_t> of_rows{kQ};
  for (size_t i = kO; i < operands.size(); ++i) of_rows.push_back(i);
  with_halves(of_rows, false, {kGq}, ranks_.between(0, step));
  for (size_t r = 0; r < made.size(); ++r) add(r, made[r], all_);
}

// Adds to a gradient on these ranks.
void RingWriter::add(size_t r, const std::string& name, const Ranks& ranks) {
  lines_.write(results_[r] + " = add " + results_[r] + " " + name, ranks);
  lines_.drop({name});
}

}  // namespace gt::shard

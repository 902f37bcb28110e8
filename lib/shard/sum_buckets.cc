#include "shard/sum_buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/message.h"
#include "ops/shape_rules.h"
#include "ops/table.h"
#include "shard/placed_writer.h"
#include "shard/plan.h"
#include "spmd/redistribution.h"

namespace gt::shard {
namespace {

constexpr const char* kWhy = "small sums travel together";

// A bucket is full when what it sends takes so many times the latency: then
// more sums gain little, and the lines that read it wait for all of them.
constexpr double kFull = 8;

// True if the layout cuts nothing but rows, into equal parts.
bool is_in_rows(const Cluster& cluster, const Layout& layout,
                const Type& type) {
  return std::all_of(layout.cuts.begin(), layout.cuts.end(),
                     [](const AxisCut& cut) { return cut.dim == 0; }) &&
         cluster.pieces(layout, type).size() == 1;
}

Layout without_units(Layout layout) {
  for (AxisCut& cut : layout.cuts) cut.unit = 1;
  return layout;
}

std::string space_of(const std::string& name) {
  return name.substr(0, name.rfind('/') + 1);
}

// True if the move adds what ranks have.
bool makes_sum(const Move& move) {
  const Collective collective = collective_of(move.op);
  return move.combine.empty() && move.before.set == move.after.set &&
         (collective == Collective::kAllReduce ||
          collective == Collective::kReduceScatter);
}

// Returns those of the notes that all sums have.
template <typename Sums>
std::string common_notes(const Sums& sums) {
  const std::string text = "x = y" + sums[0].second.notes;
  Line first;
  GT_CHECK(parse_line(text, first).ok());
  std::string out;
  for (const Note& note : first.notes) {
    std::string one;
    append_note(one, note);
    const auto has_it = [&](const auto& sum) {
      return (sum.second.notes + " ").find(one + " ") != std::string::npos;
    };
    if (std::ranges::all_of(sums, has_it)) out += one;
  }
  return out;
}

// Returns along which dimension the views of sums are joined.
std::string axis_text(const Layout& after) {
  return after.cuts.empty() ? " axis=0" : " axis=1";
}

void pass(auto& link, double seconds) {
  while (!link.empty() && link.front().seconds <= seconds) {
    seconds -= link.front().seconds;
    link.pop_front();
  }
  if (!link.empty()) link.front().seconds -= seconds;
}

}  // namespace

std::string why_sent_as(Dtype dtype) {
  return "the sum is sent in " + std::string(to_string(dtype));
}

// ---- sums that come ---------------------------------------------------------

void SumBuckets::move(const std::vector<Move>& moves, const Moved& moved) {
  if (!holds_ || !hold(moves, moved)) send(moves, moved);
}

// Holds the sum back if it is small and the link is busy. Otherwise returns
// false.
bool SumBuckets::hold(const std::vector<Move>& moves, const Moved& moved) {
  if (moves.size() != 1 || !makes_sum(moves[0])) return false;
  const Move& move = moves[0];
  const auto link = links_.find(move.after.set);
  if (link == links_.end() || link->second.empty() ||
      moved.type.elements() == 0 ||
      !is_in_rows(cluster_, move.before, moved.type) ||
      !is_in_rows(cluster_, move.after, moved.type)) {
    return false;
  }
  Bucket made;
  made.before = without_units(move.before);
  made.after = without_units(move.after);
  Shape least = viewed(made.after, moved.type);
  least[least.size() - 1] = 1;
  const std::vector<Move> smallest =
      moves_of(made, {moved.type.dtype, std::move(least)});
  if (smallest.size() != 1 || smallest[0].op != move.op) return false;
  made.latency = smallest[0].seconds;
  const double copies = 2 *
                        (cluster_.piece_bytes(move.before, moved.type) +
                         cluster_.piece_bytes(move.after, moved.type)) /
                        config_.machine().memory_bandwidth;
  if (copies >= made.latency) return false;
  const std::string key = space_of(moved.to) + std::string(move.op) +
                          keys_of(smallest[0], cluster_, {}) + " " +
                          std::string(to_string(moved.type.dtype)) + " " +
                          cluster_.split_text(made.before) + " " +
                          cluster_.split_text(made.after) + "@" +
                          cluster_.ranks_text(made.after.set);
  const auto it = buckets_.try_emplace(key, std::move(made)).first;
  Bucket& bucket = it->second;
  bucket.sums.emplace_back(move, moved);
  bucket.seconds += move.seconds;
  bucket.copies += copies;
  const auto n = static_cast<double>(bucket.sums.size());
  if (bucket.seconds >= (n + kFull) * bucket.latency) {
    send(std::move(buckets_.extract(it).mapped()));
  }
  return true;
}

// Returns the shape as which a sum is viewed: a vector, or a matrix with a row
// for each part of it.
Shape SumBuckets::viewed(const Layout& after, const Type& type) const {
  if (after.cuts.empty()) return {type.elements()};
  int64_t rows = 1;
  for (const AxisCut& cut : after.cuts) {
    rows *= cluster_.count(after.set, cut.axis);
  }
  return {rows, type.elements() / rows};
}

std::vector<Move> SumBuckets::moves_of(const Bucket& bucket,
                                       const Type& type) const {
  return redistribution(cluster_, config_.machine(), type, bucket.before,
                        bucket.after);
}

// ---- links ------------------------------------------------------------------

void SumBuckets::note_sent(uint32_t set, const std::string& name,
                           double seconds) {
  if (holds_ && seconds > 0) links_[set].push_back({name, seconds});
}

void SumBuckets::touch(std::string_view name) {
  if (links_.empty() || name.empty()) return;
  const auto has_it = [&](const Bucket& bucket) {
    return std::ranges::any_of(bucket.sums, [&](const auto& sum) {
      return sum.second.to == name || sum.second.from == name;
    });
  };
  if (std::ranges::any_of(buckets_ | std::views::values, has_it)) send_all();
  const auto it = std::ranges::find_if(on_the_way_, has_it);
  if (it != on_the_way_.end()) {
    const Bucket bucket = std::move(*it);
    on_the_way_.erase(it);
    part(bucket);
  }
  for (auto& [set, link] : links_) {
    const auto sent = std::ranges::find(link, name, &Sent::name);
    if (sent == link.end()) continue;
    double left = 0;
    std::for_each(link.begin(), sent + 1,
                  [&](const Sent& before) { left += before.seconds; });
    for (auto& [other, busy] : links_) pass(busy, left);
  }
}

void SumBuckets::compute(double seconds) {
  if (links_.empty()) return;
  for (const auto& [set, link] : links_) {
    double left = 0;
    for (const Sent& sent : link) left += sent.seconds;
    if (left <= seconds) send_over(set);
  }
  for (auto& [set, link] : links_) pass(link, seconds);
}

// ---- writing ----------------------------------------------------------------

void SumBuckets::release() {
  send_all();
  for (const Bucket& bucket : std::exchange(on_the_way_, {})) part(bucket);
}

void SumBuckets::send_all() {
  for (auto& [key, bucket] : std::exchange(buckets_, {})) {
    send(std::move(bucket));
  }
}

void SumBuckets::send_over(uint32_t set) {
  std::vector<Bucket> due;
  std::erase_if(buckets_, [&](auto& bucket) {
    if (bucket.second.after.set != set) return false;
    due.push_back(std::move(bucket.second));
    return true;
  });
  for (Bucket& bucket : due) send(std::move(bucket));
}

// Writes the sums together if that takes less time than one by one.
void SumBuckets::send(Bucket bucket) {
  const double saved =
      static_cast<double>(bucket.sums.size() - 1) * bucket.latency;
  if (saved > bucket.copies) return join(std::move(bucket));
  for (const auto& [move, sum] : bucket.sums) send({move}, sum);
}

void SumBuckets::send(const std::vector<Move>& moves, const Moved& moved) {
  const bool is_cast = moved.type.dtype != moved.dtype;
  writer_.write_moves(moves, moved.type, moved.to, moved.layout.set, moved.from,
                      moved.notes, is_cast ? "" : moved.last_note, moved.why);
  if (is_cast && holds_) {
    on_the_way_.emplace_back().sums.emplace_back(Move(), moved);
  } else if (is_cast) {
    write_cast(moved);
  }
}

void SumBuckets::join(Bucket bucket) {
  const std::string notes = common_notes(bucket.sums);
  const std::string why = notes + " #why=" + quote(kWhy);
  std::string operands;
  std::vector<Type> types;
  for (const auto& [move, sum] : bucket.sums) {
    operands += " " + view(bucket, move, sum, why);
    types.push_back({sum.type.dtype, viewed(bucket.after, sum.type)});
  }
  const std::string name = values_.new_name(space_of(bucket.sums[0].second.to));
  write_local(name + " = concat" + operands + axis_text(bucket.after) + why,
              types, bucket.before, bucket.before);
  const Type all = joined_type(bucket);
  writer_.write_moves(moves_of(bucket, all), all, name, bucket.after.set, name,
                      notes, "", kWhy);
  bucket.joined = name;
  on_the_way_.push_back(std::move(bucket));
}

Type SumBuckets::joined_type(const Bucket& bucket) const {
  Type all{bucket.sums[0].second.type.dtype, {}};
  int64_t size = 0;
  for (const auto& [move, sum] : bucket.sums) {
    all.shape = viewed(bucket.after, sum.type);
    size += all.shape.back();
  }
  all.shape[all.shape.size() - 1] = size;
  return all;
}

// Writes what gives sums that were sent their own names, shapes and dtypes.
void SumBuckets::part(const Bucket& bucket) {
  if (bucket.joined.empty()) return write_cast(bucket.sums[0].second);
  const std::string why = common_notes(bucket.sums) + " #why=" + quote(kWhy);
  std::string results, sizes;
  for (const auto& [move, sum] : bucket.sums) {
    results += sum.to + " ";
    sizes += (sizes.empty() ? "" : ",") +
             std::to_string(viewed(bucket.after, sum.type).back());
  }
  write_local(results + "= split " + bucket.joined + axis_text(bucket.after) +
                  " sizes=" + sizes + why,
              {joined_type(bucket)}, bucket.after, bucket.after);
  writer_.write_free(bucket.joined, cluster_.ranks(bucket.after.set));
  values_.give_back(bucket.joined);
  for (const auto& [move, sum] : bucket.sums) finish(bucket, sum, why);
}

// Writes the line that views the sum as the bucket wants it, if it must be
// written. Returns the name that is then to be read.
std::string SumBuckets::view(const Bucket& bucket, const Move& move,
                             const Moved& sum, const std::string& notes) {
  const Shape shape = viewed(bucket.after, sum.type);
  if (sum.type.shape == shape) return sum.from;
  write_local(
      sum.to + " = reshape " + sum.from + " shape=" + list_text(shape) + notes,
      {sum.type}, move.before, bucket.before);
  return sum.to;
}

// Gives the sum its own shape and dtype.
void SumBuckets::finish(const Bucket& bucket, const Moved& sum,
                        const std::string& notes) {
  const bool is_cast = sum.type.dtype != sum.dtype;
  const Shape shape = viewed(bucket.after, sum.type);
  if (sum.type.shape != shape || (!is_cast && !sum.last_note.empty())) {
    write_local(sum.to + " = reshape " + sum.to +
                    " shape=" + list_text(sum.type.shape) + notes +
                    (is_cast ? "" : sum.last_note),
                {{sum.type.dtype, shape}}, bucket.after, sum.layout);
  }
  if (is_cast) write_cast(sum);
}

void SumBuckets::write_cast(const Moved& moved) {
  writer_.write_cast(
      moved.to, moved.to, moved.layout, {moved.dtype, moved.type.shape},
      moved.notes + moved.last_note, why_sent_as(moved.type.dtype));
}

// Writes a line that moves nothing. It reads operands of these types in the
// layout `from`, and makes results in the layout `made`.
void SumBuckets::write_local(const std::string& text,
                             const std::vector<Type>& types, const Layout& from,
                             const Layout& made) {
  Line line;
  GT_CHECK(parse_line(text, line).ok());
  std::vector<const Type*> given;
  std::vector<std::string> operands;
  for (size_t i = 0; i < types.size(); ++i) {
    given.push_back(&types[i]);
    operands.emplace_back(line.operands[i].text);
  }
  Call call;
  GT_CHECK(gt::bind(line, given, call).ok());
  Plan plan;
  plan.arguments.assign(call.arguments.size(), from);
  plan.results.assign(call.results.size(), made);
  writer_.write(line, operands, placing_of(cluster_, call, plan),
                work_seconds(cluster_, config_.machine(), call, plan));
  for (size_t r = 0; r < line.results.size(); ++r) {
    writer_.hold(std::string(line.results[r].text), made, call.results[r]);
  }
  writer_.end_line();
}

// ---- state ------------------------------------------------------------------

double SumBuckets::seconds() const {
  double seconds = 0;
  for (const auto& [key, bucket] : buckets_) seconds += bucket.seconds;
  return seconds;
}

void SumBuckets::describe(std::string& out) const {
  const auto add = [&](const Bucket& bucket) {
    for (const auto& [move, sum] : bucket.sums) {
      out += sum.to + " " + sum.from + sum.notes + sum.last_note + "; ";
    }
    out += bucket.joined + '\n';
  };
  for (const auto& [key, bucket] : buckets_) {
    out += "bucket " + key + ": ";
    add(bucket);
  }
  for (const Bucket& bucket : on_the_way_) add(bucket);
  for (const auto& [set, link] : links_) {
    for (const Sent& sent : link) {
      out += fmt::format("sent {} {} {}\n", set, sent.name, sent.seconds);
    }
  }
}

}  // namespace gt::shard

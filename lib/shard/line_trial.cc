#include "shard/line_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/message.h"
#include "ops/table.h"
#include "spmd/stated.h"

namespace gt::shard {
namespace {

// Returns the names of the line and of those behind it, and those of their
// values' casts and rests.
std::vector<std::string> names_ahead(const ValueTable& values,
                                     const LineWork& work) {
  std::vector<std::string> names = names_of(work.line);
  const LinesAhead::Behind* next = nullptr;
  for (size_t i = 0; (next = work.at.ahead->line(i)) != nullptr; ++i) {
    for (std::string& name : names_of(next->line)) {
      names.push_back(std::move(name));
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const ShardValuePtr value = values.find(names[i]);
    if (value == nullptr) continue;
    for (const std::string& ours : {value->narrow, value->scale, value->rest}) {
      if (!ours.empty()) names.push_back(ours);
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> names_of(const Line& line) {
  std::vector<std::string> names;
  for (const Note& note : line.notes) {
    if (note.key == "grad") names.push_back(unquote(note.value));
  }
  for (const Operand& o : line.operands) {
    if (is_name(o)) names.emplace_back(o.text);
  }
  for (const Name& name : line.results) names.emplace_back(name.text);
  return names;
}

LineTrial::LineTrial(const LineRewriter& tried, const LineWork& work)
    : work_(work),
      silence_(tried.config_, tried.cluster_, nullptr),
      trial_(tried, names_ahead(tried.values_, work), silence_) {}

void LineTrial::look_ahead(LineRewriter& rewriter, LineWork& work) {
  if (work.at.ahead == nullptr || work.at.depth > 0 || work.plan().bytes == 0 ||
      !work.call.op->is_product()) {
    return;
  }
  std::vector<PlanCache::Entry>& others = rewriter.chooser_.others(work);
  if (others.empty()) return;
  LineTrial::Prospect least = LineTrial(rewriter, work).prospect(*work.planned);
  if (least.readers == 0) return;
  for (PlanCache::Entry& other : others) {
    // Whether a sum that is put off will be taken is not seen so soon.
    if (other.plan.results[0].partial != work.plan().results[0].partial) {
      continue;
    }
    const LineTrial::Prospect found = LineTrial(rewriter, work).prospect(other);
    if (found.seconds >= least.seconds * (1 - 1e-9)) continue;
    work.why_ahead = fmt::format(
        "{:.3g} us with lines behind it that read the same, and not {:.3g} us",
        found.seconds * 1e6, least.seconds * 1e6);
    least = found;
    work.planned = &other;
  }
}

// Writes the line by that plan. Appends the values that it read to
// `reads`, and returns what it made.
ShardValuePtr LineTrial::begin(PlanCache::Entry& planned,
                               std::vector<ShardValuePtr>& reads) {
  LineWork first{work_.line, "", {}, work_.at};
  first.at.ahead = nullptr;
  GT_CHECK(trial_.find_values(first).ok() && trial_.bind(first).ok());
  first.set = work_.set;
  first.pin = work_.pin;
  first.sum_dtype = work_.sum_dtype;
  first.planned = &planned;
  for (const ShardValuePtr& value : first.values) {
    if (value != nullptr) reads.push_back(value);
  }
  trial_.carry_out(first);
  return trial_.values_.find(work_.line.results[0].text);
}

// Tries the line by that plan, and then the lines behind it.
LineTrial::Prospect LineTrial::prospect(PlanCache::Entry& planned) {
  // Values that the line reads, what it makes, and what is made of these point
  // by point or as a view. A sum of its result is in the price of its plan.
  std::vector<ShardValuePtr> reads;
  const ShardValuePtr made = begin(planned, reads);
  std::set<ShardValuePtr> shared(reads.begin(), reads.end());
  if (made->held == nullptr && made->layout().partial == 0) shared.insert(made);
  const auto is_shared = [&](std::string_view name) {
    const ShardValuePtr value = trial_.values_.find(name);
    return value != nullptr &&
           (shared.contains(value) ||
            shared.contains(trial_.values_.find(value->narrow)));
  };
  Prospect out{planned.plan.seconds, 0};
  const LinesAhead::Behind* next = nullptr;
  for (size_t i = 0; (next = work_.at.ahead->line(i)) != nullptr; ++i) {
    const auto& operands = next->line.operands;
    const bool is_reader = std::any_of(
        operands.begin(), operands.end(),
        [&](const Operand& o) { return is_name(o) && is_shared(o.text); });
    const double before = trial_.planned_seconds_;
    if (!trial_.take(next->line, "", next->claims, next->at).ok()) break;
    if (!is_reader || next->line.results.empty()) continue;
    out.seconds += trial_.planned_seconds_ - before;
    const Op& op = *find_op(next->line.op);
    if (op.row->alias || is_pointwise(op)) {
      shared.insert(trial_.values_.find(next->line.results[0].text));
    } else {
      ++out.readers;
    }
  }
  return out;
}

bool LineTrial::joins_sum(PlanCache::Entry& planned) {
  std::vector<ShardValuePtr> reads;
  trial_.trial_ = this;
  summands_ = begin(planned, reads);
  const LinesAhead::Behind* next = nullptr;
  for (size_t i = 0;
       summands_ != nullptr && (next = work_.at.ahead->line(i)) != nullptr;
       ++i) {
    if (!trial_.take(next->line, "", next->claims, next->at).ok()) break;
  }
  return joins_sum_;
}

// Finds out what a line does with the summands, if it reads them.
// Returns true if it reads nothing else, so that what it makes of them counts.
bool LineTrial::reads_sum(const LineWork& work) {
  bool reads = false, joins = false, is_summands = false;
  for (size_t i = 0; i < work.call.arguments.size(); ++i) {
    if (!is_tensor(work.call.arguments[i])) continue;
    const ShardValuePtr& value = work.value(i);
    const bool is_partial = work.plan().arguments[i].partial != 0;
    if (value == summands_) {
      reads = true;
      is_summands |= is_partial;
    } else {
      joins |=
          is_partial && value->held == nullptr && value->layout().partial != 0;
    }
  }
  if (!reads) return false;
  joins_sum_ = is_summands && joins;
  summands_ = nullptr;
  return is_summands && !joins && work.values.size() == 1;
}

}  // namespace gt::shard

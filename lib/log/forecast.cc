#include "log/forecast.h"

#include <algorithm>

#include "base/text.h"
#include "ops/table.h"
#include "stream/ranks.h"

namespace gt::log {
namespace {

RankTimes minus(const RankTimes& a, const RankTimes& b) {
  return {a.compute - b.compute, a.exchange - b.exchange};
}

}  // namespace

void Forecast::take(std::string_view text) {
  if (!parse_line(text, line_).ok()) return;
  const Statement statement = statement_of(line_.op);
  if (!is_declaration(statement) && !is_placed(line_)) return;
  const auto ranks = line_ranks(line_);
  if (!ranks.ok()) return;
  const LineRanks& where = ranks.value();
  const double seconds = sizes_.take(line_, where).seconds;
  find_names();
  if (statement == Statement::kPrint) {
    print(where);
  } else if (!line_.results.empty()) {
    crosses_ranks(line_, where) ? exchange(where, seconds)
                                : compute(where, seconds);
  } else if (statement == Statement::kFree) {
    for (const Operand& operand : line_.operands) {
      const auto it = ready_.find(operand.text);
      if (it != ready_.end()) ready_.erase(it);
    }
  }
  if (ready_.size() > kMostNames) ready_.clear();
}

void Forecast::find_names() {
  reads_.clear();
  for (const Operand& operand : line_.operands) {
    const auto it = ready_.find(operand.text);
    if (it != ready_.end()) reads_.push_back(&it->second);
  }
  writes_.clear();
  for (const Name& name : line_.results) {
    writes_.push_back(&ready_[std::string(name.text)]);
  }
}

// Returns when all that the line reads on a rank is there.
double Forecast::ready(int64_t rank) const {
  const auto place = static_cast<size_t>(rank);
  double at = 0;
  for (const Ready* read : reads_) {
    if (place < read->size()) at = std::max(at, (*read)[place]);
  }
  return at;
}

void Forecast::bind(int64_t rank, double end) {
  const auto place = static_cast<size_t>(rank);
  for (Ready* written : writes_) {
    if (place >= written->size()) written->resize(place + 1);
    (*written)[place] = end;
  }
  last_ = std::max(last_, end);
}

RankTimes& Forecast::spent(int64_t rank) {
  const auto place = static_cast<size_t>(rank);
  if (place >= spent_.size()) spent_.resize(place + 1);
  return spent_[place];
}

// A line that takes no time, such as a view, is no part of the queue.
void Forecast::compute(const LineRanks& where, double seconds) {
  for (const int64_t rank : where.ranks) {
    const double there = ready(rank);
    bind(rank, seconds > 0 ? clocks_.compute(rank, there, seconds) : there);
    spent(rank).compute += seconds;
  }
}

void Forecast::exchange(const LineRanks& where, double seconds) {
  const Ranks& senders = where.operands[0];
  double there = 0;
  for (const int64_t rank : senders) {
    there = std::max(there, ready(rank));
  }
  const bool travels = seconds > 0;
  const double end =
      travels ? clocks_.exchange(senders, where.ranks, there, seconds) : 0;
  for (const int64_t rank : where.ranks) {
    spent(rank).exchange += seconds;
    bind(rank, travels ? end : clocks_.pass(rank, ready(rank)));
  }
}

void Forecast::print(const LineRanks& where) {
  const std::string name = printed_name(line_);
  if (step_.empty()) step_ = name;
  if (name != step_) return;
  double end = 0;
  for (const int64_t rank : where.operands[0]) {
    end = std::max(end, clocks_.compute(rank, ready(rank), 0));
  }
  ends_.push_back(end);
  at_ends_.push_back(spent_);
}

StepTimes Forecast::times() const {
  const StepWindow window(ends_.size());
  StepTimes out;
  out.steps = window.steps();
  const bool is_told = out.steps > 0;
  const double times = is_told ? static_cast<double>(out.steps) : 1;
  out.step =
      is_told ? (ends_[window.last] - ends_[window.first]) / times : last_;
  const std::vector<RankTimes>& all = is_told ? at_ends_[window.last] : spent_;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    RankTimes of = all[rank];
    if (is_told && rank < at_ends_[window.first].size()) {
      of = minus(of, at_ends_[window.first][rank]);
    }
    if (of.compute == 0 && of.exchange == 0) continue;
    out.ranks[static_cast<int64_t>(rank)] = {of.compute / times,
                                             of.exchange / times};
  }
  return out;
}

}  // namespace gt::log

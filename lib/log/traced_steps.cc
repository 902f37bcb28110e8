#include "log/traced_steps.h"

#include <algorithm>

#include "base/text.h"
#include "ops/table.h"

namespace gt::log {

double TracedSteps::Span::within(uint64_t from, uint64_t to) const {
  const uint64_t begin = std::max(start, from), until = std::min(end, to);
  if (until <= begin) return 0;
  return static_cast<double>(busy) * static_cast<double>(until - begin) /
         static_cast<double>(end - start);
}

// A worker stands for the rank of its number, unless it has more than one, and
// its row says which.
void TracedSteps::take(const TraceRow& row) {
  int64_t rank = 0;
  if (!read_number(row.worker, rank)) return;
  int64_t said = 0;
  if (read_number(row.rank, said)) rank = said;
  first_ = std::min(first_, row.start);
  last_ = std::max(last_, row.end);
  const bool computes = row.queue == "compute";
  if (statement_of(row.op) == Statement::kPrint) {
    if (parse_line(row.text, line_).ok() && printed_name(line_) == step_) {
      prints_[rank].push_back(row.end);
    }
    return;
  }
  if (!computes && row.queue != "comm") return;
  Queue& queue = queues_[{rank, computes}];
  if (queue.empty() || row.start > queue.back().end + kGap) {
    queue.push_back({row.start, row.start, 0});
  }
  Span& span = queue.back();
  span.busy += row.end - row.start;
  span.end = std::max(span.end, row.end);
}

StepTimes TracedSteps::times() const {
  // A print of many ranks ends with the last of them.
  std::vector<uint64_t> ends;
  for (const auto& [rank, of] : prints_) {
    ends.resize(std::max(ends.size(), of.size()));
    for (size_t i = 0; i < of.size(); ++i) ends[i] = std::max(ends[i], of[i]);
  }
  const StepWindow window(ends.size());
  StepTimes out;
  out.steps = window.steps();
  const bool is_told = out.steps > 0;
  const uint64_t from = is_told ? ends[window.first] : first_;
  const uint64_t to = is_told ? ends[window.last] : last_;
  const double times = 1e9 * (is_told ? static_cast<double>(out.steps) : 1);
  out.step = static_cast<double>(to - std::min(from, to)) / times;
  for (const auto& [key, queue] : queues_) {
    RankTimes& rank = out.ranks[key.first];
    double& seconds = key.second ? rank.compute : rank.exchange;
    for (const Span& span : queue) seconds += span.within(from, to) / times;
  }
  return out;
}

}  // namespace gt::log

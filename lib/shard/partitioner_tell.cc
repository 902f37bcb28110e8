// What people are told: why a line was taken as it was, and what all of them
// cost.
#include <algorithm>
#include <cstdio>

#include "shard/partitioner.h"

namespace gt {

void Partitioner::explain(const Work& work) {
  if (!explain_ || depth_ > 0) return;
  std::string text = place_ + ": " + std::string(work.text) + "\n";
  for (const Alternative& a : work.plan().alternatives) {
    char cost[32];
    std::snprintf(cost, sizeof cost, "%.3g us", a.seconds * 1e6);
    text += std::string(a.chosen ? "  * " : "    ") +
            cluster_.axis_name(a.axis) + ": " + a.what + ": " + cost + "\n";
  }
  explained_ += text;
}

// What the line became, if that is not one line of its op, and its result.
void Partitioner::explain_result(const Work& work, std::string_view expanded) {
  if (!explain_ || depth_ > 0) return;
  if (!expanded.empty()) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "    as its expansion, which sends %.6g bytes from each rank "
                  "and not %.6g:\n",
                  *work.planned->bytes_expanded, work.plan().bytes);
    explained_ += text;
  }
  while (!expanded.empty()) {
    const std::string_view line = expanded.substr(0, expanded.find('\n'));
    explained_ += "      | " + std::string(line) + "\n";
    expanded.remove_prefix(std::min(line.size() + 1, expanded.size()));
  }
  const ShardValuePtr value =
      work.line.results.empty() ? nullptr : find(work.line.results[0].text);
  if (value == nullptr || value->copies.empty()) return;
  explained_ +=
      "    -> " + cluster_.describe(value->copies[0].layout) +
      (work.pin ? ", as " + config_.place(work.pin_line) + " says" : "") + "\n";
}

void Partitioner::explain_created(const UnwrittenLine& held,
                                  const Layout& layout) {
  if (!explain_ || is_trial_) return;
  std::string why = ", as " + place_ + " reads it";
  if (held.pin) {
    why = held.pin_line == 0 ? ", as the line says"
                             : ", as " + config_.place(held.pin_line) + " says";
  }
  created_ += held.place + ": " + held.text + "\n    -> " +
              cluster_.describe(layout) + why + "\n";
}

// ---- costs
// ------------------------------------------------------------------

void Partitioner::holds(const std::string& name, const Layout& layout,
                        const Type& whole) {
  if (is_trial_) return;
  memory_.bind(name, cluster_.ranks(layout.set),
               cluster_.bytes_of_pieces(layout, whole));
}

void Partitioner::line_ends() {
  if (!is_trial_) memory_.end_line();
}

void Partitioner::lets_go(const std::string& name, const Ranks& ranks) {
  if (!is_trial_) memory_.free(name, ranks);
}

void Partitioner::end_round() {
  const ShardCosts before = round_;
  round_ = costs_;
  round_.seconds -= before.seconds;
  for (const auto& [op, traffic] : before.traffic) {
    round_.traffic[op].lines -= traffic.lines;
    round_.traffic[op].bytes -= traffic.bytes;
  }
}

void Partitioner::repeat_costs(double rounds) {
  costs_.seconds += round_.seconds * rounds;
  for (const auto& [op, traffic] : round_.traffic) {
    ShardCosts::Traffic& sum = costs_.traffic[op];
    sum.lines +=
        static_cast<uint64_t>(static_cast<double>(traffic.lines) * rounds);
    sum.bytes += traffic.bytes * rounds;
  }
}

}  // namespace gt

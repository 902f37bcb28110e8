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
    text += std::string(a.chosen ? "  * " : "    ") + a.axes + ": " + a.what +
            ": " + cost + "\n";
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
  } else if (work.plan().sums_halves) {
    explained_ += "    in f32, and rounded when its parts are summed\n";
  }
  while (!expanded.empty()) {
    const std::string_view line = expanded.substr(0, expanded.find('\n'));
    explained_ += "      | " + std::string(line) + "\n";
    expanded.remove_prefix(std::min(line.size() + 1, expanded.size()));
  }
  const ShardValuePtr value =
      work.line.results.empty() ? nullptr : find(work.line.results[0].text);
  if (value == nullptr || value->copies.empty()) return;
  explained_ += "    -> " + cluster_.describe(value->copies[0].layout) +
                (work.pin ? as_said(work.pin_line) : "") +
                not_as_said(claims_, value->copies[0].layout) + "\n";
}

// Whose wish it was; line 0: of the line's own notes, or its part=.
std::string Partitioner::as_said(size_t line) const {
  return line == 0 ? ", as the line says"
                   : ", as " + config_.place(line) + " says";
}

// Of notes that would be false of what came.
std::string Partitioner::not_as_said(const Claims& claims,
                                     const Layout& layout) const {
  if (claims_hold(claims, cluster_, layout)) return "";
  std::string out = ", not as";
  if (!claims.type.empty()) out += " #type=" + claims.type;
  if (!claims.spec.empty()) out += " #spec=" + claims.spec;
  return out + " says";
}

void Partitioner::explain_created(const UnwrittenLine& held,
                                  const Layout& layout) {
  if (!explain_ || is_trial_) return;
  std::string why =
      is_unread_ ? ", read by nobody" : ", as " + place_ + " reads it";
  if (held.pin) why = as_said(held.pin_line);
  created_ += held.place + ": " + held.text + "\n    -> " +
              cluster_.describe(layout) + why +
              not_as_said(held.claims, layout) + "\n";
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

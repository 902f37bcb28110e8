#include "log/rehearsal.h"

#include <algorithm>

#include "base/units.h"
#include "log/table.h"

namespace gt::log {
namespace {

// One figure of both sides, in seconds.
struct Pair {
  double expected = 0;
  double ran = 0;
  std::string ratio() const {
    return ran > 0 ? decimal(expected / ran, 3) : "-";
  }
};

// The figures of a rank, or of all together.
struct Sides {
  Pair compute, exchange, wait;
};

// Returns the figures by rank. A rank waits when it does not compute.
std::map<int64_t, Sides> by_rank(const StepTimes& expected,
                                 const StepTimes& ran) {
  std::map<int64_t, Sides> out;
  const auto add = [&out](const StepTimes& from, double Pair::*side) {
    for (const auto& [rank, times] : from.ranks) {
      Sides& of = out[rank];
      of.compute.*side = times.compute;
      of.exchange.*side = times.exchange;
      of.wait.*side = std::max(0.0, from.step - times.compute);
    }
  };
  add(expected, &Pair::expected);
  add(ran, &Pair::ran);
  return out;
}

void add_cells(Cells& row, const Pair& pair) {
  row.push_back(time_text(1e9 * pair.expected));
  row.push_back(time_text(1e9 * pair.ran));
}

void append_row(std::string& out, const std::string& what,
                const std::string& rank, const Pair& pair) {
  out += what + "\t" + rank + "\t" + decimal(1e9 * pair.expected, 0) + "\t" +
         decimal(1e9 * pair.ran, 0) + "\t" + pair.ratio() + "\n";
}

}  // namespace

void Rehearsal::take(const Input& input) {
  if (input.form() == Input::Form::kTrace) {
    if (!traced_) traced_.emplace(forecast_.step());
    traced_->take(input.trace_row());
  } else if (!traced_) {
    forecast_.take(input.text());
  }
}

std::string Rehearsal::lack() const {
  if (forecast_.times().ranks.empty()) {
    return "there is no placed stream before the trace; gt-shard writes one, "
           "as in gt-log --rehearsal FIGURES placed.s run.trace";
  }
  if (!traced_ || !traced_->is_run()) {
    return "there is no trace of a run behind the stream; gt-route --trace "
           "FILE writes one";
  }
  return "";
}

std::string Rehearsal::text() const {
  const StepTimes expected = forecast_.times(), ran = traced_->times();
  const Pair step{expected.step, ran.step};
  std::vector<Cells> table = {{"steps", "predicted", "rehearsed", "ratio"}};
  Cells& cells = table.emplace_back(Cells{std::to_string(ran.steps)});
  add_cells(cells, step);
  cells.push_back(step.ratio());
  std::string out;
  append_columns(out, table);
  table = {{"rank", "compute", "rehearsed", "exchange", "rehearsed", "wait",
            "rehearsed"}};
  for (const auto& [rank, of] : by_rank(expected, ran)) {
    Cells& row = table.emplace_back(Cells{std::to_string(rank)});
    for (const Pair& pair : {of.compute, of.exchange, of.wait}) {
      add_cells(row, pair);
    }
  }
  out += '\n';
  append_columns(out, table);
  return out;
}

std::string Rehearsal::tsv() const {
  const StepTimes expected = forecast_.times(), ran = traced_->times();
  std::string out = "what\trank\tpredicted\trehearsed\tratio\n";
  append_row(out, "step", "-", {expected.step, ran.step});
  for (const auto& [rank, of] : by_rank(expected, ran)) {
    const std::string name = std::to_string(rank);
    append_row(out, "compute", name, of.compute);
    append_row(out, "exchange", name, of.exchange);
    append_row(out, "wait", name, of.wait);
  }
  return out;
}

}  // namespace gt::log

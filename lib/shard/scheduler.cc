#include "shard/scheduler.h"

#include <algorithm>

#include "base/text.h"
#include "ops/table.h"
#include "stream/marks.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

// Returns true if gt-emit or gt-shard wrote the line for other lines. Then it
// moves a value (#why=), or all of its results have invented names. gt-emit
// invents names for the next seed, and for a second name of a value whose name
// is bound again.
bool is_inserted(const Line& line) {
  const bool is_invented = std::all_of(
      line.results.begin(), line.results.end(), [](const Name& name) {
        const size_t own = name.text.rfind('/') + 1;
        return name.text.substr(own).starts_with('_');
      });
  return line.note("why") != nullptr || (is_invented && !line.results.empty());
}

}  // namespace

int64_t microbatch_of(const Line& line) {
  const std::string_view* note = line.note("mb");
  int64_t number = -1;
  if (note == nullptr || !read_number(*note, number) || number < 0) return -1;
  return number;
}

Status check_microbatch(std::string_view text) {
  if (text.find("#mb") == text.npos) return ok_status();
  Line line;
  if (!parse_line(text, line).ok()) return ok_status();
  const std::string_view* note = line.note("mb");
  if (note == nullptr || microbatch_of(line) >= 0) return ok_status();
  return Error{"expected the number of a microbatch, #mb=0 or more, got '" +
                   std::string(*note) +
                   "'; the schedule takes the line for one of no microbatch",
               text.find("#mb") + 1};
}

void Scheduler::take(std::string_view lines, std::string& out) {
  round_ = {};
  take_lines(lines, out);
}

void Scheduler::take_round(std::string_view lines, std::string& out) {
  const bool is_same = lines == round_.lines;
  if (is_same && round_.is_steady) {
    out += round_.out;
    costs_.repeat(round_.before, round_.after);
    return;
  }
  const ScheduleCosts before = costs_;
  std::string made;
  take_lines(lines, made);
  out += made;
  // If the round closed a window, the window that is open now has only lines
  // from the end of the round. So it is the same after each such round.
  const bool has_closed = costs_.windows > before.windows;
  const bool is_steady = is_same && has_closed && made == round_.out;
  round_ = {std::string(lines), std::move(made), before, costs_, is_steady};
}

void Scheduler::take_line(std::string_view text, std::string& out) {
  Line line;
  const bool is_line = parse_line(text, line).ok();
  if (!is_line || line.kind != Line::Kind::kInstruction) {
    // After a #sync a client waits for the lines before it.
    if (!is_line || !sync_of(text).empty()) close(out);
    out += text;
    out += '\n';
    return;
  }
  const auto where = line_ranks(line);
  if (ends_order(line) || !where.ok()) {
    close_before(text, out);
    costs_.between += pass(text, line, where, out);
    return;
  }
  // A free is no work of a microbatch, and of no stage; it comes when what it
  // frees has been read.
  const bool is_free = statement_of(line.op) == Statement::kFree;
  const int64_t microbatch = is_free ? -1 : microbatch_of(line);
  const bool is_full =
      schedule_.window > 0 && microbatch >= 0 &&
      static_cast<int64_t>(window_.microbatches()) == schedule_.window &&
      !window_.has_microbatch(microbatch);
  if (is_full || window_.size() >= kMostLines || bytes_ >= kMostBytes) {
    close(out);
  }
  if (microbatch < 0 && !belongs(line)) {
    if (window_.is_read_by(line)) close_before(text, out);
    costs_.between += pass(text, line, where, out);
    return;
  }
  if (microbatch >= 0) check_end(microbatch);
  window_.add(text, line, where.value(), microbatch,
              sizes_.take(line, where.value()));
  bytes_ += text.size();
}

// Returns true if a line of no microbatch is ordered with the window.
bool Scheduler::belongs(const Line& line) const {
  if (window_.is_empty()) return false;
  if (statement_of(line.op) == Statement::kFree) {
    return window_.is_changed_by(line);
  }
  if (window_.is_read_by(line)) {
    return is_inserted(line) || !window_.is_microbatch_changed_by(line);
  }
  return window_.is_changed_by(line);
}

// Closes the window, since this line must not be ordered with it.
void Scheduler::close_before(std::string_view text, std::string& out) {
  if (window_.is_empty()) return;
  if (!end_.is_told && window_.first_microbatch() >= 0) {
    end_ = {std::string(text), on_early_end_.place_of(text),
            window_.first_microbatch(), false};
  }
  close(out);
}

// Tells of the line that closed the last window if the microbatches go on
// behind it. A next step would begin with the first of them again.
void Scheduler::check_end(int64_t microbatch) {
  if (end_.text.empty() || end_.is_told) return;
  if (microbatch != end_.first_microbatch) {
    on_early_end_.say(end_.place, end_.text, microbatch);
    end_.is_told = true;
  }
  end_.text.clear();
}

void Scheduler::close(std::string& out) {
  if (window_.is_empty()) return;
  const size_t microbatches = window_.microbatches();
  const Order order = window_.close(*schedule_.kind, memory_, out);
  bytes_ = 0;
  ++costs_.windows;
  costs_.most_microbatches = std::max(costs_.most_microbatches, microbatches);
  costs_.seconds += costs_.windows == 1 ? order.seconds : order.period;
  costs_.busy += order.busy;
  costs_.ranks = std::max(costs_.ranks, order.ranks);
  costs_.stages = std::max(costs_.stages, order.stages);
  costs_.most_open = std::max(costs_.most_open, order.most_open);
  costs_.most_parts = std::max(costs_.most_parts, order.most_parts);
  costs_.comes_back |= order.comes_back;
}

}  // namespace gt::shard

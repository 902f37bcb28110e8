#include "log/messages.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gt::log {
namespace {

std::pair<uint64_t, uint64_t> place_of(const Messages::Exchange& exchange) {
  return {exchange.worker, exchange.seq};
}

}  // namespace

double Messages::price(std::string_view text) {
  constexpr double kUnknown = 1000;
  constexpr double kStart = 500;  // of any that computes
  const Priced& line = typing_.take(text);
  if (!line.typed) return kUnknown;
  if (line.bytes == 0 && line.flops == 0) return 0;
  return kStart + line.bytes / 10 + line.flops / 20;
}

void Messages::take(const RunLog::Span& span,
                    const std::vector<const RunLog::Issue*>& lines) {
  ++count_;
  Message message{span.worker, span.start, span.end, {}};
  for (const RunLog::Issue* issue : lines) {
    if (lines_ == kMost) {
      ++left_out_;
      continue;
    }
    ++lines_;
    message.lines.push_back({issue->seq, issue->text, issue->cost});
  }
  messages_.push_back(std::move(message));
}

std::span<const Messages::Exchange> Messages::exchanges_of(uint64_t worker,
                                                           uint64_t seq) const {
  // Not ranges::equal_range, which Debian 12's clang does not compile.
  const std::pair place(worker, seq);
  return {std::ranges::lower_bound(exchanges_, place, {}, place_of),
          std::ranges::upper_bound(exchanges_, place, {}, place_of)};
}

// Finds when what each line reads came from another worker, and when what it
// made left. Drops the lines that brought it, which ran as exchanges, and those
// that do nothing.
void Messages::find_crossings(Message& message) const {
  std::map<std::string, uint64_t, std::less<>> came;
  std::map<std::string, size_t, std::less<>> made;  // by which line computed
  std::vector<Line> computed;
  gt::Line parsed;
  for (Line& line : message.lines) {
    if (!parse_line(line.text, parsed).ok()) continue;
    const auto found = exchanges_of(message.worker, line.seq);
    uint64_t start = UINT64_MAX;
    uint64_t end = 0;
    for (const Exchange& exchange : found) {
      start = std::min(start, exchange.start);
      end = std::max(end, exchange.end);
    }
    for (const Operand& operand : parsed.operands) {
      if (const auto it = came.find(operand.text); it != came.end()) {
        line.ready = std::max(line.ready, it->second);
      }
      const auto maker = made.find(operand.text);
      if (found.empty() || maker == made.end()) continue;
      uint64_t& ended = computed[maker->second].ended;
      ended = ended == 0 ? start : std::min(ended, start);
    }
    const bool computes = found.empty() && line.cost > 0;
    for (const Name& name : parsed.results) {
      came.insert_or_assign(std::string(name.text), end);
      if (computes) {
        made.insert_or_assign(std::string(name.text), computed.size());
      } else if (const auto it = made.find(name.text);
                 it != made.end() && !found.empty()) {
        made.erase(it);
      }
    }
    if (computes) computed.push_back(std::move(line));
  }
  message.lines = std::move(computed);
}

// Returns when the lines end if each takes `scale` times its cost.
double Messages::end_of(std::span<const Line> lines, double start,
                        double scale) {
  double now = start;
  for (const Line& line : lines) {
    now = std::max(now, static_cast<double>(line.ready)) + scale * line.cost;
  }
  return now;
}

// Returns the scale with which the lines end at that time, or as soon after it
// as what they wait for lets them.
double Messages::scale_for(std::span<const Line> lines, double start,
                           double end) {
  double low = 0;
  double high = 1;
  while (high < 1e12 && end_of(lines, start, high) < end) high *= 2;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (end_of(lines, start, middle) < end ? low : high) = middle;
  }
  return low;
}

// Visits lines of a message that follow each other, the last of which ends at
// that time. Returns when it does.
double Messages::visit_lines(const Message& message,
                             std::span<const Line> lines, double start,
                             double end,
                             const std::function<void(const Ran&)>& visit) {
  const double scale = scale_for(lines, start, end);
  double now = start;
  for (const Line& line : lines) {
    const double from = std::max(now, static_cast<double>(line.ready));
    now = from + scale * line.cost;
    const auto ended = std::min(static_cast<uint64_t>(now), message.end);
    const auto began = std::min(static_cast<uint64_t>(from), ended);
    visit({message.worker, line.seq, line.text, began, ended});
  }
  return now;
}

void Messages::share_time(const std::function<void(const Ran&)>& visit) {
  std::ranges::stable_sort(exchanges_, {}, place_of);
  for (Message& message : messages_) {
    find_crossings(message);
    const std::span<const Line> all = message.lines;
    auto now = static_cast<double>(message.start);
    for (size_t from = 0; from < all.size();) {
      size_t to = from;
      while (to < all.size() && all[to].ended == 0) ++to;
      const uint64_t end = to < all.size() ? all[to].ended : message.end;
      if (to < all.size()) ++to;
      now = visit_lines(message, all.subspan(from, to - from), now,
                        static_cast<double>(std::min(end, message.end)), visit);
      from = to;
    }
  }
}

}  // namespace gt::log

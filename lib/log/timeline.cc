#include "log/timeline.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

#include "ops/table.h"
#include "stream/ranks.h"

namespace gt::log {
namespace {

// A row with more ranks than this has a lane of its own.
constexpr size_t kMaxSeats = 256;

// Orders numbered ranks by their numbers, and the others behind them by name.
std::tuple<bool, uint64_t, std::string_view> order_of(std::string_view rank) {
  uint64_t number = 0;
  const char* end = rank.data() + rank.size();
  const bool numbered =
      std::from_chars(rank.data(), end, number).ec == std::errc{};
  return {!numbered, number, rank};
}

template <typename T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<T>>;

bool is_alias(std::string_view op) {
  const Op* row = find_op(op);
  return row != nullptr && row->row->alias;
}

}  // namespace

uint32_t Timeline::intern(std::string_view word) {
  if (const auto it = ids_.find(word); it != ids_.end()) return it->second;
  const auto id = static_cast<uint32_t>(words_.size());
  words_.push_back(&ids_.emplace(word, id).first->first);
  return id;
}

uint32_t Timeline::lane_of(const Seat& seat, std::string_view queue) {
  std::string key = seat.rank + "\t" + std::string(queue);
  const auto [it, fresh] = lane_ids_.try_emplace(
      std::move(key), static_cast<uint32_t>(lanes_.size()));
  if (fresh) lanes_.push_back({seat.rank, std::string(queue), 0, {}});
  return it->second;
}

void Timeline::take(const Input& input) {
  const TraceRow& row = input.trace_row();
  if (is_outside(row.start, row.end)) return;
  const Subject subject = subject_of(input, line_, signal_);
  if (selection_ != nullptr && !selection_->matches(subject)) return;
  if (!row.worker.empty()) {
    return take_worker_row(row, {std::string(row.worker), 0, 1}, subject);
  }
  const auto ranks = parse_ranks(row.rank);
  if (!ranks.ok() || ranks.value().size() > kMaxSeats) {
    return take_seat(row, {std::string(row.rank), 0, 1}, subject);
  }
  for (size_t i = 0; i < ranks.value().size(); ++i) {
    take_seat(row, {std::to_string(ranks.value()[i]), i, ranks.value().size()},
              subject);
  }
}

void Timeline::take_seat(const TraceRow& row, const Seat& seat,
                         const Subject& subject) {
  if (row.start == row.end && is_alias(row.op)) {
    if (subject.line != nullptr) find_flows(seat, kNobody);
    return;
  }
  if (events_.size() >= kMaxEvents) {
    left_out_ += seat.place == 0 ? 1 : 0;
    return;
  }
  const uint32_t event = add_row(row, seat, subject);
  if (subject.line != nullptr) find_flows(seat, event);
}

void Timeline::take_notes(Event& event, const Line& line) {
  if (const auto* mb = line.note("mb")) event.mb = intern(unquote(*mb));
  event.pass = pass_of(line);
  event.in_place = is_in_place(line);
}

uint32_t Timeline::add_row(const TraceRow& row, const Seat& seat,
                           const Subject& subject) {
  rows_ += seat.place == 0 ? 1 : 0;
  Event event{};
  event.start = row.start;
  event.end = row.end;
  event.flops = row.flops;
  event.bytes = row.bytes;
  event.lane = lane_of(seat, row.queue);
  event.op = intern(row.op);
  event.signal = intern(subject.signal);
  event.at = intern(row.at);
  event.text = intern(row.text);
  if (subject.line != nullptr) take_notes(event, *subject.line);
  events_.push_back(event);
  return static_cast<uint32_t>(events_.size() - 1);
}

void Timeline::take_worker_row(const TraceRow& row, const Seat& seat,
                               const Subject& subject) {
  if (events_.size() >= kMaxEvents || worker_rows_.size() >= kMaxFlows) {
    ++left_out_;
    return;
  }
  const bool aliases = row.start == row.end && is_alias(row.op);
  const uint32_t event = aliases ? kNobody : add_row(row, seat, subject);
  makers_.add_worker(seat.rank);
  worker_rows_.push_back({row.start, event, intern(seat.rank), intern(row.rank),
                          intern(row.text), row.queue == "comm"});
}

void Timeline::find_worker_flows() {
  std::ranges::stable_sort(worker_rows_, {}, &WorkerRow::start);
  for (const WorkerRow& row : worker_rows_) {
    if (!parse_line(word(row.text), line_).ok()) continue;
    const std::string& worker = word(row.worker);
    const auto ranks = parse_ranks(word(row.rank));
    if (!ranks.ok()) {
      find_flows({word(row.rank), 0, 1, worker, row.crosses}, row.event);
      continue;
    }
    const std::vector<int64_t>& all = ranks.value();
    for (size_t i = 0; i < std::min(all.size(), kMaxSeats); ++i) {
      find_flows({std::to_string(all[i]), i, all.size(), worker, row.crosses},
                 row.event);
    }
  }
}

// Adds the flows to an event, or what takes its place, from those that made
// what its line reads. What reads the gradient of a weight is the update, until
// a result takes the place of what was updated.
void Timeline::find_flows(const Seat& seat, uint32_t event) {
  const uint64_t start = event == kNobody ? 0 : events_[event].start;
  for (const uint32_t from : makers_.take(line_, seat, event, start)) {
    const Event& maker = events_[from];
    Event& reader = events_[event];
    if (reader.pass == Pass::kForward &&
        (maker.pass == Pass::kWeight ||
         (maker.pass == Pass::kUpdate && !maker.in_place))) {
      reader.pass = Pass::kUpdate;
    }
    if (flows_.size() < kMaxFlows) flows_.push_back({from, event, !is_run()});
  }
}

void Timeline::finish() {
  draw_messages();
  draw_transfers();
  find_worker_flows();
  sort_events();
  begin_ = events_.empty() ? 0 : events_.front().start;
  end_ = begin_;
  for (const Event& event : events_) end_ = std::max(end_, event.end);
  if (options_.from > 0) begin_ = options_.from;
  if (options_.to != UINT64_MAX) end_ = options_.to;
  sort_lanes();
}

// Sorts events by start: each queue writes its rows in order, but the rows of
// queues come mixed.
void Timeline::sort_events() {
  std::vector<uint32_t> order(events_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    return events_[a].start < events_[b].start;
  });
  std::vector<uint32_t> place(order.size());
  std::vector<Event> sorted;
  sorted.reserve(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(events_[order[i]]);
  }
  events_ = std::move(sorted);
  for (Flow& flow : flows_) {
    flow = {place[flow.from], place[flow.to], flow.is_drawn};
  }
  // A value cannot be read before it is made, whatever the file says.
  std::erase_if(flows_, [this](const Flow& flow) {
    return flow.from >= flow.to ||
           events_[flow.from].start > events_[flow.to].start;
  });
}

// Gives events to lanes. Events that overlap with others of a lane get further
// lanes.
void Timeline::sort_lanes() {
  std::vector<uint32_t> order(lanes_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    return std::tuple(order_of(lanes_[a].rank), lanes_[a].queue) <
           std::tuple(order_of(lanes_[b].rank), lanes_[b].queue);
  });
  std::vector<std::vector<uint32_t>> members(lanes_.size());
  for (uint32_t i = 0; i < events_.size(); ++i) {
    members[events_[i].lane].push_back(i);
  }
  std::vector<Lane> sorted;
  for (const uint32_t old : order) {
    const size_t first = sorted.size();
    // The time until which each lane is taken.
    MinHeap<std::pair<uint64_t, size_t>> taken;
    MinHeap<size_t> free;
    for (const uint32_t i : members[old]) {
      while (!taken.empty() && taken.top().first <= events_[i].start) {
        free.push(taken.top().second);
        taken.pop();
      }
      const size_t lane = free.empty() ? sorted.size() : free.top();
      if (!free.empty()) free.pop();
      taken.emplace(events_[i].end, lane);
      if (lane == sorted.size()) {
        sorted.push_back({lanes_[old].rank, lanes_[old].queue, 0, {}});
        if (lane > first) {
          sorted.back().queue += " " + std::to_string(lane - first + 1);
        }
      }
      sorted[lane].events.push_back(i);
      sorted[lane].busy += std::min(events_[i].end, options_.to) -
                           std::max(events_[i].start, options_.from);
      events_[i].lane = static_cast<uint32_t>(lane);
    }
  }
  lanes_ = std::move(sorted);
}

}  // namespace gt::log

// Timeline, for gt-log --timeline: what ran when, in lanes; and its drawing as
// SVG and as Chrome's trace JSON, which Perfetto opens. For a trace of one
// process (gt-work --trace) there is a lane for each rank and queue, and a row
// of several ranks is in the lanes of all of them. For the trace or the log of
// a run (gt-route --trace, --log) there is a lane for each worker and queue,
// and a row is in one of them. Times are in nanoseconds.
//
// What its events are in a training step, and what they waited for, says Steps
// (steps.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/writer.h"
#include "log/input.h"
#include "log/makers.h"
#include "log/messages.h"
#include "log/pass.h"
#include "log/run_log.h"
#include "log/select.h"

namespace gt::log {

struct TimelineOptions {
  // The part of the trace to draw, in nanoseconds since its start.
  uint64_t from = 0;
  uint64_t to = UINT64_MAX;
  std::string title;
};

class Timeline {
 public:
  static constexpr uint32_t kNobody = UINT32_MAX;
  // The most events in a picture: larger ones are of no use. The rest is left
  // out, and reported.
  static constexpr size_t kMaxEvents = 1'000'000;

  struct Lane {
    std::string rank;  // the rank or worker; "-": the row is not placed
    // "compute"; "compute 2" for events that overlap with those.
    std::string queue;
    uint64_t busy = 0;  // nanoseconds in which something ran
    // In the order of their starts, not overlapping.
    std::vector<uint32_t> events;
  };
  struct Event {
    uint64_t start, end;
    double flops;
    uint64_t bytes;
    uint32_t lane;
    uint32_t op, signal, at, text;  // numbers of words, see word()
    uint32_t mb = kNobody;          // the microbatch, a word; or kNobody
    Pass pass = Pass::kNone;
    bool in_place = false;      // a result has the name of an operand
    bool is_estimated = false;  // the times are not measured
    uint64_t length() const { return end - start; }
  };
  // A value that goes from the event that made it to one that reads it.
  struct Flow {
    uint32_t from, to;
    bool is_drawn;  // of a run's log only transfers are
  };

  Timeline(const Selection* selection, TimelineOptions options)
      : selection_(selection), options_(std::move(options)) {}

  // Takes the current row of a trace.
  void take(const Input& input);
  // Takes a row of the log of a run.
  void take(const LogRow& row);
  // Sorts events and lanes, and finds the flows between workers and the time
  // that the timeline spans. To be called after the last row, and before the
  // following functions.
  void finish();

  const TimelineOptions& options() const { return options_; }
  const std::vector<Lane>& lanes() const { return lanes_; }
  // The events are ordered by start.
  const std::vector<Event>& events() const { return events_; }
  const std::vector<Flow>& flows() const { return flows_; }
  bool is_whole() const { return selection_ == nullptr; }  // has all lines
  // True if the input is the log of a run, whose flows are transfers.
  bool is_run() const { return log_.is_run(); }
  // Returns how many messages of such a log had several instructions: the log
  // has the time of the message, and that of each instruction is estimated. Of
  // those whose instructions are not known an event stands for the message.
  size_t batches() const { return messages_.count(); }
  // True if the lanes are those of workers.
  bool has_workers() const { return is_run() || !worker_rows_.empty(); }
  // Returns "rank 3", "worker 0", or "" for a lane that is not placed.
  std::string owner(const Lane& lane) const {
    if (lane.rank == "-") return "";
    return (has_workers() ? "worker " : "rank ") + lane.rank;
  }
  const std::string& word(uint32_t id) const { return *words_[id]; }
  size_t words() const { return words_.size(); }
  size_t rows() const { return rows_; }  // rows of the trace that are drawn
  // begin() and end() are the time that the drawing spans.
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  size_t left_out() const { return left_out_; }  // rows beyond kMaxEvents

 private:
  static constexpr size_t kMaxFlows = 4 * kMaxEvents;

  // A transfer in the log of a run; `text` is the number of a word.
  struct Transfer {
    uint64_t from, to, start, end, seq, bytes;
    uint32_t text;
  };
  // An event of a worker's comm queue.
  struct Exchanged {
    uint64_t worker, seq;
    uint32_t event;
  };

  // A row of a worker's trace. Rows of several workers come mixed and not in
  // the order of their times, so the events that made what a row reads are
  // found only after the last row.
  struct WorkerRow {
    uint64_t start;
    // kNobody: the line only gives a value another name.
    uint32_t event;
    uint32_t worker, rank, text;  // numbers of words
    // The row may read a value that another worker made.
    bool crosses;
  };

  bool is_outside(uint64_t start, uint64_t end) const {
    return end < options_.from || start > options_.to;
  }
  void take_span(const RunLog::Span& span);
  void draw_messages();
  void add_log_row(uint32_t event, uint64_t worker, std::string_view text,
                   bool crosses);
  void name_event(Event& event, std::string_view text);
  void take_transfer(const RunLog::Transfer& transfer);
  void draw_transfers();
  void draw_transfer(const Transfer& transfer);
  uint32_t add_event(uint64_t worker, std::string_view queue, uint64_t start,
                     uint64_t end);
  uint32_t intern(std::string_view word);
  uint32_t lane_of(const Seat& seat, std::string_view queue);
  void take_worker_row(const TraceRow& row, const Seat& seat,
                       const Subject& subject);
  void find_worker_flows();
  uint32_t add_row(const TraceRow& row, const Seat& seat,
                   const Subject& subject);
  void take_seat(const TraceRow& row, const Seat& seat, const Subject& subject);
  void find_flows(const Seat& seat, uint32_t event);
  void take_notes(Event& event, const Line& line);
  void sort_events();
  void sort_lanes();

  const Selection* selection_;
  TimelineOptions options_;
  std::vector<Lane> lanes_;
  std::unordered_map<std::string, uint32_t> lane_ids_;
  std::vector<Event> events_;
  std::vector<Flow> flows_;
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> ids_;
  std::vector<const std::string*> words_;
  Makers makers_;
  std::vector<WorkerRow> worker_rows_;
  RunLog log_;
  // The spans of each worker's compute queue, in order.
  std::map<uint64_t, std::vector<uint32_t>> computed_;
  std::vector<Exchanged> exchanged_;
  std::vector<Transfer> transfers_;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  size_t rows_ = 0;
  size_t left_out_ = 0;
  Messages messages_;
  Line line_;
  std::string signal_;
};

// Returns a whole SVG file.
std::string timeline_svg(const Timeline& timeline);
// Writes a whole file of Chrome's trace JSON.
void write_chrome_trace(const Timeline& timeline, Writer& out);

}  // namespace gt::log

// gt-log --timeline: what ran when, in lanes; and its drawing as SVG and as
// Chrome's trace JSON, which Perfetto opens. Of a trace of one process (gt-work
// --trace) there is a lane for each rank and queue, and a row of several ranks
// stands in the lanes of all of them. Of the trace or the log of a run
// (gt-route --trace, --log) there is a lane for each worker and queue, and a
// row stands in one. Times are in nanoseconds.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/writer.h"
#include "log/input.h"
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
  // Pictures of more are of use to nobody; the rest is left out, and said.
  static constexpr size_t kMaxEvents = 1'000'000;

  struct Lane {
    std::string rank;   // or worker; "-": nobody placed it
    std::string queue;  // "compute"; "compute 2" for what overlaps with that
    uint64_t busy = 0;  // nanoseconds in which something ran
    std::vector<uint32_t> events;  // by start, never overlapping
  };
  struct Event {
    uint64_t start, end;
    double flops;
    uint64_t bytes;
    uint32_t lane;
    uint32_t op, signal, at, text;  // numbers of words, see word()
    uint64_t length() const { return end - start; }
  };
  // A value on its way from the event that made it to one that reads it.
  struct Flow {
    uint32_t from, to;
  };

  Timeline(const Selection* selection, TimelineOptions options)
      : selection_(selection), options_(std::move(options)) {}

  // Takes the row of a trace at hand.
  void take(const Input& input);
  // Takes a row of the log of a run.
  void take(const LogRow& row);
  // After the last one: sorts events and lanes, and finds the flows between
  // workers and the time that all of it spans. The questions below are for
  // after that.
  void finish();

  const TimelineOptions& options() const { return options_; }
  const std::vector<Lane>& lanes() const { return lanes_; }
  const std::vector<Event>& events() const { return events_; }  // by start
  const std::vector<Flow>& flows() const { return flows_; }
  // Whether it is the log of a run, whose flows are transfers.
  bool is_run() const { return log_.is_run(); }
  // How many events of such a log stand for a message of several instructions:
  // the log knows the time of the message, not those of each.
  size_t batches() const { return batches_; }
  // Whether lanes are of workers.
  bool has_workers() const { return is_run() || !worker_rows_.empty(); }
  // "rank 3", "worker 0"; "" of what nobody placed.
  std::string owner(const Lane& lane) const {
    if (lane.rank == "-") return "";
    return (has_workers() ? "worker " : "rank ") + lane.rank;
  }
  const std::string& word(uint32_t id) const { return *words_[id]; }
  size_t words() const { return words_.size(); }
  size_t rows() const { return rows_; }  // of the trace that are drawn
  // What the drawing spans.
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }
  size_t left_out() const { return left_out_; }  // rows beyond kMaxEvents

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  static constexpr size_t kMaxFlows = 4 * kMaxEvents;

  // Where a row is drawn: as one rank of its set, "3" or "-", or as a worker.
  struct Seat {
    std::string rank;      // or worker, of a row that is drawn once
    size_t place;          // of the rank in the set
    size_t ranks;          // how many the set has
    std::string worker{};  // of a rank of a worker's row; else ""
    bool crosses = false;  // it may read what another worker made
  };

  // Of the log of a run; `text` is the number of a word.
  struct Transfer {
    uint64_t from, to, start, end, seq, bytes;
    uint32_t text;
  };
  // What a worker's comm queue ran.
  struct Exchanged {
    uint64_t worker, seq;
    uint32_t event;
  };

  // A row of a worker's trace. Rows of several workers come mixed and not in
  // the order of their times, so who made what a row reads is found after the
  // last.
  struct WorkerRow {
    uint64_t start;
    uint32_t event;               // kNobody: another name for a value
    uint32_t worker, rank, text;  // numbers of words
    bool crosses;                 // it may read what another worker made
  };

  bool is_outside(uint64_t start, uint64_t end) const {
    return end < options_.from || start > options_.to;
  }
  void take_span(const RunLog::Span& span);
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
  uint32_t maker_of(const Operand& operand, const Seat& seat);
  uint32_t maker_at(const std::string& key) const;
  static std::string key_of(std::string_view name, std::string_view rank,
                            std::string_view worker);
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
  // By name and rank: the event that made the value.
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> makers_;
  std::vector<WorkerRow> worker_rows_;
  std::set<std::string> workers_;
  RunLog log_;
  // By worker, in order: its spans of compute.
  std::map<uint64_t, std::vector<uint32_t>> computed_;
  std::vector<Exchanged> exchanged_;
  std::vector<Transfer> transfers_;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  size_t rows_ = 0;
  size_t left_out_ = 0;
  size_t batches_ = 0;
  Line line_;
  std::string signal_;
};

// A whole SVG file.
std::string timeline_svg(const Timeline& timeline);
// A whole file of Chrome's trace JSON.
void write_chrome_trace(const Timeline& timeline, Writer& out);

}  // namespace gt::log

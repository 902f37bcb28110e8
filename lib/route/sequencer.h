// Puts what is issued into one total order: numbers it, gives each worker the
// lines that concern it in that order, and counts the work that they are. All
// queues are projections of the one order, so the earliest unfinished line can
// always run, and nothing waits in a circle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "route/homes.h"
#include "route/loads.h"
#include "route/outbox.h"
#include "route/path_order.h"
#include "route/route.h"

namespace gt::route {

// What was numbered, for the log.
struct Issue {
  enum class Kind : uint8_t {
    kInstruction,  // of the program, or a copy of ours: replaying them is the
                   // program again
    kControl,      // for some worker alone: a fence, a stale copy's free
    kComment       // that came in; it has no number, `seq` is the last
  };
  uint64_t seq = 0;
  uint64_t line = 0;
  std::string_view text;
  const std::vector<uint32_t>* workers = nullptr;
  Kind kind = Kind::kInstruction;
};

class Sequencer {
 public:
  using Workers = std::vector<uint32_t>;  // ascending
  using Sink = std::function<void(const Issue&)>;

  // `log` may be empty.
  Sequencer(uint32_t workers, Sink log);

  const Workers& everyone() const { return everyone_; }
  // The set of this worker.
  const Workers& alone(uint32_t worker) const { return alone_[worker]; }

  // A line for these workers, which stood there in the input.
  void issue(const Workers& workers, std::string_view text,
             const SourceLine& source,
             Issue::Kind kind = Issue::Kind::kInstruction);
  // What all workers are told without a number.
  void tell(std::string_view text, const SourceLine& source);
  // What makes some workers wait, so that files are read and written in the
  // order of the lines that do so; `here` is where the line runs.
  void fence(const std::vector<RoutePath>& paths, const Workers& here,
             const SourceLine& source);
  // A comment came.
  void log_comment(std::string_view text, const SourceLine& source) const;
  bool is_logged() const { return static_cast<bool>(log_); }

  uint64_t next_seq() const { return next_seq_; }
  uint64_t last_seq() const { return next_seq_ - 1; }
  // Grows whenever later fences may be others.
  uint64_t path_changes() const { return paths_.changes(); }
  size_t paths() const { return paths_.size(); }
  Loads& loads() { return loads_; }
  const Loads& loads() const { return loads_; }
  Outbox& outbox() { return outbox_; }
  const Outbox& outbox() const { return outbox_; }
  // Bodies that leave; what they are is work that is done when their last line
  // is.
  std::vector<Outbox::Batch> take(Outbox::Take which);
  // So many rounds of so many numbers and lines come once more (Outbox); each
  // is so much work, by worker.
  void repeat(uint64_t times, uint64_t seqs, uint64_t lines,
              const std::vector<uint64_t>& costs);

 private:
  void tell_file(const SourceLine& source);
  void issue_fence(const Fence& fence, const SourceLine& source);

  Sink log_;
  Workers everyone_;
  std::vector<Workers> alone_;
  uint64_t next_seq_ = 1;
  std::shared_ptr<const std::string> told_file_;  // that workers know of
  Loads loads_;
  PathOrder paths_;
  Outbox outbox_;
};

}  // namespace gt::route

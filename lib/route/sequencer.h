// Puts all lines that are issued into one total order. It numbers them, puts
// each into the outbox for its workers, and adds its work to their loads.
//
// The number is the line's seq, from 1 on. Lines that gt-route inserts (copies,
// fences, frees of stale copies) have one too; lines that only tell workers
// something ("#file", "#ranks") and comments have none. A worker gets the lines
// that concern it in the order of their seqs, and reports one seq up to which
// it has finished all of them. No worker's queue contradicts the one order, so
// the earliest unfinished line can always run, and workers that wait for each
// other never wait in a circle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "route/loads.h"
#include "route/outbox.h"
#include "route/path_order.h"
#include "route/route.h"
#include "route/users.h"
#include "route/value_locations.h"

namespace gt::route {

// A line as it was issued, for the log.
struct Issue {
  enum class Kind : uint8_t {
    // A line of the program, or an inserted copy. One worker that replays all
    // of these computes what the program does.
    kInstruction,
    // A line for some workers alone: a fence, the free of a stale copy, or a
    // line that runs once more because another worker needs its value.
    kControl,
    // A comment of the input; it has no number: `seq` is that of the line
    // before.
    kComment
  };
  uint64_t seq = 0;
  uint64_t line = 0;  // the line's number in the input's file
  std::string_view text;
  // The workers that get the line, ascending.
  const std::vector<uint32_t>* workers = nullptr;
  Kind kind = Kind::kInstruction;
};

class Sequencer {
 public:
  using Workers = std::vector<uint32_t>;  // ascending
  using Sink = std::function<void(const Issue&)>;

  // `log` gets each issue; it may be empty.
  Sequencer(uint32_t workers, Sink log);

  const Workers& everyone() const { return everyone_; }
  // Returns the set of that worker alone.
  const Workers& alone(uint32_t worker) const { return alone_[worker]; }

  // Gives the line the next seq, and sends it to these workers. `source` is
  // where in the input it stood, or the place of the line for which it was
  // inserted. The caller adds its work to loads().
  void issue(const Workers& workers, std::string_view text,
             const SourceLine& source,
             Issue::Kind kind = Issue::Kind::kInstruction);
  // Tells all workers something, in order with the lines but without a seq.
  void tell(std::string_view text, const SourceLine& source);
  // Does so for one worker.
  void tell_one(uint32_t worker, std::string_view text,
                const SourceLine& source) {
    outbox_.add(alone(worker), next_seq_, static_cast<int64_t>(source.line),
                text);
  }
  // Issues the fences that must come before a line which uses these files
  // (path_order.h). To be called just before the line is issued; `here` are the
  // workers on which it runs.
  void fence(const std::vector<RoutePath>& paths, const Workers& here,
             const SourceLine& source);
  // Saves to one file of many tensors are all done by one worker, so that they
  // are written together (exec/storage/saves.h). Returns the worker for a save
  // to the file; `home` is the one that has the value. Issues the fences before
  // the save, too.
  uint32_t begin_save(const RoutePath& path, uint32_t home,
                      const SourceLine& source);
  // Ends the groups of saves on all workers but `here`, which end them by
  // themselves as they print; `mark` is kSavesEnd or kSavesCut of
  // net/control_lines.h.
  void end_saves(const Workers& here, std::string_view mark,
                 const SourceLine& source);
  // Writes a comment of the input to the log.
  void log_comment(std::string_view text, const SourceLine& source) const;
  bool is_logged() const { return static_cast<bool>(log_); }

  // The lines from now on belong to that user.
  void set_user(UserId user) { user_ = user; }
  // Returns the last line of the user that each worker was given.
  std::vector<Awaited> given_to(UserId user) const;
  // Forgets a user, who may have been given nothing.
  void forget(UserId user) {
    if (user < last_.size()) last_[user].clear();
  }

  uint64_t next_seq() const { return next_seq_; }
  uint64_t last_seq() const { return next_seq_ - 1; }
  // The same as PathOrder::changes(), but also counts the changes of who holds
  // groups of saves.
  uint64_t path_changes() const { return paths_.changes() + save_changes_; }
  // Returns the number of files that are known.
  size_t paths() const { return paths_.size(); }
  Loads& loads() { return loads_; }
  const Loads& loads() const { return loads_; }
  Outbox& outbox() { return outbox_; }
  const Outbox& outbox() const { return outbox_; }
  // Takes batches out of the outbox, and marks in the loads that what their
  // workers were given so far is done with the last seq of the batch.
  std::vector<Outbox::Batch> take(Outbox::Take which);
  // The round of a loop that was issued last comes `times` more times
  // (Outbox::repeat()). A round takes `seqs` seqs and `lines` lines of the
  // input; `costs` is its work, in nanoseconds by worker.
  void repeat(uint64_t times, uint64_t seqs, uint64_t lines,
              const std::vector<uint64_t>& costs);

 private:
  void tell_file(const SourceLine& source);
  void note_given(const Workers& workers, uint64_t seq);
  void issue_fence(const net::FenceLine& fence, const SourceLine& source);

  Sink log_;
  Workers everyone_;
  std::vector<Workers> alone_;
  uint64_t next_seq_ = 1;
  // The file that workers were last told the lines belong to.
  std::shared_ptr<const std::string> told_file_;
  UserId user_ = 0;
  // By user and worker: the last seq of the user's lines that the worker was
  // given; 0 or missing if none.
  std::vector<std::vector<uint64_t>> last_;
  Loads loads_;
  PathOrder paths_;
  std::vector<bool> saving_;  // by worker: it may hold a group of saves
  uint64_t save_changes_ = 0;
  Outbox outbox_;
};

}  // namespace gt::route

// TaskIssuer enqueues decoded lines on the compute queue: the fast path of a
// worker.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/decode/line_entry.h"
#include "exec/queue/compute_queue.h"
#include "exec/worker/exchanges.h"
#include "exec/worker/known_integers.h"
#include "exec/worker/lent_buffers.h"
#include "exec/worker/line_group.h"
#include "exec/worker/line_trace.h"

namespace gt::exec {

// For each line it takes memory for the results, enqueues the task, and binds
// the results at once, before they are computed: the next line refers to the
// value that will be there. A result is written over an operand's memory if the
// recipe allows it (Block::in_place), the line rebinds that operand's name, and
// nothing else refers to the memory. If the line rebinds a name without reading
// it, the old value's memory may be reused too.
class TaskIssuer {
 public:
  // All arguments must outlive the object.
  TaskIssuer(ComputeQueue& compute, Pool& pool, LentBuffers& lent,
             Registers& registers, const TypeIds& types, LineTrace& trace,
             LineGroup& group)
      : compute_(compute),
        pool_(pool),
        lent_(lent),
        registers_(registers),
        types_(types),
        trace_(trace),
        group_(group) {}
  // Must be called when the worker is one of several.
  void join(Exchanges& exchanges) { exchanges_ = &exchanges; }
  // Must be called if entries have recipes for the host. `known` must outlive
  // the object.
  void know_integers(KnownIntegers& known) { known_ = &known; }

  // Issues a valid entry, of a line at `origin`.
  void issue(LineEntry& entry, const Where& origin);

  uint64_t tasks() const { return tasks_; }  // enqueued so far
  double flops() const { return flops_; }    // of those tasks

 private:
  void run(LineEntry& entry, const Where& origin);
  void run_numbered(LineEntry& entry, const Where& origin);
  bool knows_row(const LineEntry& entry) const;
  void output(LineEntry& entry, const Where& origin);
  void output_made(LineEntry& entry, const Where& origin);
  void fail_output(const LineEntry& entry, const std::string& why);
  void output_exchanged(LineEntry& entry, const Where& origin);
  void write(LineEntry& entry, const Where& origin, const Type& type,
             Buffer* buffer);
  void save(LineEntry& entry, const Where& origin, const Type& type,
            Buffer* buffer);
  void adopt_operands(const LineEntry& entry) {
    if (exchanges_ != nullptr) exchanges_->adopt_operands(entry);
  }
  bool take_blocks(const LineEntry& entry, const Where& origin);
  Buffer* lent_by(const LineEntry& entry, size_t block) const;
  void drop_blocks();
  void enqueue(LineEntry& entry, const Where& origin);
  void hold(const LineEntry& entry, const Where& origin);
  void fill(const LineEntry& entry, const Where& origin, uint64_t* record);
  Buffer* buffer_of(const LineEntry& entry, const RecipeResult& result) const;
  void bind_results(const LineEntry& entry);
  void fail_results(const LineEntry& entry, const Fault& fault);

  ComputeQueue& compute_;
  Pool& pool_;
  LentBuffers& lent_;
  Registers& registers_;
  const TypeIds& types_;
  LineTrace& trace_;
  LineGroup& group_;
  Exchanges* exchanges_ = nullptr;
  KnownIntegers* known_ = nullptr;
  // The blocks of the recipe being issued, referenced until its results are
  // bound.
  std::vector<Buffer*> blocks_;
  uint64_t tasks_ = 0;
  double flops_ = 0;
};

}  // namespace gt::exec

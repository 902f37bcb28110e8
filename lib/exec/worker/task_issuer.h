// Issues decoded lines to the compute queue: the fast path of a worker.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/decode/line_entry.h"
#include "exec/queue/compute_queue.h"
#include "exec/worker/exchanges.h"
#include "exec/worker/known_integers.h"
#include "exec/worker/lent_buffers.h"
#include "exec/worker/line_trace.h"

namespace gt::exec {

// Takes memory for what a line makes, enqueues its task, and binds its results
// at once, before they are computed: what the next line reads is the value that
// will be there. A result is written over an operand's memory when the recipe
// allows it (Block::in_place), the line binds that operand's name anew, and
// nothing else refers to the memory. A name that the line binds anew and does
// not read lends its own.
class TaskIssuer {
 public:
  // All outlive it.
  TaskIssuer(ComputeQueue& compute, Pool& pool, LentBuffers& lent,
             Registers& registers, const TypeIds& types, LineTrace& trace)
      : compute_(compute),
        pool_(pool),
        lent_(lent),
        registers_(registers),
        types_(types),
        trace_(trace) {}
  // To be called when the worker is one of several.
  void join(Exchanges& exchanges) { exchanges_ = &exchanges; }
  // To be called where entries have recipes for the host; it outlives this.
  void know_integers(KnownIntegers& known) { known_ = &known; }

  // Issues an entry that holds, of a line that stands at `origin`.
  void issue(LineEntry& entry, const Where& origin);

  uint64_t tasks() const { return tasks_; }  // so far
  double flops() const { return flops_; }    // theirs

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
  bool take_blocks(LineEntry& entry, const Where& origin);
  Buffer* lent_by(const LineEntry& entry, size_t block) const;
  void drop_blocks();
  void enqueue(LineEntry& entry, const Where& origin);
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
  Exchanges* exchanges_ = nullptr;
  KnownIntegers* known_ = nullptr;
  // What the recipe at hand writes; each is referenced until its results are
  // bound.
  std::vector<Buffer*> blocks_;
  uint64_t tasks_ = 0;
  double flops_ = 0;
};

}  // namespace gt::exec

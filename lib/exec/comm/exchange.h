// An exchange is what workers do together for a line whose values cross between
// workers: a collective over a group of ranks, a copy, a print of a whole
// tensor, a fence. It has steps. In a step each worker shows some values, its
// exports, and makes other values, its targets, from regions of the exports of
// all. The outputs of a step are the exports of the next.
//
// An Exchange object is one worker's part in it. It is decoded from the group's
// plan (spmd/exchange_plan.h), and is the same each time the line runs. An
// export is identified by its source and a target by its number; both are
// indices into the plan's lists over all workers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/comm/runs.h"
#include "exec/recipe/recipe_table.h"
#include "spmd/exchange_plan.h"

namespace gt::exec::comm {

// A value that this worker shows to others.
struct Export {
  uint32_t source = 0;
  Type type;
  std::vector<unsigned> readers;  // other workers, each once
};

// An argument of a target's program: a region of an export.
struct Input {
  uint32_t source = 0;
  int32_t own = -1;     // index among this worker's exports of the step, or -1
  unsigned worker = 0;  // the worker that exports it, if `own` is -1
  Type of;              // the export's type
  Shape start;
  Shape count;
  Runs region;
  bool is_whole = false;
};

// A value that this worker makes.
struct Target {
  uint32_t target = 0;
  std::vector<Input> inputs;
  // Null if the output is a copy of the only input's bytes.
  std::shared_ptr<const Recipe> program;
  Type output;
  // Why this worker could not prepare the program, or "". The target then fails
  // when it runs, since other workers may wait for it.
  std::string lack;

  // True if the output is one of this worker's own exports as a whole, so that
  // nothing is made.
  bool is_shared() const {
    return program == nullptr && lack.empty() && inputs[0].own >= 0 &&
           inputs[0].is_whole;
  }
};

// A set of workers in ascending order.
using Workers = std::vector<unsigned>;
std::string list_of(const Workers& workers);  // "workers 0, 2 and 3"

// Describes a step that adds one value from each of some workers and does
// nothing else, so that a link between devices can do it by itself
// (direct_moves.h). The w-th worker gets the sum of the w-th parts, or of the
// whole values if there are no parts.
struct Sum {
  Workers workers;
  std::vector<Runs> parts;  // regions of this worker's export
};

// This worker's part in one step.
struct Part {
  std::vector<Export> exports;  // by ascending source
  std::vector<Target> targets;  // by ascending target
  // The other workers that have a nonempty export which this worker reads, or
  // at least reads according to the plan.
  std::vector<unsigned> owners;
  uint64_t bytes_out = 0;  // bytes of its exports that other workers read
  uint64_t bytes_in = 0;   // bytes of regions that it reads from other workers
  std::optional<Sum> sum;
};

// One worker's part in an exchange.
struct Exchange {
  unsigned self = 0;  // this worker
  std::string op;
  std::string text;            // the line, without notes
  uint32_t op_column = 0;      // of `text`
  std::string value;           // the value exchanged, such as "x@0-3"; "": none
  uint32_t group = 0;          // number of the group within its line
  std::vector<Part> parts;     // by step
  std::vector<int64_t> ranks;  // by source; empty if it has no ranks
  std::string what;            // what is waited for, if it has no ranks
  // If not empty, this is not an exchange and has no parts: in order with
  // exchanges, it makes groups for these sets of workers
  // (Communicator::group()).
  std::vector<Workers> groups;

  // Returns the name of a source in messages, "piece of rank 3".
  std::string name_of(size_t step, uint32_t source) const;
};

// Makes the part of worker `self` in the exchange of a group. `programs` has
// the recipes of the communication thread, never those that compute runs, since
// a kernel belongs to one thread.
std::shared_ptr<Exchange> make_exchange(const ExchangePlan& plan,
                                        const gt::Op& op, unsigned self,
                                        RecipeTable& programs);

// An exchange of one step in which a worker sends one value unchanged to
// others. In a fence the value has no bytes, and only says that the sender has
// come so far.
struct Transfer {
  unsigned from = 0;
  std::vector<unsigned> to;
  Type type;
  std::string what;
};
// Makes the part of worker `self` in the transfer.
std::shared_ptr<Exchange> make_exchange(const Transfer& transfer,
                                        unsigned self);

}  // namespace gt::exec::comm

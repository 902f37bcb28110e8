// An exchange is what workers do together for a line whose values cross from
// worker to worker: a collective over a group of ranks, a copy, a print of a
// whole tensor, a fence. It has steps. In a step each worker shows some values,
// its exports, and makes others, its targets, of regions of what all show. The
// outputs of a step are the exports of the next.
//
// An Exchange here is one worker's part in it, decoded from the group's plan
// (spmd/exchange_plan.h), and the same each time that its line runs. An export
// is known by its source, a target by its number: the place in the plan's lists
// of all workers.
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

// A value that this worker shows.
struct Export {
  uint32_t source = 0;
  Type type;
  std::vector<unsigned> readers;  // other workers, each once
};

// An argument of a target's program: a region of an export.
struct Input {
  uint32_t source = 0;
  int32_t own = -1;     // which of this worker's exports of the step, or -1
  unsigned worker = 0;  // whose it is, if not
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
  // Null: the output is a copy of the only input's bytes.
  std::shared_ptr<const Recipe> program;
  Type output;
  // Why the program cannot be had here; then the target fails, as a value that
  // others wait for must.
  std::string lack;

  // The output is one of this worker's own exports, whole: nothing is made.
  bool is_shared() const {
    return program == nullptr && lack.empty() && inputs[0].own >= 0 &&
           inputs[0].is_whole;
  }
};

// A set of workers, ascending, each once.
using Workers = std::vector<unsigned>;
std::string list_of(const Workers& workers);  // "workers 0, 2 and 3"

// A step that adds up a value of each of some workers, and does nothing else:
// what a link between devices can do by itself (direct_moves.h). The w-th of
// them gets the sum of the w-th parts, or of all if there are none.
struct Sum {
  Workers workers;
  std::vector<Runs> parts;  // of this worker's export
};

struct Part {
  std::vector<Export> exports;  // by ascending source
  std::vector<Target> targets;  // by ascending target
  // The other workers whose exports, none of them empty, this worker reads or
  // is at least said to read.
  std::vector<unsigned> owners;
  uint64_t bytes_out = 0;  // of the exports that other workers read
  uint64_t bytes_in = 0;   // of the regions that this worker reads of others
  std::optional<Sum> sum;
};

struct Exchange {
  std::string op;
  std::string text;            // of the line, without notes
  uint32_t op_column = 0;      // in the text
  std::string value;           // that is exchanged, as "x@0-3"; "": none
  uint32_t group = 0;          // of the line
  std::vector<Part> parts;     // by step
  std::vector<int64_t> ranks;  // by source; empty: it has none
  std::string what;            // is waited for, if it has no rank
  // Not empty: it is no exchange, and has no parts, but comes in order with
  // them; these sets of workers are to have groups (Communicator::group()).
  std::vector<Workers> groups;

  // "piece of rank 3", of a source.
  std::string name_of(size_t step, uint32_t source) const;
};

// The part that worker `self` has in the exchange of a group. `programs` has
// the recipes of the communication thread: never those that compute runs, since
// a kernel belongs to one thread.
std::shared_ptr<Exchange> make_exchange(const ExchangePlan& plan,
                                        const gt::Op& op, unsigned self,
                                        RecipeTable& programs);

// An exchange of one step in which one value goes from a worker to others as it
// is. In a fence it has no bytes, and only says that its sender has come so
// far.
struct Transfer {
  unsigned from = 0;
  std::vector<unsigned> to;
  Type type;
  std::string what;
};
// The part that worker `self` has in it.
std::shared_ptr<Exchange> make_exchange(const Transfer& transfer,
                                        unsigned self);

}  // namespace gt::exec::comm

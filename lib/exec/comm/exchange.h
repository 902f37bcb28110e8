// One worker's part in an exchange, decoded: what it shows to other workers
// and what it makes of what they show. Made of the group's plan
// (spmd/exchange_plan.h); the same each time that its line runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/comm/runs.h"
#include "exec/decode/recipe_table.h"
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
  Type of;              // of the export
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

  // The output is a value that is here already.
  bool is_shared() const {
    return program == nullptr && inputs[0].own >= 0 && inputs[0].is_whole;
  }
};

struct Part {
  std::vector<Export> exports;  // by ascending source
  std::vector<Target> targets;  // by ascending target
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

  // "piece of rank 3", of a source.
  std::string name_of(size_t step, uint32_t source) const;
};

// The part that worker `self` has in a group. `programs` has the recipes of the
// communication thread: never those that compute runs, since a kernel belongs
// to one thread. Errors: what its backend lacks.
Result<std::shared_ptr<Exchange>> make_exchange(const ExchangePlan& plan,
                                                const gt::Op& op, unsigned self,
                                                RecipeTable& programs);

// One value that goes from worker to worker as it is; of no bytes, it only says
// that its sender has come so far.
struct Transfer {
  unsigned from = 0;
  std::vector<unsigned> to;
  Type type;
  std::string what;
};
std::shared_ptr<Exchange> make_exchange(const Transfer& transfer,
                                        unsigned self);

}  // namespace gt::exec::comm

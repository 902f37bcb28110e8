// A route: what gt-route knows of a line once it is decoded. It says what the
// line reads and binds, what it costs, and what it prints; of a line with ranks
// also on which workers it runs. (Of a line without ranks the Placer chooses
// the worker each time that it is issued.)
//
// A route depends on the types of the registers that the line names, and holds
// as long as these have the stamps (symbol_table.h) that it keeps of them, and
// the meshes are the same. RouteCache keeps routes, so that a line which comes
// again costs a look-up and a copy of its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "file/stored.h"
#include "route/homes.h"

namespace gt::route {

// A register that the line reads or frees.
struct RouteOperand {
  HomeId id = kNoSymbol;
  Stamp stamp;         // as it was when the line was decoded
  uint64_t bytes = 0;  // of its value; 0 if it has ranks or has failed
};

// A register that the line binds.
struct RouteResult {
  HomeId id = kNoSymbol;
  uint32_t generation = 0;  // of its stamp when the line was decoded
  TypeId type = kNoType;    // of the new value
  uint64_t bytes = 0;       // of the new value; 0 if it has ranks or has failed
};

// A file that the line reads or writes.
struct RoutePath {
  RoutePath(std::string_view path, bool to_write, std::vector<uint32_t> where)
      : spelling(split_path(path).file),
        file(normal_path(spelling)),
        writes(to_write),
        workers(std::move(where)) {}

  std::string spelling;  // as the program has it, which is what workers know
  std::string file;      // as normal_path() has it: two spellings, one file
  bool writes;
  std::vector<uint32_t> workers;  // that use it; empty: where the line runs
};

// Result lines that one worker will owe for a print.
struct RouteOwed {
  uint32_t worker = 0;  // of no meaning if the line has no ranks
  std::string heads;    // result_head() of each line, each with a newline
};

struct Route {
  enum class Action : uint8_t {
    kRun,   // compute results
    kGive,  // print or save
    kFree,
    kFail,     // the results are failures, known already
    kDeclare,  // mesh, endmesh or axis: told to all workers, and never kept
  };

  std::string text;  // of the line without notes, by which RouteCache finds it
  // The line could not run as it is, since what it reads has failed: this line
  // is issued in its place, or none if it is "".
  std::optional<std::string> instead;
  // The result line of a print that cannot run for the same reason.
  std::string answer;
  Action action = Action::kRun;
  bool is_placed = false;  // its names have ranks
  // It has no ranks and reads no register, and makes one value, maybe from a
  // file: it can wait until that is read (held_lines.h).
  bool makes = false;
  std::vector<RouteOperand> operands;  // each register once
  std::vector<RouteResult> results;
  std::vector<RoutePath> paths;
  std::vector<RouteOwed> owed;  // of a print
  // Roughly the bytes of the result lines that each entry of `owed` stands for.
  uint64_t owed_bytes = 0;
  uint64_t cost = 0;  // nanoseconds on each of its workers (costs.h)
  // Why its results fail, or those of some of its ranks; else null.
  FailureText failure;

  // Of a placed line.
  std::vector<uint32_t> workers;  // that run it, ascending
  // The note " #pieces=...": types of pieces that other workers have, which a
  // line that crosses workers needs; else "".
  std::string pieces;
  uint64_t mesh_version = 0;  // of the meshes that it was decoded under

  // The notes that the line had when it last came, which were well-formed.
  std::string notes;
};

}  // namespace gt::route

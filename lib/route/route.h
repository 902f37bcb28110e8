// A route: what gt-route knows of a line once it is decoded. It says what the
// line reads and binds, what it costs, and what it prints; if the line has
// ranks, also on which workers it runs. (For a line without ranks the Placer
// chooses the worker each time that the line is issued.)
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
#include "route/value_locations.h"

namespace gt::route {

// A register that the line reads or frees.
struct RouteOperand {
  SymbolId id = kNoSymbol;
  Stamp stamp;         // its stamp when the line was decoded
  uint64_t bytes = 0;  // size of its value; 0 if it has ranks or has failed
};

// A register that the line binds.
struct RouteResult {
  SymbolId id = kNoSymbol;
  uint32_t generation = 0;  // that of its stamp when decoded
  TypeId type = kNoType;    // type of the new value
  uint64_t bytes = 0;       // size of that value; 0 if it has ranks or failed
};

// A file that the line reads or writes.
struct RoutePath {
  RoutePath(std::string_view path, bool to_write, std::vector<uint32_t> where)
      : spelling(split_path(path).file),
        file(normal_path(spelling)),
        writes(to_write),
        shares(to_write && split_path(path).in_safetensors),
        workers(std::move(where)) {}

  std::string spelling;  // as the program spells it, which workers know it by
  // By normal_path(), the same for all spellings of a file.
  std::string file;
  bool writes;
  bool shares;  // a save to a file of many tensors
  // The workers that use the file; empty: those that run the line.
  std::vector<uint32_t> workers;
};

// Result lines that one worker will owe for a print.
struct RouteOwed {
  uint32_t worker = 0;  // without meaning if the line has no ranks
  // result_head() of each line, each followed by a newline
  std::string heads;
};

// What one rank of a save saves, or a line without ranks, or the whole that the
// ranks put together.
struct RouteSave {
  uint32_t worker = 0;  // that has the value; without meaning without ranks
  std::string path;
  std::string text;     // the line of this rank; "" for the whole line
  std::string type;     // of the value
  FailureText failure;  // why there is no value; else null
};

struct Route {
  enum class Action : uint8_t {
    kRun,   // compute results
    kGive,  // print or save
    kFree,
    kFail,     // the results are failures that are known already
    kDeclare,  // mesh, endmesh or axis: sent to all workers, never kept
  };

  std::string text;  // the line without notes, by which RouteCache finds it
  // Set if the line cannot run, since what it reads has failed: the line that
  // is issued in its place, or "" for none.
  std::optional<std::string> instead;
  // The result line of a print that cannot run because its value has failed.
  std::string answer;
  Action action = Action::kRun;
  bool is_placed = false;  // its names have ranks
  // True if the line has no ranks, reads no register, and makes one value,
  // perhaps from a file: it can wait until the value is read (held_lines.h).
  bool makes = false;
  std::vector<RouteOperand> operands;  // each register once
  std::vector<RouteResult> results;
  std::vector<RoutePath> paths;
  std::vector<RouteOwed> owed;   // for a print
  std::vector<RouteSave> saves;  // for a save; all to one file
  bool saves_whole = false;      // what is saved is put together first
  // Roughly the bytes of the result lines that each entry of `owed` stands for.
  uint64_t owed_bytes = 0;
  uint64_t cost = 0;  // nanoseconds on each of its workers (costs.h)
  // Why the results fail, or the results on some ranks; else null.
  FailureText failure;

  // The following members are for lines with ranks.
  std::vector<uint32_t> workers;  // the workers that run the line, ascending
  // The note " #pieces=...", with the types of pieces that other workers have;
  // needed if the line crosses workers, else "".
  std::string pieces;
  uint64_t mesh_version = 0;  // the meshes it was decoded under

  // The notes that the line had when it last came; they are well-formed.
  std::string notes;
};

}  // namespace gt::route

// A line of the stream as it is dispatched. Valid while the stamps of its
// registers hold: a repeated line costs a look-up and a copy of its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "file/stored.h"
#include "route/homes.h"

namespace gt::route {

struct RouteOperand {
  HomeId id = kNoSymbol;
  Stamp stamp;  // when the line was decoded
  uint64_t bytes = 0;
};

struct RouteResult {
  HomeId id = kNoSymbol;
  uint32_t generation = 0;
  TypeId type = kNoType;
  uint64_t bytes = 0;
};

// A file that the line touches: a placed line on those workers, an unplaced one
// where it runs.
struct RoutePath {
  RoutePath(std::string_view path, bool to_write, std::vector<uint32_t> where)
      : spelling(split_path(path).file),
        file(normal_path(spelling)),
        writes(to_write),
        workers(std::move(where)) {}

  std::string spelling;  // as the program has it, for workers elsewhere
  std::string file;      // as normal_path() has it
  bool writes;
  std::vector<uint32_t> workers;
};

// Lines of results that one worker owes.
struct RouteOwed {
  uint32_t worker = 0;  // of an unplaced line: where it runs
  std::string heads;    // as result_head()'s, each ended by a newline
};

struct Route {
  enum class Action : uint8_t {
    kRun,
    kGive,  // print and save
    kFree,
    kFail,
    kDeclare,  // of a mesh: told to all, and never kept
  };

  std::string text;  // without notes; of one that is kept
  // Of a failure: the line that runs in the place of this one, "" is none; and
  // the result line of a print that nobody runs.
  std::optional<std::string> instead;
  std::string answer;
  Action action = Action::kRun;
  bool is_placed = false;
  bool makes = false;  // unplaced: one value, from nothing or from a file
  std::vector<RouteOperand> operands;  // each register once
  std::vector<RouteResult> results;
  std::vector<RoutePath> paths;
  std::vector<RouteOwed> owed;  // of a print
  uint64_t owed_bytes = 0;
  uint64_t cost = 0;    // nanoseconds on each worker, roughly
  FailureText failure;  // of kFail

  // Of a placed line.
  std::vector<uint32_t> workers;
  std::string pieces;         // " #pieces=...", or ""
  uint64_t mesh_version = 0;  // the meshes that it was made under

  std::string notes;  // that it was last seen with, which are well-formed
};

}  // namespace gt::route

// Routes of lines that came before, so that a line which comes again costs a
// look-up. The key is the line's text without notes. A line is kept when it
// comes for the second time (LineCache), unless it has failed.
//
// A route that is found is stale, and the line is decoded anew, if
//   - a register that it reads has another type now, or its number stands
//     for another name (Stamp);
//   - the number of a register that it binds stands for another name;
//   - the line has ranks, and a mesh was declared since;
//   - its notes are others than those that came last, and are wrong or are such
//     as gt-route writes itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "program/line_cache.h"
#include "route/route.h"
#include "route/value_locations.h"
#include "stream/line.h"
#include "stream/notes.h"

namespace gt::route {

// A line that is not decoded yet.
struct RouteText {
  std::string_view text;  // the line as it is dispatched
  NotedText parts;        // the parts of `text`
  uint64_t hash = 0;      // hash_bytes() of parts.text
  // The line as it came, for messages. It differs from `text` if gt-route has
  // added or dropped a note.
  std::string_view written;
};

// True if the line has notes that gt-route writes itself: #from=, #to=,
// #pieces=. In a stream that was once a log they refer to the workers of
// another run, and must be dropped.
bool has_route_notes(const Line& line);
void drop_route_notes(Line& line);

class RouteCache {
 public:
  // For the arguments see LineCache.
  RouteCache(bool keeps, size_t sets) : routes_(sets, keeps) {}

  // Returns the route of the line, if there is one that is not stale; else
  // null. It stays valid until the next keep() or clear().
  const Route* find(const RouteText& line, const ValueLocations& locations,
                    uint64_t mesh_version);
  // Keeps the route of the line if the line came before. May evict another one.
  void keep(const RouteText& line, std::unique_ptr<Route> route,
            const ValueLocations& locations, uint64_t mesh_version);
  void clear() { routes_.clear(); }

 private:
  static bool is_valid(const Route& route, const ValueLocations& locations,
                       uint64_t mesh_version);
  // True if the route will never be valid again.
  static bool is_dead(const Route& route, const ValueLocations& locations,
                      uint64_t mesh_version);
  // True if that is so whatever the line reads: the meshes of the route, or the
  // names that it binds, are past.
  static bool is_past(const Route& route, const ValueLocations& locations,
                      uint64_t mesh_version);
  static bool check_notes(Route& route, std::string_view notes);

  LineCache<Route> routes_;
};

}  // namespace gt::route

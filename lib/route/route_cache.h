// Lines that came before, as they were decoded: a repeated line costs a look-up
// while the types that it was decoded under hold.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "program/line_cache.h"
#include "route/homes.h"
#include "route/route.h"
#include "stream/line.h"
#include "stream/notes.h"

namespace gt::route {

// A line on its way to a route.
struct RouteText {
  std::string_view text;     // what is dispatched
  NotedText parts;           // of it
  uint64_t hash = 0;         // of its text without notes
  std::string_view written;  // what people wrote, where that is another
};

// Whether the line has notes that gt-route writes itself, of workers and
// pieces; in a stream that was a log they tell of other workers.
bool has_route_notes(const Line& line);
void drop_route_notes(Line& line);

class RouteCache {
 public:
  // As LineCache has them.
  RouteCache(bool keeps, size_t sets) : routes_(sets, keeps) {}

  // The route of the line, if it holds still; else null.
  const Route* find(const RouteText& line, const Homes& homes,
                    uint64_t mesh_version);
  void keep(const RouteText& line, std::unique_ptr<Route> route);
  void clear() { routes_.clear(); }

 private:
  static bool is_valid(const Route& route, const Homes& homes,
                       uint64_t mesh_version);
  static bool check_notes(Route& route, std::string_view notes);

  LineCache<Route> routes_;
};

}  // namespace gt::route

#include "route/route_cache.h"

#include <algorithm>
#include <utility>

namespace gt::route {
namespace {

bool is_route_note(const Note& note) {
  return note.key == "from" || note.key == "to" || note.key == "pieces";
}

}  // namespace

bool has_route_notes(const Line& line) {
  return std::any_of(line.notes.begin(), line.notes.end(), is_route_note);
}

void drop_route_notes(Line& line) { std::erase_if(line.notes, is_route_note); }

const Route* RouteCache::find(const RouteText& line,
                              const ValueLocations& locations,
                              uint64_t mesh_version) {
  if (!line.parts.is_clean) return nullptr;
  return routes_.find(line.hash, line.parts.text, [&](Route& route) {
    return is_valid(route, locations, mesh_version) &&
           check_notes(route, line.parts.notes);
  });
}

bool RouteCache::is_valid(const Route& route, const ValueLocations& locations,
                          uint64_t mesh_version) {
  return !is_past(route, locations, mesh_version) &&
         std::all_of(route.operands.begin(), route.operands.end(),
                     [&](const RouteOperand& operand) {
                       return locations[operand.id].stamp == operand.stamp;
                     });
}

bool RouteCache::is_dead(const Route& route, const ValueLocations& locations,
                         uint64_t mesh_version) {
  return is_past(route, locations, mesh_version) ||
         std::any_of(route.operands.begin(), route.operands.end(),
                     [&](const RouteOperand& operand) {
                       return locations[operand.id].stamp.generation !=
                              operand.stamp.generation;
                     });
}

bool RouteCache::is_past(const Route& route, const ValueLocations& locations,
                         uint64_t mesh_version) {
  if (route.is_placed && route.mesh_version != mesh_version) return true;
  return std::any_of(route.results.begin(), route.results.end(),
                     [&](const RouteResult& result) {
                       return locations[result.id].stamp.generation !=
                              result.generation;
                     });
}

// True if the notes are those with which the route was last seen, or are
// well-formed and none of them is written by gt-route itself.
bool RouteCache::check_notes(Route& route, std::string_view notes) {
  if (notes.empty() || notes == route.notes) return true;
  if (!are_moved(notes, route.notes, number_at_end(route.notes))) {
    Line line;
    const std::string text = std::string("x ").append(notes);
    if (!parse_line(text, line).ok() || has_route_notes(line)) return false;
  }
  route.notes = notes;
  return true;
}

void RouteCache::keep(const RouteText& line, std::unique_ptr<Route> route,
                      const ValueLocations& locations, uint64_t mesh_version) {
  if (!routes_.wants(line.hash, line.parts.text)) return;
  route->text = line.parts.text;
  route->notes = line.parts.notes;
  routes_.insert(line.hash, std::move(route), [&](const Route& old) {
    return is_dead(old, locations, mesh_version);
  });
}

}  // namespace gt::route

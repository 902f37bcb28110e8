// RouteBuilder decodes a line: it makes its Route, which says what the line
// reads and binds, of which types, and what it costs; if the line has ranks,
// also which workers run it. For that it checks the line against the op table
// and the types of its operands, and gives workers to ranks that have none.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/small_vector.h"
#include "ops/call.h"
#include "route/rank_table.h"
#include "route/resolved_line.h"
#include "route/route.h"
#include "route/value_locations.h"
#include "spmd/mesh.h"
#include "stream/line.h"

namespace gt::route {

// Returns the line "x@0-1 y@0-1 = fail WHY" for these results; "" if there are
// none.
std::string failure_line(std::span<const Name> results, std::string_view why);

class RouteBuilder {
 public:
  // The locations and the types outlive it.
  RouteBuilder(uint32_t workers, ValueLocations& locations, TypeIds& types)
      : workers_(workers),
        locations_(locations),
        types_(types),
        ranks_(workers) {}

  // Returns the route of the line at this point of the program. Nothing is
  // bound or freed, but registers of its results get numbers, and those of
  // which a free needs only a part are split. Error: what is wrong with the
  // line. It is not wrong to read failures, see Route::instead.
  Result<std::unique_ptr<Route>> build(const Line& text);
  // The same as RankTable::take_news(). All workers must be told the news
  // before the line that was built last.
  std::vector<std::string> take_news() { return ranks_.take_news(); }
  // Grows with every declaration of a mesh or axis: routes of lines with ranks
  // that were made under another version are void.
  uint64_t mesh_version() const { return meshes_.version(); }

 private:
  using Ids = SmallVector<TypeId, 4>;  // the types of results

  Status declare(const Line& line, Route& route);
  Status fill(ResolvedLine& line, Route& route);
  Status fill_failure(const ResolvedLine& line, Route& route);
  Status fill_free(const ResolvedLine& line, Route& route);
  Status fill_local(const ResolvedLine& line, Route& route);
  Status fill_output(const ResolvedLine& line, Route& route);
  Status fill_crossing(const ResolvedLine& line, Route& route);
  Status fill_assembly(const ResolvedLine& line, Route& route);

  Status check_form(const Line& line);
  Status infer(const ResolvedLine& line, Route& route, Ids& types);
  Ids intern(const ResolvedLine& line,
             const std::vector<std::vector<Type>>& types);
  void place_ranks(const ResolvedLine& line, const Ranks& more, Route& route);
  void add_operand(Route& route, SymbolId id) const;
  void add_result(Route& route, SymbolId id, TypeId type) const;
  void add_results(const ResolvedLine& line, const Ids& types, Route& route);
  void fail_some(const ResolvedLine& line, const ResolvedLine::Failures& failed,
                 Ids& types);
  void fail_results(const ResolvedLine& line, FailureText why, Route& route);
  void fail_instead(const ResolvedLine& line, FailureText why, Route& route);
  void add_pieces_note(const ResolvedLine& line, size_t operand,
                       const Ranks& ranks, Route& route) const;
  std::string pieces_note(const ResolvedLine& line, size_t operand,
                          const Ranks& ranks) const;
  void add_output(const ResolvedLine& line, const Ranks& ranks,
                  const Type* whole, Route& route) const;

  uint32_t workers_;
  ValueLocations& locations_;
  TypeIds& types_;
  RankTable ranks_;
  Meshes meshes_;
  // Scratch that bind() fills; a member so that its memory is used again.
  Call call_;
};

}  // namespace gt::route

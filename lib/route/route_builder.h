// Decodes a line: makes its Route, which says what the line reads and binds, of
// which types, and what it costs; of a line with ranks also which workers run
// it. To that end it checks the line against the op table and the types of its
// operands, and gives workers to ranks that have none.
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
#include "route/homes.h"
#include "route/rank_table.h"
#include "route/resolved_line.h"
#include "route/route.h"
#include "spmd/mesh.h"
#include "stream/line.h"

namespace gt::route {

// The line "x@0-1 y@0-1 = fail WHY" for these results; "" if there are none.
std::string failure_line(std::span<const Name> results, std::string_view why);

class RouteBuilder {
 public:
  // Homes and types outlive it.
  RouteBuilder(uint32_t workers, Homes& homes, TypeIds& types)
      : workers_(workers), homes_(homes), types_(types), ranks_(workers) {}

  // The route of the line as it stands here in the program. Nothing is bound or
  // freed, but registers of its results get numbers, and those that a free
  // needs in part are split. Error: what is wrong with the line. A line that
  // reads failures is not wrong: see Route::instead.
  Result<std::unique_ptr<Route>> build(const Line& text);
  // As RankTable::take_news(). To be told to all workers before the line that
  // was built last.
  std::vector<std::string> take_news() { return ranks_.take_news(); }
  // Grows with every declaration of a mesh or axis: routes of lines with ranks
  // that were made under another version hold no longer.
  uint64_t mesh_version() const { return meshes_.version(); }

 private:
  using Ids = SmallVector<TypeId, 4>;  // of the results' types

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
  void add_operand(Route& route, HomeId id) const;
  void add_result(Route& route, HomeId id, TypeId type) const;
  void add_results(const ResolvedLine& line, const Ids& types, Route& route);
  void fail_some(const ResolvedLine& line, const ResolvedLine::Failures& failed,
                 Ids& types);
  void fail_results(const ResolvedLine& line, FailureText why, Route& route);
  void fail_instead(const ResolvedLine& line, FailureText why, Route& route);
  void add_pieces_note(const ResolvedLine& line, size_t operand,
                       const Ranks& ranks, Route& route) const;
  void add_output(const ResolvedLine& line, const Ranks& ranks,
                  const Type* whole, Route& route) const;

  uint32_t workers_;
  Homes& homes_;
  TypeIds& types_;
  RankTable ranks_;
  Meshes meshes_;
  Call call_;  // the line's, which bind() fills: its memory is used again
};

}  // namespace gt::route

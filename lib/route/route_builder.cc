#include "route/route_builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "file/stored.h"
#include "ops/table.h"
#include "program/costs.h"
#include "route/result_check.h"
#include "spmd/labels.h"
#include "stream/ranks.h"

namespace gt::route {
namespace {

using Action = Route::Action;
using Id = TypeId;

// Nanoseconds that a line which crosses ranks costs in addition to those for
// bytes.
constexpr uint64_t kCrossing = 1000;

// Returns the positions of the line's ranks in `ranks`, in the order of
// ascending ranks.
std::vector<size_t> places_of(const Ranks& ranks) {
  std::vector<size_t> places(ranks.size());
  std::iota(places.begin(), places.end(), size_t{0});
  if (!std::is_sorted(ranks.begin(), ranks.end())) {
    std::ranges::sort(places, {}, [&ranks](size_t p) { return ranks[p]; });
  }
  return places;
}

}  // namespace

std::string failure_line(std::span<const Name> results, std::string_view why) {
  std::string text;
  for (const Name& name : results) {
    text.append(full_name(name.text, name.ranks)).append(" ");
  }
  return text.empty() ? text : text.append("= fail ").append(quote(why));
}

// Takes a declaration of a mesh or axis. The ranks of a new mesh get their
// workers here, all at once, so that they are in contiguous blocks.
Status RouteBuilder::declare(const Line& line, Route& route) {
  route.action = Action::kDeclare;
  std::string space;
  if (const std::string_view* key = line.key("space")) space = unquote(*key);
  const std::string first = name_in(space);
  if (Status s = meshes_.take(line); !s.ok()) return s;
  const bool has_mesh = meshes_.space_of(first) == space;
  const bool has_parts =
      !space.empty() && locations_.has_parts_under(space + "/");
  if (!has_mesh && !has_parts) ranks_.forget(space);
  if (statement_of(line.op) != Statement::kMesh) return ok_status();
  const std::string_view around = ranks_.space_of(first);
  if (around != space && has_parts) ranks_.inherit(space, around);
  const int64_t size = meshes_.of(first)->size();
  Ranks all(static_cast<size_t>(size));
  std::iota(all.begin(), all.end(), int64_t{0});
  ranks_.assign(space, all, size);
  return ok_status();
}

Result<std::unique_ptr<Route>> RouteBuilder::build(const Line& text) {
  auto route = std::make_unique<Route>();
  ResolvedLine line(text, locations_, types_);
  const Status s = is_declaration(line.statement) ? declare(text, *route)
                                                  : fill(line, *route);
  if (!s.ok()) return s.error();
  return route;
}

Status RouteBuilder::fill(ResolvedLine& line, Route& route) {
  if (Status s = check_emitted(line.parsed); !s.ok()) return s;
  route.is_placed = line.is_placed;
  route.mesh_version = meshes_.version();
  if (Status s = line.set_ranks(meshes_, ranks_); !s.ok()) return s;
  if (line.statement == Statement::kFail) return fill_failure(line, route);
  // If the op is unknown, that is the error to tell, not an unknown name.
  if (line.op != nullptr) {
    ResolvedLine::Found found;
    if (Status s = line.find_operands(found); !s.ok()) return s;
    for (const SymbolId id : found) add_operand(route, id);
  }
  if (line.statement == Statement::kFree) return fill_free(line, route);
  if (line.is_placed && is_output(line.statement) &&
      line.parsed.key("split") != nullptr) {
    return fill_assembly(line, route);
  }
  if (line.is_placed && crosses_ranks(line.parsed, line.where)) {
    return fill_crossing(line, route);
  }
  return fill_local(line, route);
}

// ---- what a line does -------------------------------------------------------

// Checks that the op takes the operands and keys, whatever their types are.
Status RouteBuilder::check_form(const Line& line) {
  const std::vector<const Type*> none(line.operands.size(), nullptr);
  return bind_form(line, none, call_);
}

// Makes the route of a line `x y = fail "..."` of the stream.
Status RouteBuilder::fill_failure(const ResolvedLine& line, Route& route) {
  const Line& text = line.parsed;
  place_ranks(line, line.ranks(), route);
  if (Status s = bind_fail(text, call_); !s.ok()) return s;
  fail_results(
      line, std::make_shared<const std::string>(unquote(text.operands[0].text)),
      route);
  return ok_status();
}

Status RouteBuilder::fill_free(const ResolvedLine& line, Route& route) {
  if (Status s = bind_free(line.parsed, call_); !s.ok()) return s;
  route.action = Action::kFree;
  if (!line.is_placed) return ok_status();
  route.operands.clear();
  for (size_t o = 0; o < line.parsed.operands.size(); ++o) {
    const Ranks ranks = ascending(line.where.operands[o]);
    place_ranks(line, ranks, route);
    const std::string_view base = line.parsed.operands[o].text;
    // If a free names only some ranks of a register, these become a register of
    // their own: then the route names whole registers, and can be kept.
    for (const SymbolId id : std::vector<SymbolId>(locations_.parts(base))) {
      const Ranks part = common(*locations_[id].ranks, ranks);
      if (!part.empty()) {
        add_operand(route, locations_.separate(base, part, types_));
      }
    }
  }
  return ok_status();
}

// Makes the route of a line whose ranks each work by themselves, or of a line
// without ranks.
Status RouteBuilder::fill_local(const ResolvedLine& line, Route& route) {
  place_ranks(line, line.ranks(), route);
  const ResolvedLine::Failures failed = line.failures();
  const bool all_failed =
      failed.why != nullptr && failed.all && line.op != nullptr;
  const bool gives = is_output(line.statement);
  if (all_failed && !gives) {
    fail_instead(line, failed.why, route);
    return ok_status();
  }
  Ids types;
  if (all_failed) {
    if (Status form = check_form(line.parsed); !form.ok()) return form;
  } else if (Status done = infer(line, route, types); !done.ok()) {
    return done;
  }
  if (gives) return fill_output(line, route);
  if (failed.why != nullptr) {
    // The line runs on all ranks: a worker itself knows which of its operands
    // have failed.
    route.failure = failed.why;
    fail_some(line, failed, types);
  }
  add_results(line, types, route);
  if (line.statement == Statement::kLoad) {
    route.paths.emplace_back(unquote(line.parsed.operands[0].text), false,
                             route.workers);
  }
  route.makes =
      !line.is_placed && route.operands.empty() && route.results.size() == 1;
  return ok_status();
}

// Infers the types of the results and the cost, on the ranks that have all they
// read.
Status RouteBuilder::infer(const ResolvedLine& line, Route& route, Ids& types) {
  if (line.is_placed) {
    const auto made =
        infer_placed(line.parsed, line.where, line.mesh, line.piece_types());
    if (!made.ok()) return made.error();
    types = intern(line, made.value());
    route.cost = line.cost_of_rank(workers_);
    return ok_status();
  }
  const ResolvedLine::Types read = line.types_on(0);
  const std::span types_read(read.data(), read.size());
  if (Status bound = gt::bind(line.parsed, types_read, call_); !bound.ok()) {
    return bound;
  }
  route.cost = line_cost(call_);
  for (const Type& type : call_.results) types.push_back(types_.id(type));
  return ok_status();
}

// Returns the numbers of the types. `types` are by result, then by position in
// the line's ranks.
RouteBuilder::Ids RouteBuilder::intern(
    const ResolvedLine& line, const std::vector<std::vector<Type>>& types) {
  const std::vector<size_t> places = places_of(line.ranks());
  Ids out;
  for (const std::vector<Type>& of_ranks : types) {
    std::vector<Id> pieces;
    const Type* last = nullptr;
    for (const size_t place : places) {
      const Type& type = of_ranks[place];
      pieces.push_back(last != nullptr && *last == type ? pieces.back()
                                                        : types_.id(type));
      last = &type;
    }
    out.push_back(types_.id(pieces));
  }
  return out;
}

// Makes the route of a print or save that outputs a line or a file for each
// rank, in order.
Status RouteBuilder::fill_output(const ResolvedLine& line, Route& route) {
  if (line.parsed.operands.empty() || !is_register(line.parsed.operands[0])) {
    return Error{std::string(line.parsed.op) + ": expected a tensor's name",
                 line.parsed.op_column};
  }
  if (line.statement == Statement::kPrint) {
    const std::string_view* as = line.parsed.key("as");
    if (as != nullptr && !is_name(unquote(*as))) {
      return Error{"print: as=" + std::string(*as) + " is not a name",
                   line.parsed.keys[0].column};
    }
  }
  add_output(line, line.ranks(), nullptr, route);
  return ok_status();
}

// Sets the lines that a print owes, or the files of a save, for the pieces on
// these ranks. If `whole` is not null, it is the type of the whole tensor that
// the first rank puts together.
void RouteBuilder::add_output(const ResolvedLine& line, const Ranks& ranks,
                              const Type* whole, Route& route) const {
  route.action = Action::kGive;
  const auto worker = [&](int64_t rank) {
    return line.is_placed ? ranks_.worker(line.space, rank) : 0;
  };
  if (line.statement == Statement::kSave) {
    const std::string path = unquote(line.parsed.operands[1].text);
    for (const int64_t rank : ranks) {
      std::vector<uint32_t> where;
      if (line.is_placed) where = {worker(rank)};
      const std::string at = std::to_string(rank);
      std::string file = ranks.size() == 1 ? path : path_of_rank(path, at);
      route.paths.emplace_back(file, true, std::move(where));
      RouteSave save;
      save.worker = worker(rank);
      if (ranks.size() > 1) {
        save.text = "save " + full_name(line.parsed.operands[0].text, at) +
                    " " + quote(file);
      }
      save.path = std::move(file);
      const Id type =
          whole != nullptr ? types_.id(*whole) : line.type_on(0, rank);
      if (type == kFailedType) {
        save.failure = line.failure_in(0, {rank});
      } else {
        save.type = to_string(types_[type]);
      }
      route.saves.push_back(std::move(save));
    }
    route.saves_whole = whole != nullptr;
    return;
  }
  const std::vector<std::string> labels = print_labels(line.parsed);
  int64_t most = 1;
  for (size_t p = 0; p < ranks.size(); ++p) {
    if (route.owed.empty() || route.owed.back().worker != worker(ranks[p])) {
      route.owed.push_back({worker(ranks[p]), {}});
    }
    const Id id = line.type_on(0, ranks[p]);
    const Type* type = whole != nullptr    ? whole
                       : id == kFailedType ? nullptr
                                           : &types_[id];
    route.owed.back().heads += result_head(labels[p], type) + "\n";
    if (type != nullptr) most = std::max(most, type->elements());
  }
  const size_t lines =
      (labels.size() + route.owed.size() - 1) / route.owed.size();
  route.owed_bytes = kPrintedBytes * static_cast<uint64_t>(most) * lines;
}

// Makes the route of a print or save of a whole tensor, which the worker of the
// operand's first rank puts together first.
Status RouteBuilder::fill_assembly(const ResolvedLine& line, Route& route) {
  if (Status form = check_form(line.parsed); !form.ok()) return form;
  const Ranks& ranks = line.ranks();
  place_ranks(line, ranks, route);
  if (FailureText why = line.failure_in(0, ranks)) {
    if (line.statement == Statement::kSave) {
      add_output(line, {ranks[0]}, nullptr, route);
      route.saves[0].failure = std::move(why);
      return ok_status();
    }
    route.answer = print_labels(line.parsed)[0] + " = fail " + quote(*why);
    fail_instead(line, std::move(why), route);
    return ok_status();
  }
  const auto whole = assembly(line.parsed, *line.grid, line.piece_types());
  if (!whole.ok()) return whole.error();
  add_pieces_note(line, 0, ranks, route);
  if (line.statement == Statement::kSave && route.pieces.empty()) {
    // Another worker may write the file.
    route.pieces = pieces_note(line, 0, ranks);
  }
  const Type& type = whole.value().whole;
  route.cost = type.bytes() + kCrossing;
  add_output(line, {ranks[0]}, &type, route);
  return ok_status();
}

// Makes the route of a copy between ranks or of a collective.
Status RouteBuilder::fill_crossing(const ResolvedLine& line, Route& route) {
  if (Status s = check_crossing(line.parsed); !s.ok()) return s;
  const Ranks& sources = ranks_read(line.parsed, line.where, 0);
  place_ranks(line, line.ranks(), route);
  if (FailureText why = line.failure_in(0, sources)) {
    fail_instead(line, std::move(why), route);
    return ok_status();
  }
  place_ranks(line, sources, route);
  const auto types =
      infer_placed(line.parsed, line.where, line.mesh, line.piece_types());
  if (!types.ok()) return types.error();
  add_results(line, intern(line, types.value()), route);
  add_pieces_note(line, 0, sources, route);
  uint64_t bytes = 0;
  for (const int64_t rank : sources)
    bytes += types_[line.type_on(0, rank)].bytes();
  route.cost = bytes / std::max<size_t>(1, route.workers.size()) + kCrossing;
  return ok_status();
}

// ---- parts of a route -------------------------------------------------------

// Adds the workers of these ranks to the route's.
void RouteBuilder::place_ranks(const ResolvedLine& line, const Ranks& more,
                               Route& route) {
  if (!line.is_placed) return;
  ranks_.assign(line.space, more, line.mesh == nullptr ? 0 : line.mesh->size());
  std::vector<uint32_t> all;
  std::ranges::set_union(route.workers, ranks_.hosts(line.space, more),
                         std::back_inserter(all));
  route.workers = std::move(all);
}

void RouteBuilder::add_operand(Route& route, SymbolId id) const {
  const ValueLocation& location = locations_[id];
  const bool has_bytes = !location.ranks && !location.has_failed();
  route.operands.push_back(
      {id, location.stamp,
       has_bytes ? types_[location.stamp.type].bytes() : 0});
}

void RouteBuilder::add_result(Route& route, SymbolId id, Id type) const {
  const bool has_bytes = !locations_[id].ranks && type != kFailedType;
  route.results.push_back({id, locations_[id].stamp.generation, type,
                           has_bytes ? types_[type].bytes() : 0});
}

void RouteBuilder::add_results(const ResolvedLine& line, const Ids& types,
                               Route& route) {
  const Ranks ranks = line.is_placed ? ascending(line.ranks()) : Ranks();
  for (size_t r = 0; r < line.parsed.results.size(); ++r) {
    const std::string_view name = line.parsed.results[r].text;
    const SymbolId id = line.is_placed ? locations_.obtain_part(name, ranks)
                                       : locations_.obtain(name);
    add_result(route, id, types[r]);
  }
}

// Marks the types of the results as failed on the ranks where an operand has
// failed.
void RouteBuilder::fail_some(const ResolvedLine& line,
                             const ResolvedLine::Failures& failed, Ids& types) {
  const std::vector<size_t> places = places_of(line.ranks());
  for (Id& type : types) {
    std::vector<Id> pieces;
    for (size_t i = 0; i < places.size(); ++i) {
      pieces.push_back(failed.ranks[places[i]] ? kFailedType
                                               : types_.piece(type, i));
    }
    type = types_.id(pieces);
  }
}

void RouteBuilder::fail_results(const ResolvedLine& line, FailureText why,
                                Route& route) {
  route.action = Action::kFail;
  route.failure = std::move(why);
  route.operands.clear();
  Ids failed;
  for (size_t r = 0; r < line.parsed.results.size(); ++r) {
    failed.push_back(kFailedType);
  }
  add_results(line, failed, route);
}

// Everything that the line reads has failed, so its results are that failure: a
// `fail` line is issued instead of it.
void RouteBuilder::fail_instead(const ResolvedLine& line, FailureText why,
                                Route& route) {
  route.instead = failure_line(line.parsed.results, *why);
  fail_results(line, std::move(why), route);
}

// Adds a note with the types of the pieces that the line reads, since a worker
// does not know those of other workers' pieces.
void RouteBuilder::add_pieces_note(const ResolvedLine& line, size_t operand,
                                   const Ranks& ranks, Route& route) const {
  if (route.workers.size() > 1)
    route.pieces = pieces_note(line, operand, ranks);
}

std::string RouteBuilder::pieces_note(const ResolvedLine& line, size_t operand,
                                      const Ranks& ranks) const {
  std::vector<Id> types;
  for (const int64_t rank : ranks) types.push_back(line.type_on(operand, rank));
  const bool alike = std::ranges::all_of(
      types, [&types](Id type) { return type == types[0]; });
  if (alike) types.resize(1);
  std::string note = " #pieces=";
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0) note += ';';
    note += to_string(types_[types[i]]);
  }
  return note;
}

}  // namespace gt::route

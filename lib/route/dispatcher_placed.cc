// Lines with ranks: to the workers that play them.
#include <algorithm>

#include "file/stored.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "route/costs.h"
#include "route/dispatcher.h"
#include "spmd/labels.h"
#include "stream/ranks.h"

namespace gt {
namespace {

using Action = Route::Action;
using Id = TypeNumbers::Id;

bool is_name_operand(const Operand& operand) {
  return operand.kind == Operand::Kind::kName;
}

}  // namespace

Status Dispatcher::route_placed(Route& route) {
  if (Status s = check_emitted(line_); !s.ok()) return s;
  auto where = line_ranks(line_);
  if (!where.ok()) return where.error();
  where_ = std::move(where.value());
  mesh_ = meshes_.of(line_);
  const Name* result = line_.results.empty() ? nullptr : &line_.results[0];
  const auto operand = std::find_if(line_.operands.begin(),
                                    line_.operands.end(), is_name_operand);
  space_ = meshes_.space_of(result != nullptr ? result->text : operand->text);
  const auto grid = grid_of(line_, mesh_, where_.ranks);
  if (!grid.ok()) return grid.error();
  const Statement statement = statement_of(line_.op);
  if (statement == Statement::kFail) {
    if (Status s = place_ranks(where_.ranks, route); !s.ok()) return s;
    if (Status s = route_fail(route); !s.ok()) return s;
    route.results.clear();
    fail_pieces(route, route.failure);
    return ok_status();
  }
  // An unknown op is said before an unknown name.
  if (find_op(line_.op) != nullptr) {
    if (Status s = find_pieces(route); !s.ok()) return s;
  }
  if (statement == Statement::kFree) return route_free(route);
  if (is_output(statement) && line_.key("split") != nullptr) {
    return route_assembly(route, grid.value());
  }
  if (crosses_ranks(line_, where_)) return route_crossing(route);
  return route_ranks(route, grid.value());
}

// Registers of all operands; those that a rank lacks are named.
Status Dispatcher::find_pieces(Route& route) {
  for (size_t o = 0; o < line_.operands.size(); ++o) {
    const Operand& operand = line_.operands[o];
    if (!is_name_operand(operand)) continue;
    const Ranks& wanted = ranks_read(line_, where_, o);
    const Ranks sorted = ascending(wanted);
    size_t found = 0;
    for (const HomeId id : homes_.pieces(operand.text)) {
      const size_t shared = common(*homes_[id].ranks, sorted).size();
      if (shared > 0) add_operand(route, id);
      found += shared;
    }
    if (found == wanted.size()) continue;
    const std::vector<HomeId>& pieces = homes_.pieces(operand.text);
    for (const int64_t rank : wanted) {
      if (homes_.piece(pieces, rank, types_) != TypeNumbers::kNone) continue;
      return unknown_name(line_, o,
                          full_name(operand.text, std::to_string(rank)),
                          homes_.some_live_names());
    }
  }
  return ok_status();
}

// Adds the workers of these ranks to the route's.
Status Dispatcher::place_ranks(const Ranks& more, Route& route) {
  tell(everyone_,
       ranks_.assign(space_, more, mesh_ == nullptr ? 0 : mesh_->size()));
  std::vector<uint32_t> all;
  const std::vector<uint32_t> hosts = ranks_.hosts(space_, more);
  std::set_union(route.workers.begin(), route.workers.end(), hosts.begin(),
                 hosts.end(), std::back_inserter(all));
  route.workers = std::move(all);
  return ok_status();
}

FailureText Dispatcher::failure_in(size_t operand, const Ranks& ranks) const {
  if (!homes_.has_failures()) return nullptr;
  const auto& pieces = homes_.pieces(line_.operands[operand].text);
  for (const int64_t rank : ranks) {
    for (const HomeId id : pieces) {
      if (Homes::piece_of(homes_[id], rank, types_) == TypeNumbers::kFailed) {
        return homes_.failure_of(id);
      }
    }
  }
  return nullptr;
}

// With a stand-in, a piece that failed has the type of one that did not.
PieceType Dispatcher::piece_types(bool stand_in) {
  std::vector<const std::vector<HomeId>*> pieces;
  for (const Operand& operand : line_.operands) {
    pieces.push_back(&homes_.pieces(operand.text));
  }
  return [this, stand_in, pieces](size_t o, int64_t rank) -> const Type* {
    Id type = homes_.piece(*pieces[o], rank, types_);
    for (const int64_t other : where_.ranks) {
      if (!stand_in || type != TypeNumbers::kFailed) break;
      type = homes_.piece(*pieces[o], other, types_);
    }
    return &types_[type];
  };
}

Status Dispatcher::route_free(Route& route) {
  if (!line_.results.empty() || !line_.keys.empty()) {
    return Error{"free: usage: free x...", line_.op_column};
  }
  route.action = Action::kFree;
  route.operands.clear();
  for (size_t o = 0; o < line_.operands.size(); ++o) {
    if (!is_name_operand(line_.operands[o])) {
      return Error{"free: usage: free x...", line_.operands[o].column};
    }
    const Ranks ranks = ascending(where_.operands[o]);
    if (Status s = place_ranks(ranks, route); !s.ok()) return s;
    const std::string_view base = line_.operands[o].text;
    // Whole registers, so that a loop's line can be kept.
    for (const HomeId id : std::vector<HomeId>(homes_.pieces(base))) {
      const Ranks part = common(*homes_[id].ranks, ranks);
      if (!part.empty()) {
        add_operand(route, homes_.separate(base, part, types_));
      }
    }
  }
  return ok_status();
}

void Dispatcher::fail_pieces(Route& route, FailureText why) {
  const Ranks ranks = ascending(where_.ranks);
  route.action = Action::kFail;
  route.failure = std::move(why);
  for (const Name& name : line_.results) {
    add_result(route, homes_.obtain_piece(name.text, ranks),
               TypeNumbers::kFailed);
  }
}

// What a worker needs to know of the pieces of others.
void Dispatcher::add_pieces_note(size_t operand, const Ranks& ranks,
                                 Route& route) const {
  if (route.workers.size() < 2) return;
  const auto& pieces = homes_.pieces(line_.operands[operand].text);
  std::vector<Id> types;
  for (const int64_t rank : ranks) {
    types.push_back(homes_.piece(pieces, rank, types_));
  }
  const bool alike = std::all_of(types.begin(), types.end(), [&types](Id type) {
    return type == types[0];
  });
  if (alike) types.resize(1);
  route.pieces = " #pieces=";
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0) route.pieces += ';';
    route.pieces += to_string(types_[types[i]]);
  }
}

// `types` by result, then by position in the line's ranks.
void Dispatcher::add_piece_results(
    Route& route, const std::vector<std::vector<Type>>& types) {
  const Ranks ranks = ascending(where_.ranks);
  std::vector<size_t> order(where_.ranks.size());
  for (size_t p = 0; p < order.size(); ++p) order[p] = p;
  if (ranks != where_.ranks) {
    std::sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      return where_.ranks[a] < where_.ranks[b];
    });
  }
  for (size_t r = 0; r < line_.results.size(); ++r) {
    std::vector<Id> pieces;
    const Type* last = nullptr;
    for (const size_t p : order) {
      const Type& type = types[r][p];
      pieces.push_back(last != nullptr && *last == type ? pieces.back()
                                                        : types_.intern(type));
      last = &type;
    }
    const HomeId id = homes_.obtain_piece(line_.results[r].text, ranks);
    add_result(route, id, types_.intern(pieces));
  }
}

// copy between ranks, and the collectives.
Status Dispatcher::route_crossing(Route& route) {
  const auto operand = std::find_if(line_.operands.begin(),
                                    line_.operands.end(), is_name_operand);
  if (operand == line_.operands.end() || line_.results.size() != 1) {
    return Error{std::string(line_.op) +
                     ": takes one name and gives one; usage: " +
                     find_op(line_.op)->row->signature,
                 line_.op_column};
  }
  const auto o = static_cast<size_t>(operand - line_.operands.begin());
  const Ranks& sources = ranks_read(line_, where_, o);
  if (Status s = place_ranks(where_.ranks, route); !s.ok()) return s;
  if (FailureText why = failure_in(o, sources)) {
    route.instead = full_name(line_.results[0].text, line_.results[0].ranks) +
                    " = fail " + quote(*why);
    fail_pieces(route, std::move(why));
    return ok_status();
  }
  if (Status s = place_ranks(sources, route); !s.ok()) return s;
  const auto types = infer_placed(line_, where_, mesh_, piece_types(false));
  if (!types.ok()) return types.error();
  add_piece_results(route, types.value());
  add_pieces_note(o, sources, route);
  uint64_t bytes = 0;
  const std::vector<HomeId>& pieces = homes_.pieces(operand->text);
  for (const int64_t rank : sources) {
    bytes += types_[homes_.piece(pieces, rank, types_)].bytes();
  }
  route.cost = bytes / std::max<size_t>(1, route.workers.size()) + 1000;
  return ok_status();
}

// print and save of a whole that is put together first, by the worker of the
// operand's first rank.
Status Dispatcher::route_assembly(Route& route, const Grid& grid) {
  const std::vector<const Type*> none(line_.operands.size(), nullptr);
  if (Status s = bind_form(line_, none, call_); !s.ok()) return s;
  route.action = Action::kGive;
  if (Status s = place_ranks(where_.ranks, route); !s.ok()) return s;
  const uint32_t first = ranks_.worker(space_, where_.ranks[0]);
  const bool prints = statement_of(line_.op) == Statement::kPrint;
  if (const FailureText why = failure_in(0, where_.ranks)) {
    if (prints) {
      results_.add(print_labels(line_)[0] + " = fail " + quote(*why));
    }
    route.action = Action::kFail;
    route.instead = "";
    route.failure = why;
    return ok_status();
  }
  const auto whole = assembly(line_, grid, piece_types(false));
  if (!whole.ok()) return whole.error();
  add_pieces_note(0, where_.ranks, route);
  route.cost = whole.value().whole.bytes() + 1000;
  if (prints) {
    const Type& type = whole.value().whole;
    route.owed.push_back(
        {first, result_head(print_labels(line_)[0], &type) + "\n"});
    route.owed_bytes = kPrintedBytes * static_cast<uint64_t>(type.elements());
  } else {
    route.paths.emplace_back(unquote(line_.operands[1].text), true,
                             std::vector<uint32_t>{first});
  }
  return ok_status();
}

// What each rank does by itself.
Status Dispatcher::route_ranks(Route& route, const Grid& grid) {
  if (Status s = place_ranks(where_.ranks, route); !s.ok()) return s;
  FailureText why;
  std::vector<bool> failed(where_.ranks.size());
  for (size_t o = 0; o < line_.operands.size(); ++o) {
    if (!is_name_operand(line_.operands[o]) || !homes_.has_failures()) continue;
    const std::vector<HomeId>& pieces = homes_.pieces(line_.operands[o].text);
    for (size_t p = 0; p < where_.ranks.size(); ++p) {
      const Id type = homes_.piece(pieces, where_.ranks[p], types_);
      failed[p] = failed[p] || type == TypeNumbers::kFailed;
    }
    if (why == nullptr) why = failure_in(o, where_.ranks);
  }
  const bool gives = is_output(statement_of(line_.op));
  const bool all_failed =
      std::all_of(failed.begin(), failed.end(), [](bool f) { return f; });
  const bool is_known = find_op(line_.op) != nullptr;
  if (why != nullptr && all_failed && !gives && is_known) {
    std::string& instead = route.instead.emplace();
    for (const Name& name : line_.results) {
      instead += full_name(name.text, name.ranks) + " ";
    }
    if (!instead.empty()) instead += "= fail " + quote(*why);
    fail_pieces(route, std::move(why));
    return ok_status();
  }
  std::vector<std::vector<Type>> types(line_.results.size());
  if (!all_failed || why == nullptr || !is_known) {
    auto made = infer_placed(line_, where_, mesh_, piece_types(true));
    if (!made.ok()) return made.error();
    types = std::move(made.value());
    route.cost = cost_of_rank(grid);
  }
  if (gives) return outputs_of_ranks(route);
  add_piece_results(route, types);
  if (statement_of(line_.op) == Statement::kLoad) {
    route.paths.emplace_back(unquote(line_.operands[0].text), false,
                             route.workers);
  }
  if (why == nullptr) return ok_status();
  // Some ranks failed, and their workers know it.
  route.failure = why;
  for (RouteResult& result : route.results) {
    const Ranks ranks = *homes_[result.id].ranks;
    std::vector<Id> pieces;
    for (size_t i = 0; i < ranks.size(); ++i) {
      const auto p =
          std::find(where_.ranks.begin(), where_.ranks.end(), ranks[i]) -
          where_.ranks.begin();
      pieces.push_back(failed[static_cast<size_t>(p)]
                           ? TypeNumbers::kFailed
                           : types_.piece(result.type, i));
    }
    result.type = types_.intern(pieces);
  }
  return ok_status();
}

// print and save: a line or a file for each rank, in order.
Status Dispatcher::outputs_of_ranks(Route& route) {
  route.action = Action::kGive;
  if (statement_of(line_.op) == Statement::kSave) {
    const std::string path = unquote(line_.operands[1].text);
    for (const int64_t rank : where_.ranks) {
      const std::string file = where_.ranks.size() == 1
                                   ? path
                                   : path_of_rank(path, std::to_string(rank));
      route.paths.emplace_back(
          file, true, std::vector<uint32_t>{ranks_.worker(space_, rank)});
    }
    return ok_status();
  }
  const std::vector<std::string> labels = print_labels(line_);
  const std::vector<HomeId>& pieces = homes_.pieces(line_.operands[0].text);
  int64_t most = 1;
  for (size_t p = 0; p < where_.ranks.size(); ++p) {
    const uint32_t worker = ranks_.worker(space_, where_.ranks[p]);
    if (route.owed.empty() || route.owed.back().worker != worker) {
      route.owed.push_back({worker, {}});
    }
    const Id id = homes_.piece(pieces, where_.ranks[p], types_);
    const Type* type = id == TypeNumbers::kFailed ? nullptr : &types_[id];
    route.owed.back().heads += result_head(labels[p], type) + "\n";
    if (type != nullptr) most = std::max(most, type->elements());
  }
  const size_t lines = labels.size() / route.owed.size() + 1;
  route.owed_bytes = kPrintedBytes * static_cast<uint64_t>(most) * lines;
  return ok_status();
}

// Of the busiest worker, roughly.
uint64_t Dispatcher::cost_of_rank(const Grid& grid) {
  const auto plan = local_plan(line_, grid);
  if (!plan.ok()) return 0;
  const PieceType types = piece_types(true);
  std::vector<const Type*> operands;
  for (size_t o = 0; o < line_.operands.size(); ++o) {
    operands.push_back(is_name_operand(line_.operands[o])
                           ? types(o, where_.ranks[0])
                           : nullptr);
  }
  if (!bind_local(plan.value(), plan.value().variant_of[0], operands, call_)
           .ok()) {
    return 0;
  }
  const auto ranks = static_cast<double>(where_.ranks.size());
  const auto hosts = static_cast<double>(loads_.size());
  return line_cost(call_, std::max(1.0, ranks / hosts));
}

}  // namespace gt

#include "route/issuer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/message.h"
#include "net/control_lines.h"
#include "program/costs.h"
#include "stream/marks.h"
#include "stream/notes.h"

namespace gt::route {
namespace {

using Action = Route::Action;

constexpr size_t kMostHeldText = size_t{64} << 10;
// Bytes of a recipe; one is kept beside each value.
constexpr size_t kMostRecipe = 256;

// Returns the line whose parts these are: they are views into one text.
std::string_view whole(const NotedText& parts) {
  const std::string_view& last = parts.notes.empty() ? parts.text : parts.notes;
  const char* end = last.data() + last.size();
  return {parts.text.data(), static_cast<size_t>(end - parts.text.data())};
}

std::string with_notes(std::string text, std::string_view notes) {
  if (!notes.empty()) text.append(" ").append(notes);
  return text;
}

bool has_failure(const Route& route) {
  return std::ranges::any_of(
      route.saves, [](const RouteSave& s) { return s.failure != nullptr; });
}

bool has_same(const ValueLocation& a, const ValueLocation& b) {
  return a.holders.size() == b.holders.size() &&
         std::all_of(a.holders.begin(), a.holders.end(),
                     [&b](uint32_t worker) { return b.is_on(worker); });
}

}  // namespace

void Issuer::act(const Route& route, const NotedText& parts, Client& client) {
  const SourceLine& source = client.source;
  if (route.makes && hold(route, whole(parts), source)) return;
  if (!route.paths.empty()) issue_readers(route.paths);
  if (route.action == Action::kFree && !route.is_placed) {
    return free(route, parts, source);
  }
  if (!route.saves.empty()) {
    const Workers savers = save(route, parts, source);
    if (loads_.has_lost() && client.users.is_split()) {
      tell_lost(savers, parts, client);
    }
    return;
  }
  const Workers& here = route.is_placed
                            ? route.workers
                            : sequencer_.alone(prepare(route, source));
  if (route.action == Action::kGive) {
    sequencer_.end_saves(here, net::kSavesEnd, source);
  }
  if (!route.paths.empty()) sequencer_.fence(route.paths, here, source);
  if (route.pieces.empty()) {
    sequencer_.issue(here, whole(parts), source);
  } else {
    sequencer_.issue(
        here,
        with_notes(std::string(parts.text).append(route.pieces), parts.notes),
        source);
  }
  loads_.add(here, route.cost);
  const bool is_told = loads_.has_lost() && client.users.is_split();
  if (is_told && route.action != Action::kFree) tell_lost(here, parts, client);
  if (route.action == Action::kGive) {
    return owe(route, here[0], sequencer_.last_seq(), client.users);
  }
  if (route.action == Action::kFree) {
    for (const RouteOperand& o : route.operands) locations_.release(o.id);
    return;
  }
  bind(route, here, source);
}

// Issues a save. What goes to a file of many tensors is brought to the worker
// that has saved there before, which keeps no copy of it. Returns the workers
// that have the values.
Issuer::Workers Issuer::save(const Route& route, const NotedText& parts,
                             const SourceLine& source) {
  const uint32_t holder = route.is_placed ? 0 : prepare(route, source);
  const Workers here =
      route.is_placed ? route.workers : sequencer_.alone(holder);
  const auto home = [&](const RouteSave& save) {
    return route.is_placed ? save.worker : holder;
  };
  std::vector<uint32_t> writers;
  bool is_at_home = !has_failure(route);
  for (size_t i = 0; i < route.saves.size(); ++i) {
    const uint32_t from = home(route.saves[i]);
    writers.push_back(sequencer_.begin_save(route.paths[i], from, source));
    is_at_home = is_at_home && writers[i] == from;
  }
  // A log that is run again may have the notes of the run before.
  NotedText own = parts;
  if (own.notes.find("#to=") != std::string_view::npos) own.notes = {};
  if (is_at_home) {
    std::string text(own.text);
    if (here.size() > 1) text += route.pieces;
    sequencer_.issue(here, with_notes(std::move(text), own.notes), source);
  } else {
    for (size_t i = 0; i < route.saves.size(); ++i) {
      save_one(route, i, home(route.saves[i]), writers[i], own, source);
    }
  }
  loads_.add(here, route.cost);
  return here;
}

// Issues the save of one rank whose value is with the worker `from`, or, if a
// whole is saved, with all workers of the route.
void Issuer::save_one(const Route& route, size_t i, uint32_t from,
                      uint32_t writer, const NotedText& parts,
                      const SourceLine& source) {
  const RouteSave& save = route.saves[i];
  if (save.failure != nullptr) {
    sequencer_.tell_one(writer, net::failed_save_line(save.path, *save.failure),
                        source);
    return;
  }
  std::string text(save.text.empty() ? parts.text : save.text);
  Workers here = {from};
  if (route.saves_whole) {
    here = route.workers;
    text += route.pieces;
  } else if (from != writer) {
    text += " #from=" + std::to_string(from) + " #pieces=" + save.type;
  }
  if (from != writer) text += " #to=" + std::to_string(writer);
  if (std::ranges::find(here, writer) == here.end()) here.push_back(writer);
  std::ranges::sort(here);
  sequencer_.issue(here, with_notes(std::move(text), parts.notes), source);
}

// Tells the user of a line that a lost worker should run. The line's results
// are failures, and so are those of the lines that read them; but a program
// that prints none of them would end as if all was well.
void Issuer::tell_lost(const Workers& here, const NotedText& parts,
                       Client& client) {
  const auto lost = std::find_if(here.begin(), here.end(), [this](uint32_t w) {
    return loads_.is_lost(w);
  });
  if (lost == here.end()) return;
  const std::string_view line = whole(parts);
  const NotedPlace at = place_of(line, *client.source.file, client.source.line);
  const Place place{at.file, static_cast<size_t>(at.line)};
  const Error error{"worker " + std::to_string(*lost) +
                    ", which should run this line, is lost"};
  const std::string space(outer_space(line));
  // Reported once for each user, since the files of two users may have the same
  // name.
  const std::string file = space + "/" + std::string(place.file);
  if (client.reported.is_first({file, place.line}, error.message, line)) {
    client.tell(
        {Exit::kLost, space, format_error("gt-route", place, error, line)});
  }
}

void Issuer::owe(const Route& route, uint32_t worker, uint64_t seq,
                 Users& users) {
  for (const RouteOwed& owed : route.owed) {
    users.results_of(owed.heads)
        .owe(route.is_placed ? owed.worker : worker, owed.heads,
             route.owed_bytes, seq);
  }
}

// ---- what a line without ranks reads ----------------------------------------

// Returns the worker on which the line is to run, and brings what it reads
// there. A print or save runs where the value is.
uint32_t Issuer::prepare(const Route& route, const SourceLine& source) {
  if (route.action == Action::kGive) {
    const RouteOperand& operand = route.operands[0];
    ValueLocation& location = locations_[operand.id];
    if (location.held != 0) {
      issue_held(operand.id, placer_.place_alone(operand.id));
    } else if (location.recipe && loads_.is_lost(location.holders[0])) {
      bring(operand, placer_.place_alone(operand.id), source);
      std::swap(location.holders[0],
                location.holders[location.holders.size() - 1]);
    }
    return location.holders[0];
  }
  const Placer::Choice choice = placer_.place(route);
  for (const RouteOperand& operand : route.operands) {
    if (choice.weighs) locations_[operand.id].waited = choice.waited;
    bring(operand, choice.worker, source);
  }
  for (const RouteResult& result : route.results) {
    if (locations_[result.id].held != 0) issue_held(result.id, choice.worker);
  }
  return choice.worker;
}

// Copies a value to the worker, or makes it there again, if the worker lacks
// it.
void Issuer::bring(const RouteOperand& operand, uint32_t worker,
                   const SourceLine& source) {
  ValueLocation& location = locations_[operand.id];
  location.wanted_by = worker + 1;
  if (location.held != 0) return issue_held(operand.id, worker);
  if (location.is_on(worker)) return;
  if (location.recipe) {
    make_again(*location.recipe, worker);
  } else {
    copy(operand, worker, source);
  }
  loads_.hold(worker, operand.bytes);
  location.holders.push_back(worker);
}

// The line is issued as kControl: when one worker replays the log, the value is
// there already.
void Issuer::make_again(const PureLine& recipe, uint32_t worker) {
  sequencer_.issue(sequencer_.alone(worker), recipe.text, recipe.source,
                   Issue::Kind::kControl);
  loads_.add(worker, recipe.cost);
}

void Issuer::copy(const RouteOperand& operand, uint32_t worker,
                  const SourceLine& source) {
  const ValueLocation& location = locations_[operand.id];
  const uint32_t from = location.holders[0];
  const std::string_view name = locations_.name_of(operand.id);
  std::string text(name);
  text.append(" = copy ").append(name);
  text.append(" #from=").append(std::to_string(from));
  text.append(" #to=").append(std::to_string(worker));
  text.append(" #pieces=").append(to_string(types_[location.stamp.type]));
  sequencer_.issue({std::min(from, worker), std::max(from, worker)}, text,
                   source);
  loads_.add(worker, copy_cost(operand.bytes) - kCopyCost);
}

// ---- what a line binds and frees --------------------------------------------

void Issuer::bind(const Route& route, const Workers& here,
                  const SourceLine& source) {
  if (route.is_placed) {
    for (const RouteResult& result : route.results) locations_.keep(result.id);
  }
  for (const RouteResult& result : route.results) {
    if (!route.is_placed) bind_on(here[0], result, source);
    if (route.action == Action::kFail) {
      locations_.fail(result.id, route.failure, types_);
      continue;
    }
    locations_.bind(result.id, result.type, types_);
    if (route.failure != nullptr) {
      locations_.note_failure(result.id, route.failure);
    }
  }
}

// Notes that the new value of a register without ranks is made on this worker.
void Issuer::bind_on(uint32_t worker, const RouteResult& result,
                     const SourceLine& source) {
  ValueLocation& location = locations_[result.id];
  const bool stays =
      location.holders.size() == 1 && location.holders[0] == worker;
  if (stays && location.stamp.type == result.type) {
    location.ready = loads_.issued(worker);
  } else {
    release_on(location);
    settle(result.id, worker, result.bytes, source);
  }
}

// The register's value dies: takes its bytes off the loads of its holders.
void Issuer::release_on(const ValueLocation& location) {
  if (!location.is_live() || location.has_failed()) return;
  const uint64_t bytes = types_[location.stamp.type].bytes();
  for (const uint32_t worker : location.holders) loads_.let_go(worker, bytes);
}

// Notes that the register's value is on this worker alone, and lets other
// holders of the old value free it.
void Issuer::settle(SymbolId id, uint32_t worker, uint64_t bytes,
                    const SourceLine& source) {
  ValueLocation& location = locations_[id];
  const Holders before = std::exchange(location.holders, Holders());
  location.holders.push_back(worker);
  location.ready = loads_.issued(worker);
  loads_.hold(worker, bytes);
  for (const uint32_t holder : before) {
    if (holder != worker) return free_copies(id, before, worker, source);
  }
}

// Frees the register's old value on its holders other than this worker. The
// line is issued as kControl: when one worker replays the log, it would free
// the new value.
void Issuer::free_copies(SymbolId id, const Holders& before, uint32_t worker,
                         const SourceLine& source) {
  Workers stale(before.begin(), before.end());
  std::erase(stale, worker);
  std::sort(stale.begin(), stale.end());
  sequencer_.issue(stale, std::string("free ").append(locations_.name_of(id)),
                   source, Issue::Kind::kControl);
}

// Frees values without ranks, each on its holders: by one line if all have the
// same holders, else by a line for each.
void Issuer::free(const Route& route, const NotedText& parts,
                  const SourceLine& source) {
  for (const RouteOperand& operand : route.operands) {
    if (locations_[operand.id].held != 0) {
      issue_held(operand.id, placer_.place_alone(operand.id));
    }
  }
  const ValueLocation& first = locations_[route.operands[0].id];
  const bool alike = std::all_of(
      route.operands.begin(), route.operands.end(),
      [&](const RouteOperand& o) { return has_same(locations_[o.id], first); });
  for (const RouteOperand& operand : route.operands) {
    const ValueLocation& location = locations_[operand.id];
    Workers here(location.holders.begin(), location.holders.end());
    std::sort(here.begin(), here.end());
    if (!alike) {
      std::string text = "free ";
      text.append(locations_.name_of(operand.id));
      sequencer_.issue(here, with_notes(std::move(text), parts.notes), source);
    } else if (&operand == route.operands.data()) {
      sequencer_.issue(here, with_notes(std::string(parts.text), parts.notes),
                       source);
    }
    release_on(location);
    locations_.release(operand.id);
  }
}

// ---- lines that wait until their value is read ------------------------------

// Keeps a line back until its value is read. Returns false if the line must be
// issued at once.
bool Issuer::hold(const Route& route, std::string_view text,
                  const SourceLine& source) {
  if (loads_.size() == 1 || text.size() > kMostHeldText) return false;
  const RouteResult& result = route.results[0];
  ValueLocation& location = locations_[result.id];
  if (location.held != 0) issue_held(result.id, placer_.place_alone(result.id));
  while (held_.is_full()) {
    const SymbolId oldest = held_.oldest();
    issue_held(oldest, placer_.place_alone(oldest));
  }
  release_on(location);
  locations_.bind(result.id, result.type, types_);
  location.held = held_.add({result.id, std::string(text), route.paths,
                             route.cost, result.bytes, source});
  return true;
}

void Issuer::issue_held(SymbolId id, uint32_t worker) {
  ValueLocation& location = locations_[id];
  HeldLine line = held_.take(std::exchange(location.held, 0));
  const Workers& here = sequencer_.alone(worker);
  sequencer_.fence(line.paths, here, line.source);
  sequencer_.issue(here, line.text, line.source);
  loads_.add(worker, line.cost);
  settle(id, worker, line.bytes, line.source);
  if (line.paths.empty() && line.text.size() <= kMostRecipe) {
    location.recipe = Shared<PureLine>(
        {std::move(line.text), line.cost, std::move(line.source)});
  }
}

// Issues, before files are written, the waiting lines that read their present
// content.
void Issuer::issue_readers(const std::vector<RoutePath>& paths) {
  for (const RoutePath& path : paths) {
    if (!path.writes) continue;
    for (;;) {
      const SymbolId id = held_.oldest_reader([&](const HeldLine& line) {
        return line.paths[0].file == path.file;
      });
      if (id == kNoSymbol) break;
      issue_held(id, placer_.place_alone(id));
    }
  }
}

void Issuer::issue_readers(
    const std::function<bool(std::string_view name)>& is_wanted) {
  for (;;) {
    const SymbolId id = held_.oldest_reader([&](const HeldLine& line) {
      return is_wanted(locations_.name_of(line.result));
    });
    if (id == kNoSymbol) return;
    issue_held(id, placer_.place_alone(id));
  }
}

void Issuer::flush() {
  while (held_.oldest() != kNoSymbol) {
    const SymbolId id = held_.oldest();
    issue_held(id, placer_.place_alone(id));
  }
}

}  // namespace gt::route

// Issues decoded lines: says which workers run a line, issues it to them
// through the Sequencer, and notes in ValueLocations and Loads what that
// changes.
//
// A line with ranks goes to the workers that play them. If it crosses ranks, as
// a collective does, these workers bring the pieces from one to the other by
// themselves.
//
// A line without ranks goes to one worker, which Placer chooses; a print or
// save to the first holder of its operand. If the worker lacks a value that the
// line reads, a line is inserted before it:
//
//     x = copy x #from=0 #to=1 #pieces=f32[4]    to workers 0 and 1, or
//     x = zeros f32[4]                           to worker 1 alone
//
// The first lets worker 1 fetch the value from worker 0. The second is the line
// that made it, if it has a recipe (ValueLocation::recipe), which costs no
// transfer. Either way worker 1 is a holder of the value from then on. When the
// register is bound again, "free x" is inserted for holders of the old value on
// which the new one is not made.
//
// A line that makes a value from nothing is not issued before the value is read
// (held_lines.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "route/client.h"
#include "route/held_lines.h"
#include "route/placer.h"
#include "route/route.h"
#include "route/sequencer.h"
#include "route/value_locations.h"
#include "stream/notes.h"

namespace gt::route {

class Issuer {
 public:
  // All three outlive it.
  Issuer(ValueLocations& locations, TypeIds& types, Sequencer& sequencer)
      : locations_(locations),
        types_(types),
        sequencer_(sequencer),
        loads_(sequencer.loads()),
        placer_(locations, loads_) {}

  // Issues the line of that route, which must be valid now. `parts` are its
  // text and its notes, which are views into one text. client.source says where
  // the line stood; what it prints is owed to the client.
  void act(const Route& route, const NotedText& parts, Client& client);
  // Issues all lines that wait until their value is read.
  void flush();
  // Issues those of the waiting lines that read a file and bind a wanted name:
  // whoever is told that all lines so far are done may remove the file.
  void issue_readers(
      const std::function<bool(std::string_view name)>& is_wanted);
  // Returns how many lines wait.
  size_t held() const { return held_.size(); }

 private:
  using Workers = Sequencer::Workers;

  // Tells the user of the line, if the stream has several users, that a worker
  // which should run it is lost.
  void tell_lost(const Workers& here, const NotedText& parts, Client& client);
  uint32_t prepare(const Route& route, const SourceLine& source);
  void bring(const RouteOperand& operand, uint32_t worker,
             const SourceLine& source);
  void copy(const RouteOperand& operand, uint32_t worker,
            const SourceLine& source);
  void make_again(const PureLine& recipe, uint32_t worker);

  Workers save(const Route& route, const NotedText& parts,
               const SourceLine& source);
  void save_one(const Route& route, size_t i, uint32_t from, uint32_t writer,
                const NotedText& parts, const SourceLine& source);
  void bind(const Route& route, const Workers& here, const SourceLine& source);
  void bind_on(uint32_t worker, const RouteResult& result,
               const SourceLine& source);
  void settle(SymbolId id, uint32_t worker, uint64_t bytes,
              const SourceLine& source);
  void free_copies(SymbolId id, const Holders& before, uint32_t worker,
                   const SourceLine& source);
  void free(const Route& route, const NotedText& parts,
            const SourceLine& source);
  void release_on(const ValueLocation& location);
  static void owe(const Route& route, uint32_t worker, uint64_t seq,
                  Users& users);

  bool hold(const Route& route, std::string_view text,
            const SourceLine& source);
  void issue_held(SymbolId id, uint32_t worker);
  void issue_readers(const std::vector<RoutePath>& paths);

  ValueLocations& locations_;
  TypeIds& types_;
  Sequencer& sequencer_;
  Loads& loads_;
  Placer placer_;
  HeldLines held_;
};

}  // namespace gt::route

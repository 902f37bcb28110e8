// From a decoded line to what is sent to each worker. A line with ranks goes to
// the workers that play them. One without goes to one worker (placer.h), and
// what it reads is copied there, or made there again, where it is missing, by
// lines of our own. What makes a value from nothing waits until the value is
// read, and goes where that is.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "route/client.h"
#include "route/held_lines.h"
#include "route/homes.h"
#include "route/placer.h"
#include "route/route.h"
#include "route/sequencer.h"
#include "stream/notes.h"

namespace gt::route {

class Issuer {
 public:
  // All three outlive it.
  Issuer(Homes& homes, TypeIds& types, Sequencer& sequencer)
      : homes_(homes),
        types_(types),
        sequencer_(sequencer),
        loads_(sequencer.loads()),
        placer_(homes, loads_) {}

  // Issues the line of these parts, where the client's source says; what it
  // prints is owed to the client.
  void act(const Route& route, const NotedText& parts, Client& client);
  // Lines that wait for a reader need wait no more.
  void flush();
  size_t held() const { return held_.size(); }

 private:
  using Workers = Sequencer::Workers;

  uint32_t prepare(const Route& route, const SourceLine& source);
  void bring(const RouteOperand& operand, uint32_t worker,
             const SourceLine& source);
  void copy(const RouteOperand& operand, uint32_t worker,
            const SourceLine& source);
  void make_again(const PureLine& recipe, uint32_t worker);

  void bind(const Route& route, const Workers& here, const SourceLine& source);
  void bind_on(uint32_t worker, const RouteResult& result,
               const SourceLine& source);
  void settle(HomeId id, uint32_t worker, uint64_t bytes,
              const SourceLine& source);
  void free_copies(HomeId id, const Holders& before, uint32_t worker,
                   const SourceLine& source);
  void free(const Route& route, const NotedText& parts,
            const SourceLine& source);
  void release_on(const Home& home);
  static void owe(const Route& route, uint32_t worker, uint64_t seq,
                  ResultOrder& results);

  bool hold(const Route& route, std::string_view text,
            const SourceLine& source);
  void issue_held(HomeId id, uint32_t worker);
  void issue_readers(const std::vector<RoutePath>& paths);

  Homes& homes_;
  TypeIds& types_;
  Sequencer& sequencer_;
  Loads& loads_;
  Placer placer_;
  HeldLines held_;
};

}  // namespace gt::route

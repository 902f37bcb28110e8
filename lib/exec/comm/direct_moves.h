// DirectMoves moves the values of an exchange's step from device to device, by
// the link (direct_link.h).
//
// The linked workers of a step meet in it. Each tells the owners of what it
// reads which regions it will take. It then waits until its inputs are ready,
// or have failed, and until the workers that read its exports have said what
// they take. Then all values of the step go at once, as a group of sends and
// receives in which none waits for another. Groups come in the order of
// exchanges, which is the same on all workers, so they cannot wait for each
// other in a cycle; and a meeting waits, as everything does, only for what is
// earlier in that order (engine.h).
//
// A value that has failed is announced before the group, by the same messages
// as without a link, and is neither sent nor received. Sums are added as usual
// by the engine's programs, once their summands have arrived, unless fast sums
// are asked for. In that case each worker of a step that is a sum (exchange.h)
// also says whether it could let the link add it, and if all could, the link
// adds it. There is no second way, since a worker that has its sum gives its
// summand to nobody else: if the link breaks meanwhile, that sum fails.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "exec/comm/communicator.h"
#include "exec/comm/direct_link.h"
#include "exec/comm/exports.h"
#include "exec/comm/imports.h"

namespace gt::exec::comm {

// All calls come from the communication thread.
class DirectMoves {
 public:
  // All arguments must outlive the object.
  DirectMoves(DirectLink& link, PeerGroup& peers, Exports& exports,
              Imports& imports, Device& device)
      : link_(link),
        peers_(peers),
        exports_(exports),
        imports_(imports),
        device_(device) {}
  void set_user(Communicator::User& user) { user_ = &user; }

  // Handles the message in which a worker says what it will take.
  Status take(unsigned from, const PeerMessage& message);
  // Brings the inputs of the step that come by the link. If the link breaks
  // meanwhile, they come the other ways.
  void bring(ExchangeRun& run, size_t step);
  // True if the last bring() has brought the input.
  bool has_brought(const Input& input) const {
    return brought_.contains(&input);
  }
  // Says that the run is over; forgets what others wanted to take in it.
  void pass(const ExchangeRun& run);

 private:
  // Memory in which the parts of a region are put together to be sent.
  struct Pack {
    void* data = nullptr;
    size_t bytes = 0;
  };
  // The sends and receives of a step.
  struct Group {
    std::vector<DirectLink::Move> sends, receives;
    std::vector<const Input*> inputs;  // what the receives bring
    std::vector<Pack> packs;
  };

  template <typename Use>
  void each_wanted(const ExchangeRun& run, size_t step, const Use& use) const;
  std::vector<unsigned> readers(const ExchangeRun& run, size_t step) const;
  void ask(const ExchangeRun& run, size_t step, bool sums);
  bool meet(const ExchangeRun& run, size_t step,
            const std::vector<unsigned>& readers);
  bool has_answered(unsigned reader, const ExchangeRun& run, size_t step) const;
  bool could_add(const ExchangeRun& run, size_t step) const;
  bool all_could(const ExchangeRun& run, size_t step) const;
  Result<const void*> summand(const Sum& sum, const void* data, size_t bytes,
                              Pack& pack);
  void add(ExchangeRun& run, size_t step);
  void exchange(ExchangeRun& run, size_t step,
                const std::vector<unsigned>& readers);
  Status add_sends(const ExchangeRun& run, size_t step, unsigned reader,
                   Group& group);
  Status add_send(const Export& shown, const void* data,
                  const TakenRegion& region, unsigned reader, Group& group);
  Status add_receives(const ExchangeRun& run, size_t step, Group& group) const;

  DirectLink& link_;
  PeerGroup& peers_;
  Exports& exports_;
  Imports& imports_;
  Device& device_;
  Communicator::User* user_ = nullptr;
  // What others take, by step and worker. The tag of a step has source 0.
  std::map<std::pair<Tag, unsigned>, Taken> taken_;
  std::set<const Input*> brought_;
};

}  // namespace gt::exec::comm

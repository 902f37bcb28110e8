// What goes from device to device in a step of an exchange, by the link
// (direct_link.h).
//
// The workers of a step that are linked meet in it. Each says to the owners of
// what it reads which regions it will take, and waits until its inputs are
// there, or have failed, and until those that read its exports have said what
// they take. Then all of the step goes at once: a group of sends and receives,
// in which none waits for another. Groups come in the order of exchanges, which
// is one on all workers, so they cannot wait for each other in a circle; and a
// meeting waits, as all else does, for what is earlier in that order
// (engine.h).
//
// What fails is told before the group, by the messages that there are without a
// link, and is neither sent nor received. Sums are added as ever, by the
// engine's programs, once their summands are here; unless fast sums are asked
// for. Then each worker of a step that is a sum (exchange.h) also says whether
// it could have it added by the link, and if all could, it is: then or never,
// since who has its sum gives its summand to nobody else. So where the link
// breaks meanwhile, that sum has failed.
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
  // All outlive it.
  DirectMoves(DirectLink& link, PeerGroup& peers, Exports& exports,
              Imports& imports, Device& device)
      : link_(link),
        peers_(peers),
        exports_(exports),
        imports_(imports),
        device_(device) {}
  void set_user(Communicator::User& user) { user_ = &user; }

  // Takes what a worker says that it will take.
  Status take(unsigned from, const PeerMessage& message);
  // Brings the inputs of the step that come by the link. Where it breaks
  // meanwhile, they are left to the other ways.
  void bring(ExchangeRun& run, size_t step);
  // Whether the last call has brought the input.
  bool has_brought(const Input& input) const {
    return brought_.contains(&input);
  }
  // The run is over, and what others wanted to take in it counts no more.
  void pass(const ExchangeRun& run);

 private:
  // Memory in which a region is put together to be sent.
  struct Pack {
    void* data = nullptr;
    size_t bytes = 0;
  };
  // What a step moves.
  struct Group {
    std::vector<DirectLink::Move> sends, receives;
    std::vector<const Input*> inputs;  // of the receives
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
  // By step of an exchange, whose tag has source 0, and worker.
  std::map<std::pair<Tag, unsigned>, Taken> taken_;
  std::set<const Input*> brought_;
};

}  // namespace gt::exec::comm

// Imports keeps the exports that other workers show to this one, and reads
// them: in place, in their memory if that is mapped here (memory/arena.h), or
// by fetching bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "exec/comm/communicator.h"
#include "exec/comm/peer_group.h"
#include "exec/memory/arena.h"

namespace gt::exec::comm {

// All calls come from the communication thread.
class Imports {
 public:
  // `device` is where values are read to; it must outlive the object.
  Imports(PeerGroup& peers, unsigned workers, Device& device)
      : peers_(peers), from_(workers), device_(device) {}
  // Sets who is told that an import has arrived. Must be called before the
  // first one.
  void set_user(Communicator::User& user) { user_ = &user; }

  // Handle a worker's messages: where its memory is; that an export is ready or
  // has failed; bytes that were asked for. Memory that cannot be mapped is no
  // error: its values are fetched. Error: no correct worker would send the
  // message.
  Status take_hello(unsigned from, const PeerMessage& message);
  Status take_ready(unsigned from, const PeerMessage& message);
  Status take_data(unsigned from, const PeerMessage& message);
  void take_loss(unsigned worker) { from_[worker].ready.clear(); }
  // True if this worker reads the other's exports in place.
  bool is_mapped(unsigned worker) const {
    return from_[worker].memory != nullptr;
  }

  // Waits until an input from another worker is ready, and returns the address
  // of its region, which is assembled in `pack` if need be. Null with a `fault`
  // if it has failed or its worker is lost; null without one if its bytes are
  // not wanted. `is_brought` is true if its bytes are at `pack` already.
  const void* read(ExchangeRun& run, size_t step, const Input& input,
                   void* pack, bool is_wanted, bool is_brought, Fault& fault);
  // Waits until an input from another worker is ready, or has failed there.
  // Returns null, or why neither will happen.
  Fault await(const ExchangeRun& run, size_t step, const Input& input);
  // After await(): has_failed() is true if the input has failed, is_sound() if
  // it is ready and has the expected type.
  bool has_failed(const ExchangeRun& run, size_t step,
                  const Input& input) const;
  bool is_sound(const ExchangeRun& run, size_t step, const Input& input) const;
  // Tells the owners that the inputs of the step have been read.
  void release(const ExchangeRun& run, size_t step);
  // Says that the run is over. Exports of this or earlier runs that are unread
  // or still come were shown in vain, since only this worker has rejected their
  // line; their owners are told that they were read.
  void pass(const ExchangeRun& run) {
    pass_before({run.seq, run.exchange->group + 1, 0, 0});
  }
  // Does the same for all runs before `run`, which begins.
  void begin(const ExchangeRun& run) {
    pass_before({run.seq, run.exchange->group, 0, 0});
  }

 private:
  struct Ready {
    Fault fault;  // if null, the next members are valid
    Type type;
    uint64_t at = kNowhere;
  };
  struct Source {
    std::unique_ptr<MappedArena> memory;
    std::map<Tag, Ready> ready;
  };
  struct Chunk {  // a part of a fetch that was asked for
    unsigned worker = 0;
    char* to = nullptr;  // on the device
    size_t bytes = 0;
    Status* status = nullptr;  // of the fetch
  };
  const void* read_mapped(ExchangeRun& run, const Input& input, uint64_t at,
                          void* pack, Fault& fault);
  Fault fetch(ExchangeRun& run, const Tag& tag, const Input& input, void* to);
  void ask(const Tag& tag, const Input& input, size_t first, size_t bytes,
           char* to, Status& status);
  void release(unsigned worker, const Tag& tag);
  void pass_before(const Tag& end);
  // Returns what its owner has said of an input; null if nothing yet.
  const Ready* find(const ExchangeRun& run, size_t step,
                    const Input& input) const;

  PeerGroup& peers_;
  // What each worker exports; `memory` does not change after connecting.
  std::vector<Source> from_;
  Device& device_;
  Communicator::User* user_ = nullptr;
  std::map<uint64_t, Chunk> chunks_;  // by id
  uint64_t last_id_ = 0;
  Tag passed_;  // runs before it are over
};

}  // namespace gt::exec::comm

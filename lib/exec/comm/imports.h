// What other workers show to this one, and how it reads it: in place, in memory
// of theirs that is mapped here (memory/arena.h), or by fetching bytes.
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
  // `device` is where what is read goes, and outlives this.
  Imports(PeerGroup& peers, unsigned workers, Device& device)
      : peers_(peers), from_(workers), device_(device) {}
  // Before the first import: who is told that it is there.
  void set_user(Communicator::User& user) { user_ = &user; }

  // Takes what a worker says: where its memory is; that an export is ready or
  // has failed; bytes that it was asked for. Memory that cannot be mapped is no
  // error: its values are fetched. Error: an honest worker would not say that.
  Status take_hello(unsigned from, const PeerMessage& message);
  Status take_ready(unsigned from, const PeerMessage& message);
  Status take_data(unsigned from, const PeerMessage& message);
  void take_loss(unsigned worker) { from_[worker].ready.clear(); }
  // Whether what that worker shows is read in place.
  bool is_mapped(unsigned worker) const {
    return from_[worker].memory != nullptr;
  }

  // Waits until an input of another worker is ready. The address of its region,
  // which is put together in `pack` if need be. Null when it has failed or its
  // worker is lost, and then `fault` says why; null, too, when its bytes are
  // not wanted. `is_brought`: its bytes are at `pack` already.
  const void* read(ExchangeRun& run, size_t step, const Input& input,
                   void* pack, bool is_wanted, bool is_brought, Fault& fault);
  // Waits until an input of another worker is ready, or has failed there; null,
  // or why it will be neither.
  Fault await(const ExchangeRun& run, size_t step, const Input& input);
  // Once it was waited for: whether it has failed, and whether it is there with
  // the type that is expected.
  bool has_failed(const ExchangeRun& run, size_t step,
                  const Input& input) const;
  bool is_sound(const ExchangeRun& run, size_t step, const Input& input) const;
  // Tells the owners that the step's inputs have been read.
  void release(const ExchangeRun& run, size_t step);
  // The run is over. Exports of it or of earlier ones that come later, or are
  // still unread, were shown for nothing, since this worker alone has rejected
  // their line: they are said to be read.
  void pass(const ExchangeRun& run) {
    pass_before({run.seq, run.exchange->group + 1, 0, 0});
  }
  // The same for all before the run, which begins.
  void begin(const ExchangeRun& run) {
    pass_before({run.seq, run.exchange->group, 0, 0});
  }

 private:
  struct Ready {
    Fault fault;  // or what follows
    Type type;
    uint64_t at = kNowhere;
  };
  struct Source {
    std::unique_ptr<MappedArena> memory;
    std::map<Tag, Ready> ready;
  };
  struct Chunk {  // of a fetch
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
  // What its owner has said of an input; null: nothing yet.
  const Ready* find(const ExchangeRun& run, size_t step,
                    const Input& input) const;

  PeerGroup& peers_;
  std::vector<Source> from_;  // by worker; memory is constant once connected
  Device& device_;
  Communicator::User* user_ = nullptr;
  std::map<uint64_t, Chunk> chunks_;  // by id
  uint64_t last_id_ = 0;
  Tag passed_;  // all before it are over
};

}  // namespace gt::exec::comm

// What this worker shows to others, until they have read it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/comm/exchange_run.h"
#include "exec/comm/peer_group.h"
#include "exec/memory/arena.h"

namespace gt::exec::comm {

// Of the communication thread.
class Exports {
 public:
  using RunPtr = std::shared_ptr<ExchangeRun>;

  // `arena`: where values can be read in place; null: they are fetched. It and
  // the device that has them outlive this.
  // `hand_back` is called with a run that is done and read by all.
  Exports(PeerGroup& peers, const Arena* arena, Device& device,
          std::function<void(const RunPtr&)> hand_back)
      : peers_(peers),
        arena_(arena),
        device_(device),
        hand_back_(std::move(hand_back)) {}

  // Tells the workers that read the exports of a step that they are ready.
  void show(const RunPtr& run, size_t step);
  // What a worker says of one: that it has read it, or that it wants bytes of
  // it. Error: it was not shown that.
  Status take_released(unsigned from, const Tag& tag);
  Status take_get(unsigned from, const PeerMessage& message);

  // The worker reads no more, or what it reads does not matter.
  void drop_reader(unsigned worker);
  bool empty() const { return shown_.empty(); }
  // Asks those that have not read for a sign of life.
  void check_readers();

 private:
  struct Shown {
    RunPtr run;
    const void* data = nullptr;
    Type type;
    Fault fault;
    std::vector<unsigned> readers;  // that have not read it
  };
  struct Reader {
    uint32_t unread = 0;  // exports that it has not read
    PeerGroup::Clock::time_point since;
  };
  void tell(unsigned worker, const Tag& tag, const Shown& shown);
  void note_read(unsigned worker, const RunPtr& run);

  PeerGroup& peers_;
  const Arena* arena_;
  Device& device_;
  std::function<void(const RunPtr&)> hand_back_;
  std::map<Tag, Shown> shown_;
  std::map<unsigned, Reader> readers_;
};

}  // namespace gt::exec::comm

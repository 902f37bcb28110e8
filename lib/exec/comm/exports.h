// The exports of this worker that others have been told of, each until all its
// readers have read it: the owner's side of an exchange. (imports.h is the
// reader's.)
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/comm/communicator.h"
#include "exec/comm/peer_group.h"
#include "exec/memory/arena.h"

namespace gt::exec::comm {

// All calls come from the communication thread.
class Exports {
 public:
  using RunPtr = Communicator::RunPtr;

  // `arena`: the memory in which others can read values in place; null: they
  // fetch them. It and the device of the values outlive this.
  Exports(PeerGroup& peers, const Arena* arena, Device& device)
      : peers_(peers), arena_(arena), device_(device) {}
  // Before the first export: who is told that a run was read.
  void set_user(Communicator::User& user) { user_ = &user; }

  // Tells the workers that read the exports of a step that they are ready.
  void show(const RunPtr& run, size_t step);
  // Takes what a worker says of an export: that it has read it, or that it
  // wants bytes of it, which are sent at once. Error: it was not shown that
  // export, or asks for what is not within it.
  Status take_released(unsigned from, const Tag& tag);
  Status take_get(unsigned from, const PeerMessage& message);

  // The worker reads no more, since it is lost or all waits end.
  void drop_reader(unsigned worker);
  // Whether the worker was shown the export and has not said that it read it.
  bool is_shown(unsigned worker, const Tag& tag) const;
  bool empty() const { return shown_.empty(); }
  // Asks workers that have not read what they were shown for a sign of life, so
  // that one which is gone is lost in the end.
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
  Communicator::User* user_ = nullptr;
  std::map<Tag, Shown> shown_;
  std::map<unsigned, Reader> readers_;
};

}  // namespace gt::exec::comm

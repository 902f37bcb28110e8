// Exports keeps the exports of this worker that others were told of, each until
// all its readers have read it: the owner's side of an exchange. (Imports in
// imports.h is the reader's side.)
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

  // `arena` is the memory in which others can read values in place; if null,
  // they fetch them. It and `device`, where the values live, must outlive the
  // object.
  Exports(PeerGroup& peers, const Arena* arena, Device& device)
      : peers_(peers), arena_(arena), device_(device) {}
  // Sets who is told that a run was read. Must be called before the first
  // export.
  void set_user(Communicator::User& user) { user_ = &user; }

  // Tells the workers that read the exports of a step that these are ready.
  void show(const RunPtr& run, size_t step);
  // Handle a worker's message that it has read an export, or that it wants
  // bytes of it, which are sent at once. Errors: the worker was not shown that
  // export, or asks for bytes outside it.
  Status take_released(unsigned from, const Tag& tag);
  Status take_get(unsigned from, const PeerMessage& message);

  // Forgets a reader, since it is lost or all waits end.
  void drop_reader(unsigned worker);
  // True if the worker was shown the export and has not said yet that it read
  // it.
  bool is_shown(unsigned worker, const Tag& tag) const;
  bool empty() const { return shown_.empty(); }
  // Asks workers that have unread exports for a sign of life, so that a dead
  // one is noticed in the end.
  void check_readers();

 private:
  struct Shown {
    RunPtr run;
    const void* data = nullptr;
    Type type;
    Fault fault;
    std::vector<unsigned> readers;  // workers that have not read it yet
  };
  struct Reader {
    uint32_t unread = 0;  // exports that it was shown and has not read
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

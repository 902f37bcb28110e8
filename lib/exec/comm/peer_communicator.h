// PeerCommunicator is the communicator between the workers of a gt-route. What
// another worker shows is read in place if its memory can be mapped
// (memory/arena.h), comes from device to device if the two devices are linked
// (direct_link.h), and is otherwise fetched in messages. Each pair of workers
// uses what it can.
#pragma once

#include <optional>
#include <string>

#include "exec/comm/communicator.h"
#include "exec/comm/direct_link.h"
#include "exec/comm/direct_moves.h"
#include "exec/comm/exports.h"
#include "exec/comm/imports.h"
#include "exec/comm/peer_group.h"

namespace gt::exec::comm {

class PeerCommunicator final : public Communicator,
                               private PeerGroup::Receiver {
 public:
  // `arena` is the memory that others may map; if it is null, they fetch all
  // values. It and `device`, where the values live, must outlive the
  // communicator.
  PeerCommunicator(const GroupOptions& group, const Arena* arena,
                   Device& device)
      : peers_(group, *this),
        arena_(arena),
        exports_(peers_, arena, device),
        imports_(peers_, group.workers, device),
        link_(peers_, device, group.say),
        moves_(link_, peers_, exports_, imports_, device) {}

  Status connect(User& user) override;
  void show(const RunPtr& run, size_t step) override {
    exports_.show(run, step);
  }
  const void* read(ExchangeRun& run, size_t step, const Input& input,
                   void* pack, bool is_wanted, Fault& fault) override {
    return imports_.read(run, step, input, pack, is_wanted,
                         moves_.has_brought(input), fault);
  }
  void bring(ExchangeRun& run, size_t step) override {
    moves_.bring(run, step);
  }
  void release(const ExchangeRun& run, size_t step) override {
    imports_.release(run, step);
  }
  void pass(const ExchangeRun& run) override {
    imports_.pass(run);
    moves_.pass(run);
  }
  void group(const ExchangeRun& run,
             const std::vector<Workers>& sets) override {
    imports_.begin(run);  // releases workers that wait for a line rejected here
    link_.split({run.where.line, run.seq, "devices to be linked in groups"},
                sets);
  }
  void serve() override;
  void leave() override { link_.leave(); }

  bool is_in_place(unsigned worker) const override {
    return imports_.is_mapped(worker);
  }
  bool has_groups() const override { return link_.splits(); }
  void wake() override { peers_.wake(); }
  Waiting waiting() const override { return peers_.waiting(); }
  void abort(const std::string& why) override { peers_.abort(why); }
  void lose(unsigned worker, const std::string& why) override {
    peers_.tell_loss(worker, why);
  }

 private:
  Status take(unsigned from, const PeerMessage& message) override;
  void take_loss(unsigned worker) override;

  PeerGroup peers_;
  const Arena* arena_;
  Exports exports_;
  Imports imports_;
  DirectLink link_;
  DirectMoves moves_;
};

}  // namespace gt::exec::comm

// Memory that is read beside the compute queue, as that of a value which is
// being saved. It has a reference here until then, so nothing is written there:
// a line that binds the value's name anew gets other memory meanwhile.
//
// Used by the decoding thread; what it lends is given back by any thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/memory/pool.h"
#include "exec/queue/compute_queue.h"

namespace gt::exec {

class LentBuffers {
 public:
  // Both outlive it.
  LentBuffers(ComputeQueue& compute, Pool& pool)
      : compute_(compute), pool_(pool) {}

  // The buffer is lent until the last copy of what this returns is gone. Before
  // it waits, while kMost are lent, or while what nobody else refers to any
  // more takes more than kFree, and more than all that is in use otherwise.
  std::shared_ptr<void> lend(Buffer* buffer);
  // Takes back what has been given back.
  void reap();
  // Waits until some is. False: nothing is lent.
  bool wait_and_reap();

 private:
  static constexpr size_t kMost = 1024;
  static constexpr size_t kFree = size_t{64} << 20;

  // Outlives whoever has something still.
  struct Returned {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Buffer*> buffers;
  };

  bool is_full() const;

  ComputeQueue& compute_;
  Pool& pool_;
  std::shared_ptr<Returned> returned_ = std::make_shared<Returned>();
  std::vector<Buffer*> lent_;
};

}  // namespace gt::exec

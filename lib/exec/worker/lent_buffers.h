// LentBuffers keeps buffers referenced while a thread other than that of the
// compute queue reads them, as happens when a value is saved. So nothing writes
// to them: a line that rebinds the value's name gets other memory meanwhile.
//
// Used by the decoding thread. Any thread may give a buffer back.
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
  // Both must outlive the object.
  LentBuffers(ComputeQueue& compute, Pool& pool)
      : compute_(compute), pool_(pool) {}

  // Lends the buffer until the last copy of the returned pointer is gone. Waits
  // first while kMost buffers are lent, or while the lent buffers that nobody
  // else refers to take more than kFree bytes and more than all other memory in
  // use.
  std::shared_ptr<void> lend(Buffer* buffer);
  // Drops the references to buffers that were given back.
  void reap();
  // Waits until a buffer is given back. False if none is lent.
  bool wait_and_reap();

 private:
  static constexpr size_t kMost = 1024;
  static constexpr size_t kFree = size_t{64} << 20;

  // Shared with the pointers that lend() returns, since they may outlive the
  // object.
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

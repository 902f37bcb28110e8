// Metered is a Watch that counts the exchanges that ran in a worker's meter,
// and passes them on to another watch.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/comm/transfers.h"
#include "exec/trace/meter.h"

namespace gt::exec::comm {

class Metered final : public Watch {
 public:
  // `meter` and `next` must outlive the object; `next` may be null.
  Metered(Meter& meter, Watch* next) : meter_(meter), next_(next) {}

  void ran(const ExchangeRun& run, uint64_t begin, uint64_t end,
           const std::vector<Transferred>& read) override {
    if (next_ != nullptr) next_->ran(run, begin, end, read);
    uint64_t in = 0;
    uint64_t out = 0;
    for (const Transferred& one : read) in += one.bytes;
    for (const Part& part : run.exchange->parts) out += part.bytes_out;
    meter_.exchanged(run.exchange->op, end - begin, in, out);
  }

 private:
  Meter& meter_;
  Watch* next_;
};

}  // namespace gt::exec::comm

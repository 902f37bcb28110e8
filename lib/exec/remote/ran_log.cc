#include "exec/remote/ran_log.h"

#include <utility>

#include "base/clock.h"

namespace gt::exec {
namespace {

// Converts nanoseconds of the steady clock to microseconds of the wall clock.
// Times converted by one object keep their order.
class WallTimes {
 public:
  WallTimes() { base_ = wall_us() * 1000 - static_cast<uint64_t>(steady_ns()); }
  uint64_t of(uint64_t steady) const { return (base_ + steady) / 1000; }

 private:
  uint64_t base_;
};

}  // namespace

void RanLog::add(const net::RanRow& row) {
  const std::lock_guard lock(mutex_);
  append_ran(rows_, row);
}

std::string RanLog::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(rows_, {});
}

void RanLog::end_batch(uint64_t first, uint64_t last) {
  unsettled_.push_back(
      {net::RanRow::Kind::kCompute, first, last, begin_, wall_us(), 0, 0, {}});
}

void RanLog::settle(uint64_t last) {
  while (!unsettled_.empty() && unsettled_.front().last <= last) {
    add(unsettled_.front());
    unsettled_.pop_front();
  }
}

void RanLog::ran(const comm::ExchangeRun& op, uint64_t begin, uint64_t end,
                 const std::vector<comm::Transferred>& read) {
  if (trace_ != nullptr && op.traced != nullptr) {
    trace_->add(*op.traced, op.where.line, begin, end);
  }
  if (!is_logged_) return;
  const WallTimes wall;
  for (const comm::Transferred& one : read) {
    add({net::RanRow::Kind::kTransfer, op.seq, op.seq, wall.of(one.begin),
         wall.of(one.end), one.from, one.bytes, op.exchange->value});
  }
  add({net::RanRow::Kind::kComm, op.seq, op.seq, wall.of(begin), wall.of(end),
       0, 0, ""});
}

}  // namespace gt::exec

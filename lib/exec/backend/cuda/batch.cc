#include "exec/backend/cuda/batch.h"

#include <algorithm>
#include <utility>

namespace gt::exec::cuda {
namespace {

bool overlap(const std::vector<Extent>& a, const std::vector<Extent>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Extent& x) {
    return std::any_of(b.begin(), b.end(),
                       [&](const Extent& y) { return x.overlaps(y); });
  });
}

}  // namespace

bool Batch::joins(const Run& run) const {
  const ReadyLaunch& work = launches_[0];
  return count_ < kItems && run.kernel == kernel_ &&
         run.work.args.in == work.args.in && run.work.args.n == work.args.n &&
         !overlap(run.writes, reads_) && !overlap(run.writes, writes_) &&
         !overlap(run.reads, writes_);
}

// The launches get the task of the last run.
void Batch::add(const Run& run, size_t lines) {
  const int64_t blocks = count_ == 0 ? 0 : launches_[0].blocks;
  launches_[0] = run.work;
  launches_[0].blocks = std::min(blocks + run.work.blocks, kMostBlocks);
  tells_ = run.tell.has_value();
  if (tells_) launches_[1] = *run.tell;
  items_.item[count_++] = run.item;
  kernel_ = run.kernel;
  lines_ += lines;
  reads_.insert(reads_.end(), run.reads.begin(), run.reads.end());
  writes_.insert(writes_.end(), run.writes.begin(), run.writes.end());
}

size_t Batch::checks() const { return tells_ ? count_ : 0; }

size_t Batch::clear() {
  count_ = 0;
  reads_.clear();
  writes_.clear();
  return std::exchange(lines_, 0);
}

void Batch::take(bool /*waits*/, const Give& give) {
  items_.count = static_cast<int64_t>(count_);
  items_.blocks = launches_[0].blocks;
  for (ReadyLaunch& launch : launches_) launch.items = &items_;
  give({launches_.data(), tells_ ? size_t{2} : size_t{1}}, clear());
}

}  // namespace gt::exec::cuda

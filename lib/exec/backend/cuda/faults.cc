#include "exec/backend/cuda/faults.h"

namespace gt::exec::cuda {

Status Faults::start(CUstream stream) {
  stream_ = stream;
  if (Status s = add_page(); !s.ok()) return s;
  begun_ = &free_.back()->position;  // of a place that is used for this alone
  free_.pop_back();
  *begun_ = 0;
  return check(gpu_->api(),
               gpu_->driver().cuMemAllocAsync(&word_, sizeof(uint64_t), stream),
               "cuMemAllocAsync");
}

void Faults::end() {
  if (word_ != 0) (void)gpu_->driver().cuMemFreeAsync(word_, stream_);
  (void)gpu_->driver().cuStreamSynchronize(stream_);
  for (Told* page : pages_) (void)gpu_->driver().cuMemFreeHost(page);
}

// Memory of the host has one address for both: all of it is mapped.
Status Faults::add_page() {
  void* data = nullptr;
  Status s = check(gpu_->api(),
                   gpu_->driver().cuMemHostAlloc(&data, kPlaces * sizeof(Told),
                                                 CU_MEMHOSTALLOC_DEVICEMAP),
                   "cuMemHostAlloc");
  if (!s.ok()) return s;
  auto* page = static_cast<Told*>(data);
  pages_.push_back(page);
  for (size_t i = 0; i < kPlaces; ++i) free_.push_back(page + i);
  return s;
}

Result<Faults::Told*> Faults::begin() {
  if (free_.empty()) {
    if (Status s = add_page(); !s.ok()) return s.error();
  }
  if (is_spoiled_) {
    const Status s = check(
        gpu_->api(),
        gpu_->driver().cuMemsetD8Async(word_, 0xff, sizeof(uint64_t), stream_),
        "cuMemsetD8Async");
    if (!s.ok()) return s.error();
    is_spoiled_ = false;
  }
  Told* told = free_.back();
  free_.pop_back();
  *told = Told{};
  return told;
}

void Faults::spoil(Told* told) {
  free_.push_back(told);
  is_spoiled_ = true;
}

Result<bool> Faults::is_told(bool waits) const {
  std::atomic_ref<uint64_t> flag(checks_.front().told->is_told);
  if (flag.load(std::memory_order_acquire) != 0) return true;
  const CUresult done = waits ? gpu_->driver().cuStreamSynchronize(stream_)
                              : gpu_->driver().cuStreamQuery(stream_);
  if (done == CUDA_ERROR_NOT_READY) return false;
  const Status s = check(gpu_->api(), done, "cuStreamSynchronize");
  if (!s.ok()) return s.error();
  if (flag.load(std::memory_order_acquire) != 0) return true;
  return Error{"the GPU has not told whether the data is wrong"};
}

std::optional<Status> Faults::take(bool waits) {
  const auto is_known = is_told(waits);
  if (is_known.ok() && !is_known.value()) return std::nullopt;
  const Check done = checks_.front();
  checks_.pop_front();
  // The place of a run that may be told of yet is not used again.
  if (!is_known.ok()) return is_known.error();
  const Told told = *done.told;
  free_.push_back(done.told);
  if (told.position == kNone) return ok_status();
  return done.plan->explain(
      static_cast<int64_t>(told.position),
      [&](size_t, int64_t) -> Result<std::array<std::byte, 8>> {
        return told.element;
      });
}

}  // namespace gt::exec::cuda

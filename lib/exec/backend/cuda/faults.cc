#include "exec/backend/cuda/faults.h"

#include <algorithm>
#include <utility>

namespace gt::exec::cuda {

Status Faults::start(CUstream stream) {
  stream_ = stream;
  if (Status s = add_page(1); !s.ok()) return s;
  // This place is never used for a run.
  begun_ = &free_[1].back()->position;
  free_[1].pop_back();
  *begun_ = 0;
  return check(
      gpu_->api(),
      gpu_->driver().cuMemAllocAsync(&word_, 3 * sizeof(uint64_t), stream),
      "cuMemAllocAsync");
}

void Faults::end() {
  if (word_ != 0) (void)gpu_->driver().cuMemFreeAsync(word_, stream_);
  (void)gpu_->driver().cuStreamSynchronize(stream_);
  for (Told* page : pages_) (void)gpu_->driver().cuMemFreeHost(page);
}

// The memory is mapped, so the host and the GPU use the same address for it.
Status Faults::add_page(size_t row) {
  const size_t rows = std::max(kPlaces / row, size_t{1});
  void* data = nullptr;
  Status s =
      check(gpu_->api(),
            gpu_->driver().cuMemHostAlloc(&data, rows * row * sizeof(Told),
                                          CU_MEMHOSTALLOC_DEVICEMAP),
            "cuMemHostAlloc");
  if (!s.ok()) return s;
  pages_.push_back(static_cast<Told*>(data));
  for (size_t i = 0; i < rows; ++i) {
    free_[row].push_back(pages_.back() + i * row);
  }
  return s;
}

// ---- places -----------------------------------------------------------------

Result<uint64_t> Faults::begin() {
  if (is_recording_) return recorded_.size() * sizeof(Told);
  return begin_row(1);
}

void Faults::leave(uint64_t told, const Plan& plan) {
  if (is_recording_) {
    recorded_.push_back(&plan);
  } else {
    leave_row(told, std::array{&plan});
  }
}

void Faults::spoil(uint64_t told) {
  if (!is_recording_) spoil_row(told, 1);
}

std::vector<const Plan*> Faults::end_recording() {
  is_recording_ = false;
  return std::exchange(recorded_, {});
}

Result<uint64_t> Faults::begin_row(size_t places) {
  std::vector<Told*>& free = free_[places];
  if (free.empty()) {
    if (Status s = add_page(places); !s.ok()) return s.error();
  }
  if (is_spoiled_) {
    const Status s = check(
        gpu_->api(),
        gpu_->driver().cuMemsetD8Async(word_, 0xff, sizeof(uint64_t), stream_),
        "cuMemsetD8Async");
    if (!s.ok()) return s.error();
    is_spoiled_ = false;
  }
  Told* told = free.back();
  free.pop_back();
  std::fill_n(told, places, Told{});
  return reinterpret_cast<uint64_t>(told);
}

void Faults::leave_row(uint64_t row, std::span<const Plan* const> plans) {
  auto* told = reinterpret_cast<Told*>(row);
  for (const Plan* plan : plans) checks_.push_back({told++, plan, 0});
  checks_.back().row = plans.size();
}

void Faults::spoil_row(uint64_t row, size_t places) {
  free_[places].push_back(reinterpret_cast<Told*>(row));
  is_spoiled_ = true;
}

// ---- checks -----------------------------------------------------------------

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

// Gives up the row of a check whose run may still report: its places are not
// used again.
void Faults::give_up_row() {
  for (Check& check : checks_) {
    if (std::exchange(check.row, 0) > 0) return;
  }
}

std::optional<Status> Faults::take(bool waits) {
  const auto is_known = is_told(waits);
  if (is_known.ok() && !is_known.value()) return std::nullopt;
  const Check done = checks_.front();
  checks_.pop_front();
  if (!is_known.ok()) {
    if (done.row == 0) give_up_row();
    return is_known.error();
  }
  const Told told = *done.told;
  if (done.row > 0) free_[done.row].push_back(done.told + 1 - done.row);
  if (told.position == kNone) return ok_status();
  return done.plan->explain(
      static_cast<int64_t>(told.position),
      [&](size_t, int64_t) -> Result<std::array<std::byte, 8>> {
        return told.element;
      });
}

}  // namespace gt::exec::cuda

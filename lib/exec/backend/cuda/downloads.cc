#include "exec/backend/cuda/downloads.h"

#include <utility>

namespace gt::exec::cuda {

// A download, which occupies a slot as long as it lives.
class Downloads::Download final : public DeviceDownload {
 public:
  Download(Downloads& room, Slot slot) : room_(room), slot_(std::move(slot)) {}
  // Waits for the copy, so that nothing is copied to a slot that is free.
  ~Download() override {
    (void)is_done(true);
    room_.free_.push_back(std::move(slot_));
  }

  Status begin(CUdeviceptr data, size_t bytes, CUstream stream) {
    const Driver& driver = room_.gpu_->driver();
    const Status s =
        check(room_.gpu_->api(),
              driver.cuMemcpyDtoHAsync(slot_.data, data, bytes, stream),
              "cuMemcpyDtoHAsync");
    const Status recorded = slot_.copied->record(stream);
    is_under_way_ = recorded.ok();
    if (!is_under_way_) (void)driver.cuStreamSynchronize(stream);
    return s.ok() ? recorded : s;
  }

  bool is_done(bool waits) override {
    if (!is_under_way_) return true;
    ended_ = room_.gpu_->enter();
    if (ended_.ok() && !waits) {
      const Result<bool> is_reached = slot_.copied->is_reached();
      if (is_reached.ok() && !is_reached.value()) return false;
      if (!is_reached.ok()) ended_ = is_reached.error();
    } else if (ended_.ok()) {
      ended_ = slot_.copied->wait();
    }
    is_under_way_ = false;
    return true;
  }

  Result<const void*> data() const override {
    if (!ended_.ok()) return ended_.error();
    return static_cast<const void*>(slot_.data);
  }

 private:
  Downloads& room_;
  Slot slot_;
  bool is_under_way_ = false;
  Status ended_ = ok_status();
};

Downloads::~Downloads() {
  free_.clear();
  if (memory_ == nullptr || !gpu_->enter().ok()) return;
  (void)gpu_->driver().cuMemFreeHost(memory_);
}

bool Downloads::allocate() {
  if (gpu_->driver().cuMemHostAlloc(&memory_, kSlots * kSlotBytes, 0) !=
      CUDA_SUCCESS) {
    memory_ = nullptr;
    return false;
  }
  for (size_t i = 0; i < kSlots; ++i) {
    free_.push_back({static_cast<char*>(memory_) + i * kSlotBytes,
                     std::make_unique<CudaEvent>(gpu_)});
  }
  return true;
}

std::shared_ptr<DeviceDownload> Downloads::begin(CUdeviceptr data, size_t bytes,
                                                 CUstream stream) {
  if (bytes == 0 || bytes > kSlotBytes) return nullptr;
  if (memory_ == nullptr && !allocate()) return nullptr;
  if (free_.empty()) return nullptr;
  Slot slot = std::move(free_.back());
  free_.pop_back();
  auto download = std::make_shared<Download>(*this, std::move(slot));
  if (!download->begin(data, bytes, stream).ok()) return nullptr;
  return download;
}

}  // namespace gt::exec::cuda

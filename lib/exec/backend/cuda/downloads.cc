#include "exec/backend/cuda/downloads.h"

#include <optional>
#include <utility>
#include <vector>

namespace gt::exec::cuda {

// The slots, and an event for each that was used.
class Downloads::Room {
 public:
  struct Slot {
    char* data = nullptr;
    CUevent event = nullptr;
  };

  explicit Room(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Room() {
    if (memory_ == nullptr || !gpu_->enter().ok()) return;
    for (const Slot& slot : free_) {
      if (slot.event != nullptr) (void)driver().cuEventDestroy(slot.event);
    }
    (void)driver().cuMemFreeHost(memory_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // One with an event; none if there is none, or the driver gives nothing.
  std::optional<Slot> take() {
    if (memory_ == nullptr && !allocate()) return std::nullopt;
    if (free_.empty()) return std::nullopt;
    Slot& slot = free_.back();
    if (slot.event == nullptr &&
        driver().cuEventCreate(
            &slot.event, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC) !=
            CUDA_SUCCESS) {
      slot.event = nullptr;
      return std::nullopt;
    }
    const Slot taken = slot;
    free_.pop_back();
    return taken;
  }
  void give_back(const Slot& slot) { free_.push_back(slot); }
  Gpu& gpu() { return *gpu_; }
  const Driver& driver() const { return gpu_->driver(); }

 private:
  bool allocate() {
    if (driver().cuMemHostAlloc(&memory_, kSlots * kSlotBytes, 0) !=
        CUDA_SUCCESS) {
      memory_ = nullptr;
      return false;
    }
    for (size_t i = 0; i < kSlots; ++i) {
      free_.push_back({static_cast<char*>(memory_) + i * kSlotBytes, nullptr});
    }
    return true;
  }

  std::shared_ptr<Gpu> gpu_;
  void* memory_ = nullptr;
  std::vector<Slot> free_;
};

class Downloads::Download final : public DeviceDownload {
 public:
  Download(std::shared_ptr<Room> room, Room::Slot slot)
      : room_(std::move(room)), slot_(slot) {}
  // Nothing is copied to a slot that is free.
  ~Download() override {
    (void)is_done(true);
    room_->give_back(slot_);
  }

  Status begin(CUdeviceptr data, size_t bytes, CUstream stream) {
    const Status s = check(
        room_->gpu().api(),
        room_->driver().cuMemcpyDtoHAsync(slot_.data, data, bytes, stream),
        "cuMemcpyDtoHAsync");
    const CUresult recorded =
        room_->driver().cuEventRecord(slot_.event, stream);
    if (recorded == CUDA_SUCCESS) {
      is_under_way_ = true;
    } else {
      (void)room_->driver().cuStreamSynchronize(stream);
    }
    return s.ok() ? check(room_->gpu().api(), recorded, "cuEventRecord") : s;
  }

  bool is_done(bool waits) override {
    if (!is_under_way_) return true;
    Status s = room_->gpu().enter();
    if (s.ok()) {
      const CUresult done =
          waits ? room_->driver().cuEventSynchronize(slot_.event)
                : room_->driver().cuEventQuery(slot_.event);
      if (done == CUDA_ERROR_NOT_READY) return false;
      s = check(room_->gpu().api(), done, "a copy to the host");
    }
    is_under_way_ = false;
    ended_ = s;
    return true;
  }

  Result<const void*> data() const override {
    if (!ended_.ok()) return ended_.error();
    return static_cast<const void*>(slot_.data);
  }

 private:
  std::shared_ptr<Room> room_;
  Room::Slot slot_;
  bool is_under_way_ = false;
  Status ended_ = ok_status();
};

Downloads::Downloads(std::shared_ptr<Gpu> gpu)
    : room_(std::make_shared<Room>(std::move(gpu))) {}

std::shared_ptr<DeviceDownload> Downloads::begin(CUdeviceptr data, size_t bytes,
                                                 CUstream stream) {
  if (bytes == 0 || bytes > kSlotBytes) return nullptr;
  const auto slot = room_->take();
  if (!slot) return nullptr;
  auto download = std::make_shared<Download>(room_, *slot);
  if (!download->begin(data, bytes, stream).ok()) return nullptr;
  return download;
}

}  // namespace gt::exec::cuda

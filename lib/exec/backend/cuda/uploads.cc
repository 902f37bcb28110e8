#include "exec/backend/cuda/uploads.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace gt::exec::cuda {

Uploads::~Uploads() {
  if (!gpu_->enter().ok()) return;
  for (const auto& room : rooms_) drop(*room);
  if (stream_ != nullptr) (void)gpu_->driver().cuStreamDestroy(stream_);
}

void Uploads::drop(Room& room) {
  (void)room.come->wait();
  (void)room.used->wait();
  (void)gpu_->driver().cuMemFreeHost(room.data);
  if (room.beside != 0) {
    (void)gpu_->release(reinterpret_cast<void*>(room.beside), stream_);
  }
  bytes_ -= room.bytes;
}

Result<std::unique_ptr<Uploads::Room>> Uploads::make(size_t bytes) {
  void* data = nullptr;
  const Status s =
      check(gpu_->api(), gpu_->driver().cuMemHostAlloc(&data, bytes, 0),
            "cuMemHostAlloc");
  if (!s.ok()) return s.error();
  auto room = std::make_unique<Room>();
  room->data = static_cast<char*>(data);
  room->bytes = bytes;
  room->come = std::make_unique<CudaEvent>(gpu_);
  room->used = std::make_unique<CudaEvent>(gpu_);
  bytes_ += bytes;
  return room;
}

// Rooms have power-of-two sizes. Takes the oldest room of the right size if it
// is free, or if there is no space for more; else makes a new room, dropping
// the oldest rooms if there is no space.
Result<char*> Uploads::take(size_t bytes) {
  const size_t wanted = std::bit_ceil(std::max(bytes, kLeast));
  for (auto it = rooms_.begin(); it != rooms_.end(); ++it) {
    if ((*it)->bytes != wanted) continue;
    const Result<bool> is_free = (*it)->used->is_reached();
    if (!is_free.ok()) return is_free.error();
    if (!is_free.value() && bytes_ + wanted <= kMostRoom) break;
    if (Status s = (*it)->used->wait(); !s.ok()) return s.error();
    std::rotate(it, it + 1, rooms_.end());
    return rooms_.back()->data;
  }
  while (bytes_ + wanted > kMostRoom && !rooms_.empty()) {
    drop(*rooms_.front());
    rooms_.erase(rooms_.begin());
  }
  auto made = make(wanted);
  if (!made.ok()) return made.error();
  rooms_.push_back(std::move(made.value()));
  return rooms_.back()->data;
}

bool Uploads::puts_beside(Room& room, size_t bytes) {
  if (bytes < kBeside) return false;
  if (stream_ == nullptr &&
      gpu_->driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING) !=
          CUDA_SUCCESS) {
    stream_ = nullptr;
    return false;
  }
  if (room.beside == 0) {
    room.beside = reinterpret_cast<CUdeviceptr>(gpu_->allocate(room.bytes));
  }
  return room.beside != 0;
}

Status Uploads::send(CUdeviceptr data, size_t bytes, CUstream stream) {
  Room& room = *rooms_.back();
  if (bytes == 0) return ok_status();
  Status s = ok_status();
  if (puts_beside(room, bytes)) {
    s = send_beside(room, data, bytes, stream);
  } else {
    s = check(gpu_->api(),
              gpu_->driver().cuMemcpyHtoDAsync(data, room.data, bytes, stream),
              "cuMemcpyHtoDAsync");
  }
  const Status used = room.used->record(stream);
  return s.ok() ? used : s;
}

Status Uploads::send_beside(const Room& room, CUdeviceptr data, size_t bytes,
                            CUstream stream) {
  const Driver& driver = gpu_->driver();
  Status s =
      check(gpu_->api(),
            driver.cuMemcpyHtoDAsync(room.beside, room.data, bytes, stream_),
            "cuMemcpyHtoDAsync");
  const Status come = room.come->record(stream_);
  if (s.ok()) s = come;
  if (s.ok()) {
    s = check(gpu_->api(),
              driver.cuStreamWaitEvent(stream, room.come->get(), 0),
              "cuStreamWaitEvent");
  }
  if (!s.ok()) {
    (void)driver.cuStreamSynchronize(stream_);
    return s;
  }
  return check(gpu_->api(),
               driver.cuMemcpyDtoDAsync(data, room.beside, bytes, stream),
               "cuMemcpyDtoDAsync");
}

}  // namespace gt::exec::cuda

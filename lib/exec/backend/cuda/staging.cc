#include "exec/backend/cuda/staging.h"

#include <algorithm>

namespace gt::exec::cuda {

Staging::~Staging() {
  if (!gpu_->enter().ok()) return;
  for (Half& half : halves_) {
    if (half.data == nullptr) continue;
    if (half.used != nullptr) (void)half.used->wait();
    (void)gpu_->driver().cuMemFreeHost(half.data);
  }
}

Result<Staging::Half*> Staging::next() {
  Half& half = halves_[turn_];
  turn_ = 1 - turn_;
  if (half.data == nullptr) {
    void* data = nullptr;
    const Status s =
        check(gpu_->api(), gpu_->driver().cuMemHostAlloc(&data, kBytes, 0),
              "cuMemHostAlloc");
    if (!s.ok()) return s.error();
    half.data = static_cast<char*>(data);
    half.used = std::make_unique<CudaEvent>(gpu_);
  }
  if (Status s = half.used->wait(); !s.ok()) return s.error();
  return &half;
}

Status Staging::download(CUdeviceptr data, size_t bytes, CUstream stream,
                         const TensorBytes::Take& take) {
  struct Piece {
    Half* half = nullptr;
    size_t bytes = 0;
    // The piece that is on its way while the next one is begun.
  } before;
  const auto give = [&take](const Piece& piece) {
    if (piece.half == nullptr) return ok_status();
    const Status s = piece.half->used->wait();
    return s.ok() ? take(piece.half->data, piece.bytes) : s;
  };
  for (size_t at = 0; at < bytes; at += kBytes) {
    const auto half = next();
    if (!half.ok()) return half.error();
    const Piece piece{half.value(), std::min(kBytes, bytes - at)};
    Status s = check(gpu_->api(),
                     gpu_->driver().cuMemcpyDtoHAsync(
                         piece.half->data, data + at, piece.bytes, stream),
                     "cuMemcpyDtoHAsync");
    if (s.ok()) s = piece.half->used->record(stream);
    if (s.ok()) s = give(before);
    if (!s.ok()) return s;
    before = piece;
  }
  return give(before);
}

}  // namespace gt::exec::cuda

#include "exec/backend/cuda/reader.h"

#include "exec/backend/cuda/event.h"

namespace gt::exec::cuda {

CudaReader::~CudaReader() {
  if (stream_ == nullptr || !gpu_->enter().ok()) return;
  (void)gpu_->driver().cuStreamDestroy(stream_);
}

Status CudaReader::begin(const DeviceEvent* behind) {
  const Driver& driver = gpu_->driver();
  if (Status s = gpu_->enter(); !s.ok()) return s;
  if (stream_ == nullptr) {
    Status s = check(gpu_->api(),
                     driver.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING),
                     "cuStreamCreate");
    if (!s.ok()) return s;
  }
  if (behind == nullptr) return ok_status();
  return check(gpu_->api(),
               driver.cuStreamWaitEvent(
                   stream_, static_cast<const CudaEvent*>(behind)->get(), 0),
               "cuStreamWaitEvent");
}

Status CudaReader::read(const void* data, size_t bytes,
                        const DeviceEvent* behind,
                        const TensorBytes::Take& take) {
  Status s = begin(behind);
  if (!s.ok()) return s;
  s = staging_.download(reinterpret_cast<CUdeviceptr>(data), bytes, stream_,
                        take);
  // The caller may overwrite the value after this returns, so no copy is left
  // under way.
  if (!s.ok()) (void)gpu_->driver().cuStreamSynchronize(stream_);
  return s;
}

}  // namespace gt::exec::cuda

#include "exec/backend/cuda/event.h"

namespace gt::exec::cuda {

CudaEvent::~CudaEvent() {
  if (event_ == nullptr || !gpu_->enter().ok()) return;
  (void)gpu_->driver().cuEventDestroy(event_);
}

Status CudaEvent::record(CUstream stream) {
  const Driver& driver = gpu_->driver();
  if (event_ == nullptr) {
    Status s = check(gpu_->api(),
                     driver.cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING |
                                                       CU_EVENT_BLOCKING_SYNC),
                     "cuEventCreate");
    if (!s.ok()) return s;
  }
  return check(gpu_->api(), driver.cuEventRecord(event_, stream),
               "cuEventRecord");
}

Status CudaEvent::wait() const {
  if (event_ == nullptr) return ok_status();
  return check(gpu_->api(), gpu_->driver().cuEventSynchronize(event_),
               "cuEventSynchronize");
}

Result<bool> CudaEvent::is_reached() const {
  if (event_ == nullptr) return true;
  const CUresult done = gpu_->driver().cuEventQuery(event_);
  if (done == CUDA_ERROR_NOT_READY) return false;
  const Status s = check(gpu_->api(), done, "cuEventQuery");
  if (!s.ok()) return s.error();
  return true;
}

}  // namespace gt::exec::cuda

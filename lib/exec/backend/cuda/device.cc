#include "exec/backend/cuda/device.h"

#include <algorithm>
#include <cstring>

#include "exec/backend/cuda/nccl.h"

namespace gt::exec::cuda {
namespace {

CUdeviceptr address(const void* data) {
  return reinterpret_cast<CUdeviceptr>(data);
}

}  // namespace

// ---- events -----------------------------------------------------------------

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

// ---- staging ----------------------------------------------------------------

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

Status Staging::upload(const char* host, CUdeviceptr data, size_t bytes,
                       CUstream stream) {
  for (size_t at = 0; at < bytes; at += kBytes) {
    const size_t n = std::min(kBytes, bytes - at);
    const auto half = next();
    if (!half.ok()) return half.error();
    std::memcpy(half.value()->data, host + at, n);
    Status s = check(gpu_->api(),
                     gpu_->driver().cuMemcpyHtoDAsync(
                         data + at, half.value()->data, n, stream),
                     "cuMemcpyHtoDAsync");
    // Recorded even then: what was begun must not be overtaken.
    const Status recorded = half.value()->used->record(stream);
    if (!s.ok()) return s;
    if (!recorded.ok()) {
      (void)gpu_->driver().cuStreamSynchronize(stream);
      return recorded;
    }
  }
  return ok_status();
}

Status Staging::download(CUdeviceptr data, char* host, size_t bytes,
                         CUstream stream) {
  struct Part {
    Half* half = nullptr;
    size_t at = 0, bytes = 0;
  } before;  // on its way while the next is asked for
  const auto take = [host](const Part& part) {
    if (part.half == nullptr) return ok_status();
    const Status s = part.half->used->wait();
    if (s.ok()) std::memcpy(host + part.at, part.half->data, part.bytes);
    return s;
  };
  for (size_t at = 0; at < bytes; at += kBytes) {
    const auto half = next();
    if (!half.ok()) return half.error();
    const Part part{half.value(), at, std::min(kBytes, bytes - at)};
    Status s = check(gpu_->api(),
                     gpu_->driver().cuMemcpyDtoHAsync(
                         part.half->data, data + at, part.bytes, stream),
                     "cuMemcpyDtoHAsync");
    if (s.ok()) s = part.half->used->record(stream);
    if (s.ok()) s = take(before);
    if (!s.ok()) {
      (void)gpu_->driver().cuStreamSynchronize(stream);
      return s;
    }
    before = part;
  }
  return take(before);
}

// ---- the device -------------------------------------------------------------

Result<std::unique_ptr<CudaDevice>> CudaDevice::make(std::shared_ptr<Gpu> gpu) {
  std::unique_ptr<CudaDevice> device(new CudaDevice(std::move(gpu)));
  if (Status s = device->start(); !s.ok()) return s.error();
  return device;
}

Status CudaDevice::enter() {
  if (Status s = gpu_->enter(); !s.ok()) return s;
  flush();
  return lost_ ? Status(Error{lost_->why}) : ok_status();
}

Status CudaDevice::start() {
  if (Status s = enter(); !s.ok()) return s;
  Status s =
      check(gpu_->api(),
            gpu_->driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING),
            "cuStreamCreate");
  if (!s.ok()) return s;
  return faults_.start(stream_);
}

CudaDevice::~CudaDevice() {
  if (stream_ == nullptr || !gpu_->enter().ok()) return;
  flush();
  if (workspace_ != 0) give_back(workspace_);
  faults_.end();
  (void)gpu_->driver().cuStreamDestroy(stream_);
}

void CudaDevice::release(void* data, size_t /*bytes*/) {
  Status s = gpu_->enter();
  if (s.ok()) s = gpu_->release(data, stream());
  if (!s.ok() && broken_.ok()) broken_ = s;
}

Status CudaDevice::upload(const void* host, void* data, size_t bytes) {
  if (Status s = enter(); !s.ok()) return s;
  return staging_.upload(static_cast<const char*>(host), address(data), bytes,
                         stream());
}

Status CudaDevice::download(const void* data, void* host, size_t bytes) {
  if (Status s = enter(); !s.ok()) return s;
  if (bytes == 0) return finish();
  return staging_.download(address(data), static_cast<char*>(host), bytes,
                           stream());
}

Status CudaDevice::copy(const void* from, void* to, size_t bytes) {
  if (Status s = enter(); !s.ok()) return s;
  if (bytes == 0) return ok_status();
  return check(gpu_->api(),
               gpu_->driver().cuMemcpyDtoDAsync(address(to), address(from),
                                                bytes, stream()),
               "cuMemcpyDtoDAsync");
}

std::shared_ptr<DeviceEvent> CudaDevice::record() {
  auto event = std::make_shared<CudaEvent>(gpu_);
  Status s = enter();
  if (s.ok()) s = event->record(stream());
  if (s.ok()) return event;
  // Without an event the work must be done before this returns.
  if (broken_.ok()) broken_ = s;
  (void)gpu_->driver().cuStreamSynchronize(stream());
  return nullptr;
}

void CudaDevice::wait_for(const DeviceEvent& event) {
  const auto& mine = static_cast<const CudaEvent&>(event);
  Status s = enter();
  if (s.ok()) {
    s = check(gpu_->api(),
              gpu_->driver().cuStreamWaitEvent(stream(), mine.get(), 0),
              "cuStreamWaitEvent");
  }
  if (s.ok()) return;
  if (broken_.ok()) broken_ = s;
  (void)mine.wait();
}

Status CudaDevice::finish() {
  if (Status s = enter(); !s.ok()) return s;
  Status s = check(gpu_->api(), gpu_->driver().cuStreamSynchronize(stream()),
                   "cuStreamSynchronize");
  if (!s.ok()) return s;
  s = broken_;
  broken_ = ok_status();
  return s;
}

std::optional<Device::Loss> CudaDevice::loss() const {
  if (lost_) return lost_;
  const CUresult why = lost_context();
  if (why == CUDA_SUCCESS) return std::nullopt;
  return Loss{check(gpu_->api(), why, "the GPU failed").error().message,
              faults_.begun()};
}

std::optional<Status> CudaDevice::take_check(bool waits) {
  // What was put off leaves no checks, so it may wait while nobody does.
  if (Status s = waits ? enter() : gpu_->enter(); !s.ok()) return s;
  return faults_.take(waits);
}

Result<std::unique_ptr<DeviceLink>> CudaDevice::make_link() {
  return make_nccl_link(gpu_, stream());
}

bool CudaDevice::holds_back() {
  if (chains_.is_empty()) return false;
  const bool is_busy =
      gpu_->enter().ok() &&
      gpu_->driver().cuStreamQuery(stream_) == CUDA_ERROR_NOT_READY;
  if (!is_busy) flush();
  return is_busy;
}

// ---- what kernels need ------------------------------------------------------

Status CudaDevice::launch(const ReadyLaunch& launch) {
  const void* parameters[] = {&launch.args};
  return check(
      gpu_->api(),
      gpu_->driver().cuLaunchKernel(
          launch.function, static_cast<unsigned>(launch.blocks), 1, 1, kThreads,
          1, 1, 0, stream(), const_cast<void**>(parameters), nullptr),
      "cuLaunchKernel");
}

Status CudaDevice::launch(const ReadyLaunch& alone,
                          const std::shared_ptr<const ChainLink>& link,
                          std::span<const uint64_t> words, uint64_t out) {
  if (!may_delay_ || link == nullptr) return launch(alone);
  if (!chains_.is_empty() && !chains_.joins(*link, words, out)) launch_chain();
  chains_.add(link, words, out, alone);
  return ok_status();
}

void CudaDevice::launch_chain() {
  // The chain is empty from here on, so these go straight to the stream. Their
  // lines count as done, and what they made may have been read by others: if
  // the GPU refuses one, no value is to be trusted any more.
  for (const ReadyLaunch& one : chains_.take(false)) {
    const Status s = launch(one);
    if (!s.ok() && !lost_) lost_ = Loss{s.error().message, one.args.task};
  }
}

Result<CUdeviceptr> CudaDevice::borrow(size_t bytes) {
  CUdeviceptr data = 0;
  const Status s = check(gpu_->api(),
                         gpu_->driver().cuMemAllocAsync(
                             &data, std::max<size_t>(bytes, 1), stream()),
                         "scratch memory");
  if (!s.ok()) return s.error();
  return data;
}

void CudaDevice::give_back(CUdeviceptr data) {
  const Status s = gpu_->release(reinterpret_cast<void*>(data), stream());
  if (!s.ok() && broken_.ok()) broken_ = s;
}

Result<CUdeviceptr> CudaDevice::workspace() {
  if (workspace_ == 0) {
    const auto data = borrow(kWorkspace);
    if (!data.ok()) return data.error();
    workspace_ = data.value();
  }
  return workspace_;
}

}  // namespace gt::exec::cuda

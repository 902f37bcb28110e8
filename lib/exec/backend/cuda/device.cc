#include "exec/backend/cuda/device.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/units.h"
#include "exec/backend/cuda/nccl.h"
#include "exec/backend/cuda/peer_copies.h"
#include "exec/backend/cuda/reader.h"
#include "exec/backend/cuda/source.h"

namespace gt::exec::cuda {
namespace {

constexpr size_t kAlignment = 256;  // of pieces of scratch memory, in bytes

CUdeviceptr address(const void* data) {
  return reinterpret_cast<CUdeviceptr>(data);
}

}  // namespace

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
  scratch_.reset();
  if (workspace_ != 0) release_scratch(workspace_);
  faults_.end();
  (void)gpu_->driver().cuStreamDestroy(stream_);
}

void CudaDevice::release(void* data, size_t /*bytes*/) {
  Status s = gpu_->enter();
  if (s.ok()) s = gpu_->release(data, stream());
  if (!s.ok() && broken_.ok()) broken_ = s;
}

// A caller that gets an error may give back the memory that the work uses at
// once, so no work is left under way.
Status CudaDevice::settled(Status s) {
  if (!s.ok()) (void)gpu_->driver().cuStreamSynchronize(stream_);
  return s;
}

Status CudaDevice::upload(const void* host, void* data, size_t bytes) {
  const auto* from = static_cast<const char*>(host);
  for (size_t at = 0; at < bytes; at += Uploads::kMost) {
    const size_t n = std::min(Uploads::kMost, bytes - at);
    const auto write = [piece = from + at, n](void* to) {
      std::memcpy(to, piece, n);
      return ok_status();
    };
    if (Status s = fill(static_cast<char*>(data) + at, n, write); !s.ok()) {
      return s;
    }
  }
  return ok_status();
}

Status CudaDevice::fill(void* data, size_t bytes, const Write& write) {
  if (bytes > Uploads::kMost) return Device::fill(data, bytes, write);
  if (Status s = enter(); !s.ok()) return s;
  const auto room = uploads_.take(bytes);
  if (!room.ok()) return room.error();
  if (Status s = write(room.value()); !s.ok()) return s;
  return settled(uploads_.send(address(data), bytes, stream()));
}

Status CudaDevice::download(const void* data, void* host, size_t bytes) {
  if (Status s = enter(); !s.ok()) return s;
  if (bytes == 0) return finish();
  auto* to = static_cast<char*>(host);
  return settled(staging_.download(address(data), bytes, stream(),
                                   [&to](const void* piece, size_t n) {
                                     std::memcpy(to, piece, n);
                                     to += n;
                                     return ok_status();
                                   }));
}

std::shared_ptr<DeviceDownload> CudaDevice::begin_download(const void* data,
                                                           size_t bytes) {
  if (!enter().ok()) return nullptr;
  return downloads_.begin(address(data), bytes, stream());
}

Status CudaDevice::copy(const void* from, void* to, size_t bytes) {
  if (Status s = enter(); !s.ok()) return s;
  if (bytes == 0) return ok_status();
  return check(gpu_->api(),
               gpu_->driver().cuMemcpyDtoDAsync(address(to), address(from),
                                                bytes, stream()),
               "cuMemcpyDtoDAsync");
}

std::unique_ptr<DeviceReader> CudaDevice::make_reader() {
  return std::make_unique<CudaReader>(gpu_);
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
  Status s = enter();
  if (s.ok()) {
    s = check(gpu_->api(), gpu_->driver().cuStreamSynchronize(stream_),
              "cuStreamSynchronize");
  }
  if (!s.ok()) return settled(s);
  s = broken_;
  broken_ = ok_status();
  return s;
}

std::optional<Device::Loss> CudaDevice::loss() const {
  // If the GPU has failed, that is the reason, and not the launch that it then
  // refused.
  const CUresult why = lost_context();
  if (why == CUDA_SUCCESS) return lost_;
  return Loss{check(gpu_->api(), why, "the GPU failed").error().message,
              faults_.begun()};
}

std::optional<Status> CudaDevice::take_check(bool waits) {
  // Runs that were put off may wait as long as no caller does. Their checks are
  // the last ones.
  if (Status s = waits ? enter() : gpu_->enter(); !s.ok()) return s;
  if (deferred_ != nullptr && deferred_->checks() == checks())
    return std::nullopt;
  return faults_.take(waits);
}

// ---- spans ------------------------------------------------------------------

CUstream CudaDevice::stream() {
  flush();
  if (span_ == SpanState::kOpen) {
    span_ = SpanState::kBegun;
    timer_.begin(stream_);
  }
  return stream_;
}

// All the work of a span is either given to the stream by itself or put off.
void CudaDevice::end_span() {
  if (span_ == SpanState::kOpen && deferred_ != nullptr) {
    deferred_->end_line();
  } else {
    timer_.end(stream());
  }
  span_ = SpanState::kNone;
}

std::optional<Device::Span> CudaDevice::take_span(bool waits) {
  // The spans include those of runs that were put off, which are launched even
  // if the GPU has failed and refuses them.
  if (waits) {
    (void)gpu_->enter();
    flush();
  }
  return timer_.take(waits);
}

// ---- links ------------------------------------------------------------------

std::vector<Result<std::unique_ptr<DeviceLink>>> CudaDevice::make_links() {
  std::vector<Result<std::unique_ptr<DeviceLink>>> links;
  links.push_back(make_nccl_link(gpu_, stream()));
  links.push_back(make_peer_copies(gpu_, stream()));
  return links;
}

bool CudaDevice::holds_back() {
  if (deferred_ == nullptr) return false;
  const bool is_busy =
      gpu_->enter().ok() &&
      gpu_->driver().cuStreamQuery(stream_) == CUDA_ERROR_NOT_READY;
  if (!is_busy) flush();
  return is_busy;
}

// ---- recordings -------------------------------------------------------------

// Makes the launch that a recording begins with, which sets the task and the
// row of places.
Result<ReadyLaunch> CudaDevice::first_launch(uint64_t task, uint64_t row) {
  static const Source source = make_source("fault.cuh", "begin_recording(a);");
  const Result<CUfunction>& function = gpu_->function(source).get();
  if (!function.ok()) return function.error();
  ReadyLaunch launch{function.value(), 1, {}};
  launch.args.out[0] = faults_.base();
  launch.args.n[0] = static_cast<int64_t>(task);
  launch.args.n[1] = static_cast<int64_t>(row);
  return launch;
}

// No memory may be allocated while work is recorded, so the scratch memory is
// allocated before.
Status CudaDevice::prepare_recording() {
  if (most_scratch_ == 0) return ok_status();
  if (scratch_ != nullptr && scratch_->bytes() >= most_scratch_) {
    return ok_status();
  }
  const auto data = allocate_scratch(most_scratch_);
  if (!data.ok()) return data.error();
  scratch_ = std::make_shared<const Scratch>(gpu_, stream_, data.value(),
                                             most_scratch_);
  return ok_status();
}

Status CudaDevice::begin_recording() {
  if (Status s = enter(); !s.ok()) return s;
  auto first = first_launch(0, 0);
  if (!first.ok()) return first.error();
  if (Status s = prepare_recording(); !s.ok()) return s;
  const Driver& driver = gpu_->driver();
  Status s = check(
      gpu_->api(),
      driver.cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      "cuStreamBeginCapture");
  if (!s.ok()) return s;
  s = launch(first.value());
  is_recording_ = true;
  recorded_ = ok_status();
  faults_.begin_recording();
  if (!s.ok()) (void)end_recording(false, nullptr);
  return s;
}

Result<std::unique_ptr<DeviceRecording>> CudaDevice::end_recording(
    bool keeps, std::unique_ptr<DeviceRecording> old) {
  flush();
  is_recording_ = false;
  CudaGraph::Needs needs{faults_.end_recording(), scratch_};
  const Driver& driver = gpu_->driver();
  CUgraph captured = nullptr;
  const Status s =
      check(gpu_->api(), driver.cuStreamEndCapture(stream_, &captured),
            "cuStreamEndCapture");
  if (!s.ok()) return s.error();
  if (!keeps || !recorded_.ok()) {
    (void)driver.cuGraphDestroy(captured);
    return recorded_.ok() ? Error{"it is not to be kept"} : recorded_.error();
  }
  std::unique_ptr<CudaGraph> older(static_cast<CudaGraph*>(old.release()));
  auto made = CudaGraph::make(gpu_, stream_, captured, std::move(older),
                              std::move(needs));
  if (!made.ok()) return made.error();
  return std::unique_ptr<DeviceRecording>(std::move(made.value()));
}

Status CudaDevice::replay(DeviceRecording& recording, uint64_t task) {
  auto& graph = static_cast<CudaGraph&>(recording);
  const std::vector<const Plan*>& checks = graph.checks();
  if (Status s = enter(); !s.ok()) return s;
  uint64_t row = 0;
  if (!checks.empty()) {
    const auto begun = faults_.begin_row(checks.size());
    if (!begun.ok()) return begun.error();
    row = begun.value();
  }
  auto first = first_launch(task, row);
  const Status s =
      first.ok() ? graph.launch(first.value()) : Status(first.error());
  if (checks.empty()) return s;
  if (s.ok()) {
    faults_.leave_row(row, checks);
  } else {
    faults_.spoil_row(row, checks.size());
  }
  return s;
}

// ---- what kernels need ------------------------------------------------------

Status CudaDevice::launch(const ReadyLaunch& launch) {
  (void)stream();
  return launch_now(launch);
}

Status CudaDevice::launch_now(const ReadyLaunch& launch) {
  const void* parameters[] = {&launch.args, launch.items};
  return check(
      gpu_->api(),
      gpu_->driver().cuLaunchKernel(
          launch.function, static_cast<unsigned>(launch.blocks), 1, 1, kThreads,
          1, 1, 0, stream_, const_cast<void**>(parameters), nullptr),
      "cuLaunchKernel");
}

Status CudaDevice::launch_point_wise(
    const ReadyLaunch& alone, const std::shared_ptr<const ChainLink>& link,
    std::span<const uint64_t> words, uint64_t out) {
  if (!may_delay_) return launch(alone);
  if (deferred_ != &chains_) {
    flush();
  } else if (!chains_.joins(*link, words, out)) {
    chains_.close(is_recording_, giver());
    // A chain that is kept has no end, so it needs no scratch memory.
    release_deferred();
  }
  chains_.add(link, words, out, alone);
  deferred_ = &chains_;
  return ok_status();
}

Status CudaDevice::launch_reduction(std::span<const ReadyLaunch> alone,
                                    const std::shared_ptr<const ChainEnd>& end,
                                    uint64_t from,
                                    std::span<const Extent> others,
                                    uint64_t to) {
  if (deferred_ == &chains_ && chains_.ends(*end, from, others, to)) {
    chains_.add_end(end, from, to, alone);
    return ok_status();
  }
  for (const ReadyLaunch& one : alone) {
    if (Status s = launch(one); !s.ok()) return s;
  }
  return ok_status();
}

Status CudaDevice::launch_item(const Batch::Run& run) {
  if (deferred_ != &batch_ || !batch_.joins(run)) flush();
  batch_.add(run);
  if (may_delay_) {
    deferred_ = &batch_;
    return ok_status();
  }
  Status s = ok_status();
  batch_.take(true, [&](std::span<const ReadyLaunch> launches, size_t) {
    for (const ReadyLaunch& one : launches) {
      if (s.ok()) s = launch(one);
    }
  });
  return s;
}

// The launches go straight to the stream. Their lines count as done, and others
// may have read what they made: if the GPU refuses a launch, no value can be
// trusted any more. While they are recorded, none of them was done yet, and the
// recording is dropped instead.
void CudaDevice::give(std::span<const ReadyLaunch> launches, size_t lines) {
  if (lines > 0) timer_.begin(stream_);
  for (const ReadyLaunch& one : launches) {
    const Status s = launch_now(one);
    if (s.ok()) continue;
    if (is_recording_) {
      recorded_ = s;
    } else if (!lost_) {
      lost_ = Loss{s.error().message, one.args.task};
    }
  }
  if (lines > 0) timer_.end(stream_, lines);
}

// Nothing is put off any more after this. In a recording, one launch is worth
// the time to compile it.
void CudaDevice::launch_deferred() {
  std::exchange(deferred_, nullptr)->take(is_recording_, giver());
  release_deferred();
}

// Gives back the scratch memory of the runs that were put off. Of these, only a
// reduction that ends a chain has any.
void CudaDevice::release_deferred() {
  for (const CUdeviceptr data : std::exchange(deferred_scratch_, {})) {
    release_scratch(data);
  }
}

Result<CUdeviceptr> CudaDevice::allocate_scratch(size_t bytes) {
  CUdeviceptr data = 0;
  const Status s = check(gpu_->api(),
                         gpu_->driver().cuMemAllocAsync(
                             &data, std::max<size_t>(bytes, 1), stream_),
                         "scratch memory");
  if (s.ok()) return data;
  return Error{s.error().message + ": it needs " +
               bytes_text(static_cast<double>(bytes))};
}

void CudaDevice::release_scratch(CUdeviceptr data) {
  const Status s = gpu_->release(reinterpret_cast<void*>(data), stream_);
  if (!s.ok() && broken_.ok()) broken_ = s;
}

Result<std::vector<CUdeviceptr>> CudaDevice::borrow(
    std::span<const size_t> pieces) {
  std::vector<CUdeviceptr> out;
  size_t total = 0;
  for (const size_t bytes : pieces) {
    if (is_recording_) {
      if (scratch_ != nullptr) out.push_back(scratch_->data() + total);
    } else if (const auto data = allocate_scratch(bytes); data.ok()) {
      out.push_back(data.value());
    } else {
      give_back(out);
      return data.error();
    }
    total += (bytes / kAlignment + 1) * kAlignment;
  }
  if (!is_recording_) {
    most_scratch_ = std::max(most_scratch_, total);
  } else if (scratch_ == nullptr || total > scratch_->bytes()) {
    return Error{"a recording has not enough scratch memory"};
  }
  return out;
}

void CudaDevice::give_back(std::span<const CUdeviceptr> pieces) {
  if (is_recording_) return;
  if (deferred_ != nullptr) {
    deferred_scratch_.insert(deferred_scratch_.end(), pieces.begin(),
                             pieces.end());
    return;
  }
  for (const CUdeviceptr data : pieces) release_scratch(data);
}

Result<CUdeviceptr> CudaDevice::workspace() {
  if (workspace_ == 0) {
    if (is_recording_) return Error{"a recording has no workspace"};
    const auto data = allocate_scratch(kWorkspace);
    if (!data.ok()) return data.error();
    workspace_ = data.value();
  }
  return workspace_;
}

}  // namespace gt::exec::cuda

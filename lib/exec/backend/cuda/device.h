// A GPU as a Device: values are memory of the GPU, and what one thread tells it
// is done in the order of one stream.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "exec/backend/cuda/batch.h"
#include "exec/backend/cuda/chains.h"
#include "exec/backend/cuda/downloads.h"
#include "exec/backend/cuda/event.h"
#include "exec/backend/cuda/faults.h"
#include "exec/backend/cuda/gpu.h"
#include "exec/backend/cuda/graph.h"
#include "exec/backend/cuda/staging.h"
#include "exec/backend/cuda/timer.h"
#include "exec/backend/cuda/uploads.h"
#include "exec/memory/device.h"

namespace gt::exec::cuda {

class CudaDevice final : public Device {
 public:
  static Result<std::unique_ptr<CudaDevice>> make(std::shared_ptr<Gpu> gpu);
  ~CudaDevice() override;

  void* allocate(size_t bytes) override { return gpu_->allocate(bytes); }
  void release(void* data, size_t bytes) override;
  Status upload(const void* host, void* data, size_t bytes) override;
  Status fill(void* data, size_t bytes, const Write& write) override;
  Status download(const void* data, void* host, size_t bytes) override;
  std::shared_ptr<DeviceDownload> begin_download(const void* data,
                                                 size_t bytes) override;
  std::unique_ptr<DeviceReader> make_reader() override;
  Status copy(const void* from, void* to, size_t bytes) override;
  std::shared_ptr<DeviceEvent> record() override;
  void wait_for(const DeviceEvent& event) override;
  Status finish() override;
  void begin(uint64_t task) override { task_ = task; }
  std::optional<Loss> loss() const override;
  bool leaves_checks() const override { return true; }
  size_t checks() const override { return faults_.checks(); }
  std::optional<Status> take_check(bool waits) override;
  bool puts_off() const override { return true; }
  void allow_delay() override { may_delay_ = true; }
  bool holds_back() override;
  void forget(const void* data) override {
    if (put_off_ != nullptr) put_off_->forget(reinterpret_cast<uint64_t>(data));
  }
  void flush() override {
    if (put_off_ != nullptr) launch_put_off();
  }
  bool keeps_time() const override { return true; }
  void begin_span() override { span_ = SpanState::kOpen; }
  void end_span() override;
  std::optional<Span> take_span(bool waits) override;
  bool records() const override { return true; }
  Status begin_recording() override;
  Result<std::unique_ptr<DeviceRecording>> end_recording(
      bool keeps, std::unique_ptr<DeviceRecording> old) override;
  Status replay(DeviceRecording& recording, uint64_t task) override;
  std::vector<Result<std::unique_ptr<DeviceLink>>> make_links() override;

  Gpu& gpu() { return *gpu_; }
  // Behind all that the device was given. The span that is open, if there is
  // one, has begun.
  CUstream stream();

  // A kernel is launched by one of these four. The last three may put its run
  // off, so that one launch does the work of several runs.

  // Launches a kernel now, behind what was put off before.
  Status launch(const ReadyLaunch& launch);
  // A run of a point-wise kernel, which can be a link of a chain (chains.h).
  // `words` are the addresses and numbers of the link's leaves, and the result
  // goes to `out`. `alone` is the launch that the run is by itself.
  Status launch_point_wise(const ReadyLaunch& alone,
                           const std::shared_ptr<const ChainLink>& link,
                           std::span<const uint64_t> words, uint64_t out);
  // A run of a kernel that reduces what lies at `from`, reads `others` beside
  // it and writes to `to`. If a chain makes what lies at `from`, the run ends
  // the chain; else the launches `alone` are made.
  Status launch_reduction(std::span<const ReadyLaunch> alone,
                          const std::shared_ptr<const ChainEnd>& end,
                          uint64_t from, std::span<const Extent> others,
                          uint64_t to);
  // A run that can be one item of a launch of many (batch.h).
  Status launch_item(const Batch::Run& run);
  // Scratch memory, in the order of the stream: pieces of so many
  // bytes, all of which are given back before others are borrowed. What was put
  // off, such as the end of a chain, has them until it is launched.
  Result<std::vector<CUdeviceptr>> borrow(std::span<const size_t> pieces);
  void give_back(std::span<const CUdeviceptr> pieces);
  // What a library may scribble on, kWorkspace bytes.
  static constexpr size_t kWorkspace = size_t{32} << 20;
  Result<CUdeviceptr> workspace();
  Faults& faults() { return faults_; }
  uint64_t task() const { return task_; }
  // Args::base.
  CUdeviceptr base() const { return is_recording_ ? faults_.base() : 0; }

 private:
  Status settled(Status s);
  explicit CudaDevice(std::shared_ptr<Gpu> gpu)
      : gpu_(std::move(gpu)),
        staging_(gpu_),
        uploads_(gpu_),
        downloads_(gpu_),
        faults_(gpu_),
        timer_(gpu_),
        chains_(*gpu_) {}
  Status start();
  void launch_put_off();
  void release_put_off();
  // Launches what was put off of so many lines.
  void give(std::span<const ReadyLaunch> launches, size_t lines);
  PutOff::Give giver() {
    return [this](std::span<const ReadyLaunch> launches, size_t lines) {
      give(launches, lines);
    };
  }
  Status launch_now(const ReadyLaunch& launch);
  // What each call begins with: the GPU is this thread's, and has been given
  // all that was put off.
  Status enter();
  Result<CUdeviceptr> allocate_scratch(size_t bytes);
  void release_scratch(CUdeviceptr data);
  Status prepare_recording();
  Result<ReadyLaunch> first_launch(uint64_t task, uint64_t row);

  std::shared_ptr<Gpu> gpu_;
  CUstream stream_ = nullptr;
  Staging staging_;
  Uploads uploads_;
  Downloads downloads_;
  Faults faults_;
  Timer timer_;
  Chains chains_;
  Batch batch_;
  PutOff* put_off_ = nullptr;  // that of these that has runs
  bool may_delay_ = false;
  // Whether a span is open, and the stream was given something of it.
  enum class SpanState : uint8_t { kNone, kOpen, kBegun };
  SpanState span_ = SpanState::kNone;
  CUdeviceptr workspace_ = 0;
  uint64_t task_ = 0;
  bool is_recording_ = false;
  Status recorded_ = ok_status();  // why the recording cannot be kept
  size_t most_scratch_ = 0;        // that a kernel has borrowed
  std::vector<CUdeviceptr> scratch_put_off_;  // that what is put off needs
  // What recordings borrow: they have as much as any kernel had before.
  std::shared_ptr<const Scratch> scratch_;
  Status broken_ = ok_status();  // what could not be told when it happened
  std::optional<Loss> lost_;     // what was put off was not launched
};

}  // namespace gt::exec::cuda

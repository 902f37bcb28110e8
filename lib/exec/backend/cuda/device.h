// A GPU as a Device: values live in GPU memory, and the work that one thread
// gives the device is done in the order of one stream.
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
    if (deferred_ != nullptr) {
      deferred_->forget(reinterpret_cast<uint64_t>(data));
    }
  }
  void flush() override {
    if (deferred_ != nullptr) launch_deferred();
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
  // Returns the device's stream, for work behind all that the device was given
  // so far: what was put off is launched first. If a span is open, it counts as
  // begun.
  CUstream stream();

  // Kernels are launched by the following four functions. The last three may
  // put the run off, so that one launch does the work of several runs.

  // Launches a kernel now, behind the runs that were put off before.
  Status launch(const ReadyLaunch& launch);
  // Runs a point-wise kernel, which can be a link of a chain (chains.h).
  // `words` are the addresses and numbers of the link's leaves, and the result
  // goes to `out`. `alone` is the launch that does the run by itself.
  Status launch_point_wise(const ReadyLaunch& alone,
                           const std::shared_ptr<const ChainLink>& link,
                           std::span<const uint64_t> words, uint64_t out);
  // Runs a kernel that reduces the value at `from`, reads `others` besides and
  // writes to `to`. If a chain makes the value at `from`, the run ends the
  // chain; else the launches `alone` are made.
  Status launch_reduction(std::span<const ReadyLaunch> alone,
                          const std::shared_ptr<const ChainEnd>& end,
                          uint64_t from, std::span<const Extent> others,
                          uint64_t to);
  // Runs a kernel that can be one item of a launch with several items
  // (batch.h).
  Status launch_item(const Batch::Run& run);
  // Returns scratch memory in the order of the stream, one piece of `pieces[i]`
  // bytes each. All pieces must be given back before others are borrowed. A run
  // that was put off, such as the end of a chain, keeps its pieces until it is
  // launched.
  Result<std::vector<CUdeviceptr>> borrow(std::span<const size_t> pieces);
  void give_back(std::span<const CUdeviceptr> pieces);
  // Returns memory of kWorkspace bytes for the libraries' own use; its contents
  // are not kept. It is allocated when it is first asked for, and no limit of
  // the pool counts it.
  static constexpr size_t kWorkspace = size_t{32} << 20;
  Result<CUdeviceptr> workspace();
  Faults& faults() { return faults_; }
  uint64_t task() const { return task_; }
  // The value for Args::base: 0 unless a recording is under way.
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
  void launch_deferred();
  void release_deferred();
  // Launches the work that was put off for `lines` lines.
  void give(std::span<const ReadyLaunch> launches, size_t lines);
  DeferredLaunches::Give giver() {
    return [this](std::span<const ReadyLaunch> launches, size_t lines) {
      give(launches, lines);
    };
  }
  Status launch_now(const ReadyLaunch& launch);
  // Makes the GPU current on this thread and launches what was put off. Every
  // call begins with it.
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
  // chains_ or batch_, whichever has runs; else null.
  DeferredLaunches* deferred_ = nullptr;
  bool may_delay_ = false;
  // Whether a span is open, and whether any of its work was given to the
  // stream.
  enum class SpanState : uint8_t { kNone, kOpen, kBegun };
  SpanState span_ = SpanState::kNone;
  CUdeviceptr workspace_ = 0;
  uint64_t task_ = 0;
  bool is_recording_ = false;
  Status recorded_ = ok_status();  // not ok: why the recording cannot be kept
  // The most scratch memory that one kernel has borrowed, in bytes.
  size_t most_scratch_ = 0;
  // Scratch memory that is given back once the runs that were put off are
  // launched.
  std::vector<CUdeviceptr> deferred_scratch_;
  // The scratch memory of recordings, as large as the most that any kernel
  // borrowed before.
  std::shared_ptr<const Scratch> scratch_;
  // An error that its call could not return; finish() returns it.
  Status broken_ = ok_status();
  // Set if runs that were put off could not be launched.
  std::optional<Loss> lost_;
};

}  // namespace gt::exec::cuda

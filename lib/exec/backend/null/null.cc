#include "exec/backend/null/null.h"

#include <algorithm>
#include <cstring>

#include "exec/backend/null/pace.h"
#include "spmd/rank_set.h"

namespace gt::exec {
namespace {

class NullKernel final : public Kernel {
 public:
  Status run(std::span<const void* const> /*in*/,
             std::span<void* const> /*out*/) override {
    return ok_status();
  }
};

// Takes as long as the machine that is rehearsed would take.
class PacedKernel final : public Kernel {
 public:
  PacedKernel(Pace& processor, double seconds)
      : processor_(processor), seconds_(seconds) {}
  Status run(std::span<const void* const> /*in*/,
             std::span<void* const> /*out*/) override {
    processor_.spend(seconds_);
    return ok_status();
  }

 private:
  Pace& processor_;
  const double seconds_;
};

// Gives out one address that nobody follows, as if there were enough memory at
// it.
class NullDevice final : public Device {
 public:
  explicit NullDevice(const std::optional<Machine>& pace)
      : pace_(pace), clock_(Pace::Clock::now()) {}

  void* allocate(size_t bytes) override {
    return bytes > kMost ? nullptr : reinterpret_cast<void*>(kMost);
  }
  void release(void* /*data*/, size_t /*bytes*/) override {}
  bool has_data() const override { return false; }
  Status upload(const void* /*host*/, void* /*data*/,
                size_t /*bytes*/) override {
    return ok_status();
  }
  Status download(const void* /*data*/, void* host, size_t bytes) override {
    std::memset(host, 0, bytes);
    return ok_status();
  }
  Status copy(const void* /*from*/, void* /*to*/, size_t /*bytes*/) override {
    return ok_status();
  }
  Result<const void*> view(const void* /*data*/, size_t /*bytes*/,
                           std::vector<char>& /*scratch*/) override {
    return static_cast<const void*>(nullptr);
  }
  // A worker stands for the rank of its number.
  void brought(size_t bytes, unsigned self,
               const std::vector<unsigned>& from) override {
    if (!pace_) return;
    const Ranks ranks(from.begin(), from.end());
    const Link link =
        link_of(*pace_, [&](int64_t n) { return is_within({self}, ranks, n); });
    clock_.spend(message_seconds(link, static_cast<double>(bytes)));
  }
  uint64_t done_at() const override {
    if (!pace_) return 0;
    const Nanoseconds since = clock_.done_at().time_since_epoch();
    return static_cast<uint64_t>(since.count());
  }
  void begin_at(uint64_t time) override {
    const auto least = std::min<uint64_t>(time, INT64_MAX);
    clock_.begin_at(
        Pace::Clock::time_point(Nanoseconds(static_cast<int64_t>(least))));
  }
  void was_idle() override { clock_.begin_at(Pace::Clock::now()); }
  Pace& clock() { return clock_; }

 private:
  using Nanoseconds = std::chrono::nanoseconds;
  static constexpr uintptr_t kMost = uintptr_t{1} << 60;
  const std::optional<Machine> pace_;
  // Of the processor, or of the link: each thread has a device of its own.
  Pace clock_;
};

class NullBackend final : public Backend {
 public:
  explicit NullBackend(const std::optional<Machine>& pace)
      : pace_(pace), device_(pace) {}

  std::string_view name() const override { return "null"; }
  std::unique_ptr<Kernel> prepare(const Call& call) override {
    if (!pace_) return std::make_unique<NullKernel>();
    return std::make_unique<PacedKernel>(
        device_.clock(), compute_seconds(*pace_, flops(call), bytes(call)));
  }
  Device& device() override { return device_; }

 private:
  const std::optional<Machine> pace_;
  NullDevice device_;
};

}  // namespace

std::unique_ptr<Backend> make_null_backend(const BackendOptions& options) {
  return std::make_unique<NullBackend>(options.pace);
}

}  // namespace gt::exec

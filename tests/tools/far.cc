// A backend as a plug-in whose memory the host cannot touch, like that of a
// GPU: a program that follows an address of it ends in a signal. The backend
// works later than it is told to, on a thread of its own. tests/backends.bats
// loads it.
//
// The kernels are those of `ref`. GT_FAR_COUNT=FILE appends, for each backend
// that is made, a line with how many kernels of the op `add` have run.
// GT_FAR_FAILS=N makes the N-th copy from the device fail.
#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "exec/backend/ref/ref.h"
#include "exec/backend/registry.h"
#include "exec/memory/memory.h"

namespace gt::exec {
namespace {

// The memory behind addresses that nobody may follow. All backends of the
// process share it, as they share one device.
class FarMemory {
 public:
  static FarMemory& instance() {
    static FarMemory memory;
    return memory;
  }

  void* allocate(size_t bytes) {
    const size_t room = (bytes + kGuard + kCacheLine - 1) & ~(kCacheLine - 1);
    const std::lock_guard lock(mutex_);
    if (next_ + room > kSize) return nullptr;
    char* hidden = static_cast<char*>(allocate_aligned(bytes));
    if (hidden == nullptr) return nullptr;
    char* address = base_ + next_;
    next_ += room;
    blocks_[address] = {hidden, bytes};
    return address;
  }
  void release(void* address) {
    const std::lock_guard lock(mutex_);
    const auto it = blocks_.find(static_cast<char*>(address));
    GT_CHECK(it != blocks_.end());
    release_aligned(it->second.data);
    blocks_.erase(it);
  }
  // Where the bytes at an address are; null if it is no address of this memory.
  char* find(const void* address) {
    const auto* at = static_cast<const char*>(address);
    if (at < base_ || at >= base_ + kSize) return nullptr;
    const std::lock_guard lock(mutex_);
    auto it = blocks_.upper_bound(const_cast<char*>(at));  // NOLINT: a key
    GT_CHECK(it != blocks_.begin());
    --it;
    const auto offset = static_cast<size_t>(at - it->first);
    GT_CHECK(offset <= it->second.bytes);
    return it->second.data + offset;
  }

 private:
  // So many addresses are reserved, and no memory. The thread sanitizer allows
  // no larger reservation.
  static constexpr size_t kSize = size_t{1} << 36;
  static constexpr size_t kGuard = 64;  // unused addresses between blocks
  struct Block {
    char* data;
    size_t bytes;
  };

  FarMemory() {
    void* base = ::mmap(nullptr, kSize, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    GT_CHECK(base != MAP_FAILED);
    base_ = static_cast<char*>(base);
  }

  char* base_ = nullptr;
  std::mutex mutex_;
  size_t next_ = 0;
  std::map<char*, Block> blocks_;
};

struct FarEvent final : DeviceEvent {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;

  void set() {
    const std::lock_guard lock(mutex);
    is_done = true;
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return is_done; });
  }
};

// Does work later, in the order in which it was given.
class Stream {
 public:
  Stream() : thread_([this] { loop(); }) {}
  ~Stream() {
    give(nullptr);
    thread_.join();
  }

  void give(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    changed_.notify_all();
  }
  std::shared_ptr<FarEvent> record() {
    auto event = std::make_shared<FarEvent>();
    give([event] { event->set(); });
    return event;
  }

 private:
  void loop() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !work_.empty(); });
        work = std::move(work_.front());
        work_.pop_front();
      }
      if (work == nullptr) return;
      std::this_thread::yield();  // a caller that does not wait goes first
      work();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  std::thread thread_;
};

class FarDevice final : public Device {
 public:
  void* allocate(size_t bytes) override {
    return FarMemory::instance().allocate(bytes);
  }
  void release(void* data, size_t /*bytes*/) override {
    stream.give([data] { FarMemory::instance().release(data); });
  }
  Status upload(const void* host, void* data, size_t bytes) override {
    const std::string copy(static_cast<const char*>(host), bytes);
    stream.give([copy, to = FarMemory::instance().find(data)] {
      std::memcpy(to, copy.data(), copy.size());
    });
    return ok_status();
  }
  Status download(const void* data, void* host, size_t bytes) override {
    static const char* const fails = std::getenv("GT_FAR_FAILS");
    if (fails != nullptr && ++downloads_ == std::atoi(fails)) {
      return Error{"the far device has lost its memory"};
    }
    stream.give([from = FarMemory::instance().find(data), host, bytes] {
      std::memcpy(host, from, bytes);
    });
    return finish();
  }
  Status copy(const void* from, void* to, size_t bytes) override {
    FarMemory& memory = FarMemory::instance();
    stream.give([from = memory.find(from), to = memory.find(to), bytes] {
      std::memcpy(to, from, bytes);
    });
    return ok_status();
  }
  std::shared_ptr<DeviceEvent> record() override { return stream.record(); }
  void wait_for(const DeviceEvent& event) override {
    // The run that owns the event keeps it as long as the stream works.
    auto& mine = const_cast<FarEvent&>(static_cast<const FarEvent&>(event));
    stream.give([&mine] { mine.wait(); });
  }
  Status finish() override {
    stream.record()->wait();
    return ok_status();
  }

  Stream stream;

 private:
  int downloads_ = 0;
};

// These kernels never fail, so they may run later.
constexpr std::string_view kLater[] = {
    "add",   "sub",    "mul",  "neg",    "relu",      "tanh",
    "exp",   "sum",    "mean", "matmul", "transpose", "reshape",
    "slice", "concat", "cast", "full"};

class FarKernel final : public Kernel {
 public:
  FarKernel(const Call& call, std::unique_ptr<Kernel> kernel, FarDevice& device,
            size_t* count)
      : kernel_(std::move(kernel)), device_(device), count_(count) {
    may_fail_ = std::find(std::begin(kLater), std::end(kLater),
                          call.op->name) == std::end(kLater);
    for (const Argument& a : call.arguments) literals_.push_back(a.literal);
  }

  ~FarKernel() override { (void)device_.finish(); }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    auto work = std::make_shared<Work>();
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i] != nullptr && literals_[i]) {
        work->numbers.emplace_back();
        std::memcpy(&work->numbers.back(), in[i], sizeof(uint64_t));
        work->in.push_back(&work->numbers.back());
      } else {
        work->in.push_back(in[i] == nullptr ? nullptr : find(in[i]));
      }
    }
    for (void* data : out) work->out.push_back(find(data));
    if (count_ != nullptr) ++*count_;
    if (!may_fail_) {
      device_.stream.give([this, work] { GT_CHECK(run(*work).ok()); });
      return ok_status();
    }
    if (Status s = device_.finish(); !s.ok()) return s;
    return run(*work);
  }
  bool in_place(size_t operand, size_t result) const override {
    return kernel_->in_place(operand, result);
  }

 private:
  struct Work {
    std::vector<const void*> in;
    std::vector<void*> out;
    std::deque<uint64_t> numbers;
  };
  static char* find(const void* address) {
    char* data = FarMemory::instance().find(address);
    GT_CHECK(data != nullptr);  // an address of the host is wrong here
    return data;
  }
  Status run(const Work& work) { return kernel_->run(work.in, work.out); }

  std::unique_ptr<Kernel> kernel_;
  FarDevice& device_;
  size_t* count_;
  bool may_fail_ = false;
  std::vector<bool> literals_;
};

class FarBackend final : public Backend {
 public:
  ~FarBackend() override {
    (void)device_.finish();
    const char* file = std::getenv("GT_FAR_COUNT");
    if (file == nullptr) return;
    if (std::FILE* out = std::fopen(file, "a")) {
      (void)std::fprintf(out, "add %zu\n", adds_);
      (void)std::fclose(out);
    }
  }
  std::string_view name() const override { return "far"; }
  Device& device() override { return device_; }
  std::unique_ptr<Kernel> prepare(const Call& call) override {
    auto kernel = ref::kernel_of(call);
    if (kernel == nullptr) return nullptr;
    return std::make_unique<FarKernel>(
        call, std::move(kernel), device_,
        call.op->name == "add" ? &adds_ : nullptr);
  }

 private:
  FarDevice device_;
  size_t adds_ = 0;
};

Result<std::unique_ptr<Backend>> make(const BackendOptions& /*options*/) {
  return std::unique_ptr<Backend>(std::make_unique<FarBackend>());
}

}  // namespace
}  // namespace gt::exec

extern "C" {
extern const gt::exec::BackendPlugin gt_backend;
const gt::exec::BackendPlugin gt_backend{.make = gt::exec::make};
}

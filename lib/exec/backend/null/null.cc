#include "exec/backend/null/null.h"

#include <cstring>

namespace gt::exec {
namespace {

class NullKernel final : public Kernel {
 public:
  Status run(std::span<const void* const> /*in*/,
             std::span<void* const> /*out*/) override {
    return ok_status();
  }
};

// An address that nobody follows, as if there were so many bytes at it.
class NullDevice final : public Device {
 public:
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

 private:
  static constexpr uintptr_t kMost = uintptr_t{1} << 60;
};

class NullBackend final : public Backend {
 public:
  std::string_view name() const override { return "null"; }
  std::unique_ptr<Kernel> prepare(const Call& /*call*/) override {
    return std::make_unique<NullKernel>();
  }
  Device& device() override { return device_; }

 private:
  NullDevice device_;
};

}  // namespace

std::unique_ptr<Backend> make_null_backend() {
  return std::make_unique<NullBackend>();
}

}  // namespace gt::exec

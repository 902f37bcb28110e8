#include "exec/memory/host_device.h"

#include <cstring>

#include "exec/memory/arena.h"
#include "exec/memory/memory.h"

namespace gt::exec {
namespace {

Status copy_bytes(const void* from, void* to, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return ok_status();
}

// Reads values where they lie. It need not wait, since a value on the host is
// complete when the work that makes it returns.
class HostReader final : public DeviceReader {
 public:
  Status read(const void* data, size_t bytes, const DeviceEvent* /*behind*/,
              const TensorBytes::Take& take) override {
    return take(data, bytes);
  }
};

}  // namespace

std::unique_ptr<DeviceReader> HostDevice::make_reader() {
  return std::make_unique<HostReader>();
}

void* HostDevice::allocate(size_t bytes) {
  return arena_ == nullptr ? allocate_aligned(bytes) : arena_->allocate(bytes);
}

void HostDevice::release(void* data, size_t bytes) {
  if (arena_ == nullptr) return release_aligned(data);
  arena_->release(data, bytes);
}

Status HostDevice::upload(const void* host, void* data, size_t bytes) {
  return copy_bytes(host, data, bytes);
}

Status HostDevice::download(const void* data, void* host, size_t bytes) {
  return copy_bytes(data, host, bytes);
}

Status HostDevice::copy(const void* from, void* to, size_t bytes) {
  return copy_bytes(from, to, bytes);
}

}  // namespace gt::exec

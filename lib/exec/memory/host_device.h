// HostDevice is the memory of this process as a device: the heap, or an arena
// that other processes can map (arena.h). All work is done when a call returns.
#pragma once

#include "exec/memory/device.h"

namespace gt::exec {

class Arena;

class HostDevice final : public Device {
 public:
  // `arena` must outlive the device; null means the heap.
  explicit HostDevice(Arena* arena) : arena_(arena) {}

  void* allocate(size_t bytes) override;
  void release(void* data, size_t bytes) override;
  bool is_host() const override { return true; }
  Status upload(const void* host, void* data, size_t bytes) override;
  Status fill(void* data, size_t /*bytes*/, const Write& write) override {
    return write(data);
  }
  Status download(const void* data, void* host, size_t bytes) override;
  std::unique_ptr<DeviceReader> make_reader() override;
  Status copy(const void* from, void* to, size_t bytes) override;
  Result<const void*> view(const void* data, size_t /*bytes*/,
                           std::vector<char>& /*scratch*/) override {
    return data;
  }

 private:
  Arena* arena_;
};

}  // namespace gt::exec

// Where the values of a backend live: in memory of this process, on a GPU, or
// nowhere. Whoever reads or writes a value outside of a kernel asks its Device,
// so that nothing but a kernel follows an address of a GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.h"

namespace gt::exec {

// A point in the order of what a thread gave a device: an event of CUDA.
class DeviceEvent {
 public:
  DeviceEvent() = default;
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  virtual ~DeviceEvent() = default;
};

// A device may do its work later than it is told to, in the order in which it
// was told. One thread runs the kernels of a backend; that thread calls all of
// this but allocate(), and its copies and events are in order with its kernels.
// An Error is about the device itself, never about a value.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  // Memory that kernels can use, aligned to 64 bytes; null when there is none.
  // Offsets may be added to an address. Any thread.
  virtual void* allocate(size_t bytes) = 0;
  // Once what was given to the device before is done.
  virtual void release(void* data, size_t bytes) = 0;

  // Whether the host may follow an address, so that values need no copy.
  virtual bool is_host() const { return false; }
  // False when values hold nothing (null): files are neither read nor written.
  virtual bool has_data() const { return true; }

  // From the host to the device. The host's bytes may change afterwards.
  virtual Status upload(const void* host, void* data, size_t bytes) = 0;
  // From the device to the host. The bytes are there afterwards.
  virtual Status download(const void* data, void* host, size_t bytes) = 0;
  // From one value to another, which do not overlap.
  virtual Status copy(const void* from, void* to, size_t bytes) = 0;

  // A value where the host can read it: where it lies, or a copy in `scratch`;
  // null when values hold nothing and count as zeros.
  virtual Result<const void*> view(const void* data, size_t bytes,
                                   std::vector<char>& scratch) {
    scratch.resize(bytes);
    const Status s = download(data, scratch.data(), bytes);
    if (!s.ok()) return s.error();
    return static_cast<const void*>(scratch.data());
  }

  // The point that this thread's work has come to; null where work is done as
  // soon as it is told.
  virtual std::shared_ptr<DeviceEvent> record() { return nullptr; }
  // What this thread gives the device from now on is done after that event, of
  // another backend of the same device.
  virtual void wait_for(const DeviceEvent& /*event*/) {}
  // Sleeps until all that this thread gave the device is done.
  virtual Status finish() { return ok_status(); }
};

}  // namespace gt::exec

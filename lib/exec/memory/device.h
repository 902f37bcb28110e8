// A device is where the values of a backend live: memory of this process (the
// host's), a GPU, or nowhere (null). Code outside of kernels reads and writes
// values through their Device, so only kernels dereference an address of a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/memory/device_link.h"
#include "file/tensor_bytes.h"

namespace gt::exec {

// A point in the work that one thread has given a device, such as a CUDA event.
class DeviceEvent {
 public:
  DeviceEvent() = default;
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  virtual ~DeviceEvent() = default;
};

// A copy of a value's bytes to the host that is under way. The value may be
// overwritten meanwhile. Must not outlive the device.
class DeviceDownload {
 public:
  DeviceDownload() = default;
  DeviceDownload(const DeviceDownload&) = delete;
  DeviceDownload& operator=(const DeviceDownload&) = delete;
  virtual ~DeviceDownload() = default;

  // True if the copy is done or has failed. With `waits`, waits for that and
  // returns true.
  virtual bool is_done(bool waits) = 0;
  // Returns the address where the host can read the bytes while this object
  // lives, or the copy's error. Valid once is_done().
  virtual Result<const void*> data() const = 0;
};

// Reads values on a thread of its own, beside the work that the device's thread
// gives the device. Must not outlive the device.
class DeviceReader {
 public:
  DeviceReader() = default;
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;
  virtual ~DeviceReader() = default;

  // Passes a value's bytes to `take` in order, once the work before `behind` is
  // done. A null `behind` means that the device works at once, so nothing is
  // waited for. Nobody may write to the value meanwhile.
  virtual Status read(const void* data, size_t bytes, const DeviceEvent* behind,
                      const TensorBytes::Take& take) = 0;
};

// Work that a device has recorded and can repeat as one piece, such as a CUDA
// graph. Must not outlive the device.
class DeviceRecording {
 public:
  DeviceRecording() = default;
  DeviceRecording(const DeviceRecording&) = delete;
  DeviceRecording& operator=(const DeviceRecording&) = delete;
  virtual ~DeviceRecording() = default;
};

// A device may do its work later than it is told to, but does it in the order
// in which one thread told it. Each backend has a Device, and one thread runs
// its kernels: that of the compute queue, or the communication thread. Only
// that thread calls upload(), fill(), download(), begin_download(), copy(),
// view(), record(), wait_for(), finish(), the functions of checks and
// recordings and, until it has ended, release(); these calls are in order with
// its kernels. Any thread may call allocate(), is_host() and has_data().
//
// Devices of one kind share their memory: what the Device of the compute
// backend has allocated, that of the communication thread can read and write.
//
// An Error is about the device itself, never about a value.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  // Allocates memory that kernels can use, aligned to 64 bytes; null if there
  // is none. Offsets may be added to an address. Any thread may call it.
  virtual void* allocate(size_t bytes) = 0;
  // Frees memory that allocate(bytes) returned, once the work given to the
  // device before is done.
  virtual void release(void* data, size_t bytes) = 0;

  // True if the CPU can read and write at the device's addresses, and so also
  // in an arena (arena.h). If so, values are read and written in place, also by
  // other workers of this host. If not, everything that is not a kernel copies
  // them with upload() and download().
  virtual bool is_host() const { return false; }
  // False if values have no contents, as on the null backend. Then no file is
  // read or written, and no bytes go from worker to worker.
  virtual bool has_data() const { return true; }
  // Called when the communication thread of worker `self` has received so many
  // bytes from these workers for a step of an exchange. A device without data
  // sleeps here for as long as the link of the machine that it stands for would
  // take.
  virtual void brought(size_t /*bytes*/, unsigned /*self*/,
                       const std::vector<unsigned>& /*from*/) {}
  // A device may keep the time of the machine that it stands for (gt-work
  // --pace), so that nothing takes longer for what workers take themselves.
  // done_at() returns when that machine is done with all that the device was
  // given, in nanoseconds of the steady clock; 0: it keeps no time. begin_at()
  // says that what comes next waits for what is there at this time; was_idle(),
  // that there was nothing to do until now.
  virtual uint64_t done_at() const { return 0; }
  virtual void begin_at(uint64_t /*time*/) {}
  virtual void was_idle() {}

  // Copies from the host to the device. The host's bytes may change as soon as
  // the call returns.
  virtual Status upload(const void* host, void* data, size_t bytes) = 0;
  // Does the same with bytes that `write` writes to host memory, whose address
  // it gets. If `write` fails, nothing is copied and its error is returned.
  using Write = std::function<Status(void* host)>;
  virtual Status fill(void* data, size_t bytes, const Write& write) {
    std::vector<char> written(bytes);
    const Status s = write(written.data());
    return s.ok() ? upload(written.data(), data, bytes) : s;
  }
  // Copies from the device to the host. The bytes are there when the call
  // returns.
  virtual Status download(const void* data, void* host, size_t bytes) = 0;
  // Begins to copy from the device to the host. Null if download() or view()
  // must be called instead: there is nothing to wait for, there is no room for
  // the copy, or there is an error, which those calls return.
  virtual std::shared_ptr<DeviceDownload> begin_download(const void* /*data*/,
                                                         size_t /*bytes*/) {
    return nullptr;
  }
  // Makes a reader for a thread of its own; null if values can only be read
  // with view().
  virtual std::unique_ptr<DeviceReader> make_reader() { return nullptr; }
  // Copies from one value to another; the two must not overlap.
  virtual Status copy(const void* from, void* to, size_t bytes) = 0;

  // Returns an address where the host can read the value now: the value itself,
  // or a copy in `scratch`. Null if values have no contents; they count as
  // zeros.
  virtual Result<const void*> view(const void* data, size_t bytes,
                                   std::vector<char>& scratch) {
    scratch.resize(bytes);
    const Status s = download(data, scratch.data(), bytes);
    if (!s.ok()) return s.error();
    return static_cast<const void*>(scratch.data());
  }

  // Returns the point behind all work that this thread has given the device so
  // far; null if the device works at once.
  virtual std::shared_ptr<DeviceEvent> record() { return nullptr; }
  // Makes the work that this thread gives the device from now on begin after an
  // event, which another Device of the same kind has recorded. Does not sleep.
  virtual void wait_for(const DeviceEvent& /*event*/) {}
  // puts_off() is true if the device can delay the work that it is given, to do
  // several things as one. It does so after allow_delay(), until it is told
  // something that needs the work, or flush() is called.
  virtual bool puts_off() const { return false; }
  virtual void allow_delay() {}
  virtual void flush() {}
  // Must be called when there is no more work for now and the thread that
  // allowed a delay would sleep. Begins the delayed work, unless the device is
  // still busy with earlier work. In that case more work may join it, and the
  // result is true: the call must be repeated soon.
  virtual bool holds_back() { return false; }
  // Says that the value at this address, which allocate() returned, will not be
  // read before it is written again.
  virtual void forget(const void* /*data*/) {}
  // Sleeps until all work that this thread gave the device is done.
  virtual Status finish() { return ok_status(); }

  // Tells the device that the work it is given from now on belongs to task
  // number `task`, so that loss() can name the task.
  virtual void begin(uint64_t /*task*/) {}
  // Why the device has stopped working for good. All values are lost with it.
  struct Loss {
    std::string why;
    uint64_t task = 0;  // the task that it began last; 0: not known
  };
  virtual std::optional<Loss> loss() const { return std::nullopt; }

  // True if a kernel may return before it is known whether its data is bad
  // (Kernel::run()). Such a kernel leaves a check.
  virtual bool leaves_checks() const { return false; }
  // Returns how many checks this thread's kernels have left that were not taken
  // yet.
  virtual size_t checks() const { return 0; }
  // Takes the oldest check; there must be one. Returns what Kernel::run() would
  // have returned, or none if that is not known yet. With `waits`, waits until
  // it is known.
  virtual std::optional<Status> take_check(bool /*waits*/) {
    return ok_status();
  }

  // True if the device can record work and repeat it.
  virtual bool records() const { return false; }
  // From now on records the work that kernels give the device instead of doing
  // it. Until end_recording(), only begin(), forget() and kernels that may be
  // recorded are called; begin() gets the tasks' numbers from 0 on. All these
  // kernels have run before, so what they keep on the device is there already.
  virtual Status begin_recording() { return Error{"it records nothing"}; }
  // Ends the recording and returns it. `old` is null or a recording that is no
  // longer needed, which may be reused for the new one. With `keeps` false,
  // what was recorded is dropped and the result is null.
  virtual Result<std::unique_ptr<DeviceRecording>> end_recording(
      bool /*keeps*/, std::unique_ptr<DeviceRecording> /*old*/) {
    return Error{"it records nothing"};
  }
  // Does the recorded work, with its checks, as the tasks numbered from `task`
  // on. On an Error, nothing was done.
  virtual Status replay(DeviceRecording& /*recording*/, uint64_t /*task*/) {
    return Error{"it records nothing"};
  }

  // True if the device can tell when it did its work. Then the work given
  // between begin_span() and end_span() is a span.
  virtual bool keeps_time() const { return false; }
  virtual void begin_span() {}
  virtual void end_span() {}
  // When a span began and ended, in nanoseconds of the system's steady clock.
  // No span begins before the previous one has ended.
  struct Span {
    uint64_t start = 0;
    uint64_t end = 0;
  };
  // Takes the oldest span as take_check() takes a check; there must be one. A
  // span whose times are not known has a length of 0.
  virtual std::optional<Span> take_span(bool /*waits*/) { return Span{}; }

  // Makes a link to the devices of other workers for each kind of link that the
  // device could have, the best first. An Error says why there is no link of
  // that kind here.
  virtual std::vector<Result<std::unique_ptr<DeviceLink>>> make_links() {
    return {};
  }
};

}  // namespace gt::exec

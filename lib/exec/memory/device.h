// A device is where the values of a backend live: memory of this process (the
// host's), a GPU, or nowhere (null). Whoever reads or writes a value outside of
// a kernel asks its Device, so that nothing but a kernel follows an address of
// a GPU.
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

// A point in the work that one thread has given a device, such as an event of
// CUDA.
class DeviceEvent {
 public:
  DeviceEvent() = default;
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  virtual ~DeviceEvent() = default;
};

// Bytes of a value on their way to the host. The value may be written over
// meanwhile. It does not outlive the device.
class DeviceDownload {
 public:
  DeviceDownload() = default;
  DeviceDownload(const DeviceDownload&) = delete;
  DeviceDownload& operator=(const DeviceDownload&) = delete;
  virtual ~DeviceDownload() = default;

  // Whether they are there, or are known never to be; with `waits` they are.
  virtual bool is_done(bool waits) = 0;
  // Once that is so: where the host can read them, as long as this lives.
  virtual Result<const void*> data() const = 0;
};

// Reads values beside what the thread of the device gives it, on a thread of
// its own. It does not outlive the device.
class DeviceReader {
 public:
  DeviceReader() = default;
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;
  virtual ~DeviceReader() = default;

  // Gives a value's bytes to `take` in their order, once the work before
  // `behind` is done, which is null if it was done as it was given. Nobody
  // writes to the value meanwhile.
  virtual Status read(const void* data, size_t bytes, const DeviceEvent* behind,
                      const TensorBytes::Take& take) = 0;
};

// Work that a device has recorded, to be done again as one piece, such as a
// graph of CUDA. It does not outlive the device.
class DeviceRecording {
 public:
  DeviceRecording() = default;
  DeviceRecording(const DeviceRecording&) = delete;
  DeviceRecording& operator=(const DeviceRecording&) = delete;
  virtual ~DeviceRecording() = default;
};

// A device may do its work later than it is told to, in the order in which one
// thread told it. Each backend has a Device, and one thread runs its kernels:
// that of the compute queue, or the communication thread. That thread alone
// calls upload(), fill(), download(), begin_download(), copy(), view(),
// record(), wait_for(), finish(), those of checks and of recordings and, until
// it has ended, release(); they are in order with its kernels. Any thread may
// call allocate(), is_host() and has_data().
//
// Devices of one kind share their memory: what the Device of the backend that
// computes has allocated, that of the communication thread reads and writes.
//
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
  // Frees what allocate() gave for as many bytes, once the work that the device
  // was given before is done.
  virtual void release(void* data, size_t bytes) = 0;

  // Whether the CPU can read and write at the device's addresses, and so at
  // those of an arena (arena.h). If it can, values are read and written where
  // they lie; other workers of this host, too, read them there. If not, all
  // that is not a kernel copies them with upload() and download().
  virtual bool is_host() const { return false; }
  // False when values hold nothing, as those of the null backend. Then no file
  // is read or written, and no bytes go from worker to worker.
  virtual bool has_data() const { return true; }
  // The communication thread has got so many bytes from other workers for a
  // step of an exchange. A device without data sleeps here as long as the link
  // of a machine that it stands for would take.
  virtual void brought(size_t /*bytes*/) {}

  // Copies from the host to the device. The host's bytes may change as soon as
  // it has returned.
  virtual Status upload(const void* host, void* data, size_t bytes) = 0;
  // The same of bytes that `write` writes to memory of the host, which it is
  // given. If that fails nothing is copied, and its error is returned.
  using Write = std::function<Status(void* host)>;
  virtual Status fill(void* data, size_t bytes, const Write& write) {
    std::vector<char> written(bytes);
    const Status s = write(written.data());
    return s.ok() ? upload(written.data(), data, bytes) : s;
  }
  // Copies from the device to the host. The bytes are there when it returns.
  virtual Status download(const void* data, void* host, size_t bytes) = 0;
  // Begins to copy from the device to the host. Null where download() or view()
  // is to be called instead: there is nothing to wait for, no room, or
  // something is wrong, which these say.
  virtual std::shared_ptr<DeviceDownload> begin_download(const void* /*data*/,
                                                         size_t /*bytes*/) {
    return nullptr;
  }
  // Who reads values on a thread of its own; null where view() alone can.
  virtual std::unique_ptr<DeviceReader> make_reader() { return nullptr; }
  // Copies from one value to another; they do not overlap.
  virtual Status copy(const void* from, void* to, size_t bytes) = 0;

  // An address where the host can read the value now: where it lies, or a copy
  // in `scratch`; null when values hold nothing and count as zeros.
  virtual Result<const void*> view(const void* data, size_t bytes,
                                   std::vector<char>& scratch) {
    scratch.resize(bytes);
    const Status s = download(data, scratch.data(), bytes);
    if (!s.ok()) return s.error();
    return static_cast<const void*>(scratch.data());
  }

  // The point behind all that this thread has given the device so far; null
  // where work is done as soon as it is told.
  virtual std::shared_ptr<DeviceEvent> record() { return nullptr; }
  // Lets what this thread gives the device from now on begin after an event,
  // which another Device of the same kind has recorded. It does not sleep.
  virtual void wait_for(const DeviceEvent& /*event*/) {}
  // Whether it would put off what it is given, to do several things as one. It
  // does so once it may, until it is told anything that needs them, or flush().
  virtual bool puts_off() const { return false; }
  virtual void allow_delay() {}
  virtual void flush() {}
  // There is nothing to give it now, and who allowed a delay would sleep. It
  // begins what was put off, unless it is busy with what came before: then more
  // may come yet, and true says that it is to be asked again soon.
  virtual bool holds_back() { return false; }
  // What was written there is read no more before it is written anew. The
  // address is one that allocate() gave.
  virtual void forget(const void* /*data*/) {}
  // Sleeps until all that this thread gave the device is done.
  virtual Status finish() { return ok_status(); }

  // Tells the device that what it is given from now on is of that task, so that
  // loss() can name it.
  virtual void begin(uint64_t /*task*/) {}
  // Why the device can do nothing any more, and with it all values are lost.
  struct Loss {
    std::string why;
    uint64_t task = 0;  // that it had begun last; 0: it does not know
  };
  virtual std::optional<Loss> loss() const { return std::nullopt; }

  // Whether a kernel may return before it is known if its data is wrong
  // (Kernel::run()). Then it has left a check.
  virtual bool leaves_checks() const { return false; }
  // How many checks this thread's kernels have left that were not taken yet.
  virtual size_t checks() const { return 0; }
  // Takes the oldest of them, of which there is one: what Kernel::run() would
  // have returned. None as long as it is not known; with `waits` it is known.
  virtual std::optional<Status> take_check(bool /*waits*/) {
    return ok_status();
  }

  // Whether it can do work again that it has recorded.
  virtual bool records() const { return false; }
  // What kernels give it from now on is not done but recorded, which nothing
  // but begin() and kernels that may be recorded is called for; begin() gets
  // the tasks' numbers from 0 on. They have all run before, so that what they
  // keep on the device is there.
  virtual Status begin_recording() { return Error{"it records nothing"}; }
  // The recording ends. `old` is null or one that is needed no more, which may
  // become the new one. With `keeps` false there is none.
  virtual Result<std::unique_ptr<DeviceRecording>> end_recording(
      bool /*keeps*/, std::unique_ptr<DeviceRecording> /*old*/) {
    return Error{"it records nothing"};
  }
  // Does what was recorded, with its checks, as the tasks from `task` on. After
  // an Error nothing of it was done.
  virtual Status replay(DeviceRecording& /*recording*/, uint64_t /*task*/) {
    return Error{"it records nothing"};
  }

  // Whether it can say when it did its work; then what the thread gives it
  // between begin_span() and end_span() is a span.
  virtual bool keeps_time() const { return false; }
  virtual void begin_span() {}
  virtual void end_span() {}
  // Nanoseconds of the system's steady clock. No span begins before the one
  // that came before it has ended.
  struct Span {
    uint64_t start = 0;
    uint64_t end = 0;
  };
  // Takes the oldest of them, of which there is one, as take_check() does. One
  // whose times cannot be told takes none.
  virtual std::optional<Span> take_span(bool /*waits*/) { return Span{}; }

  // Links to the devices of other workers, of each kind that the device could
  // have, the best first. Error: why there is none of that kind here.
  virtual std::vector<Result<std::unique_ptr<DeviceLink>>> make_links() {
    return {};
  }
};

}  // namespace gt::exec

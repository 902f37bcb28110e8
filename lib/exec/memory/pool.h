// Pool hands out the memory of values, in size classes. Of the free buffers of
// a class it hands out the one with the smallest number, whatever the order was
// in which they became free. So a loop that begins a round with the same
// buffers in use as the round before gets the same buffers in all of the round,
// and a device that has recorded the round can replay it. If the buffer that
// was freed last were handed out, values would move around from round to round
// for ever.
//
// All of it belongs to the enqueuing thread, so reference counts are plain
// integers. When a register lets go of a buffer and nothing else refers to it,
// the buffer may be handed out again at once, even if tasks that use it have
// not run yet: whatever writes to it next is enqueued behind them, and the
// queue is in order. An exchange runs beside that queue, so it holds a
// reference to each buffer that it uses until it is over (worker/exchanges.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/number_pool.h"
#include "base/number_set.h"
#include "exec/memory/device.h"
#include "exec/memory/value.h"
#include "stream/type.h"

namespace gt::exec {

namespace comm {
struct ExchangeRun;
}

// A piece of memory for a value, in use or free.
struct Buffer {
  Value* value = nullptr;
  // The exchange that makes this buffer's value, until compute waits for it.
  comm::ExchangeRun* pending = nullptr;
  uint32_t references = 0;
  uint32_t size_class = 0;
  size_t number = 0;  // among the buffers of its size class
  // True if the buffer holds, or will hold, an integer scalar that the
  // enqueuing thread knows already; `known` has its bytes
  // (worker/known_integers.h).
  bool is_known = false;
  uint64_t known = 0;
};

// Size classes are multiples of 64 bytes up to 1 KiB, then eight for each
// doubling, so at most an eighth is wasted and powers of two fit exactly.
// size_class_of() returns the smallest class with room for `bytes`.
uint32_t size_class_of(size_t bytes);
size_t class_bytes(uint32_t size_class);

class Pool {
 public:
  // The queue whose tasks use the memory. Memory goes back to the device
  // through the queue, behind the tasks that use it.
  class Owner {
   public:
    virtual ~Owner() = default;
    // Gives a value's memory back to the device once everything enqueued before
    // has run.
    virtual void release_later(std::unique_ptr<Value> value, size_t bytes) = 0;
    // Says that what is enqueued from now on does not read the value before it
    // is written again. Called only if the device delays its work
    // (Device::puts_off()).
    virtual void forget(const Value& /*value*/) {}
    // Waits until the queue is empty, so that released memory has been given
    // back.
    virtual void drain() = 0;
    // Ends the queue's thread, once everything enqueued has run.
    virtual void end() {}
    // Waits until users beside the queue (exchanges, saves) have dropped some
    // buffers. False if they hold none.
    virtual bool reclaim() { return false; }
  };

  // `limit` is the most bytes that buffers in use may have in all, as the user
  // has set it; 0 means that `granted` is the limit, which is what the machine
  // grants, or 0 for no limit.
  Pool(Device& device, Owner& owner, size_t limit, size_t granted = 0);
  ~Pool();  // ends the queue
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Returns a buffer with no references yet. Waits for Owner::reclaim() if
  // there is no memory; null if there is none even so.
  Buffer* allocate(uint32_t size_class) {
    if (!over_limit(size_class)) {
      if (Buffer* buffer = take_free(size_class)) return buffer;
    }
    return allocate_slow(size_class);
  }
  // Takes back a buffer that has no reference.
  void release(Buffer* buffer) {
    used_ -= class_bytes_[buffer->size_class];
    classes_[buffer->size_class]->free.add(buffer->number);
    if (tells_) owner_.forget(*buffer->value);
  }
  static void retain(Buffer* buffer) { ++buffer->references; }
  void drop(Buffer* buffer) {
    if (--buffer->references == 0) release(buffer);
  }

  // Returns the message for a value of this type, of `bytes` bytes, for which
  // there is no memory: "out of memory: f32[1000,1000] needs 3.8 MiB, 1 GiB in
  // use".
  std::string shortage(const Type& type, size_t bytes) const;

  size_t used() const { return used_; }
  size_t peak() const { return std::max(peak_, window_peak_); }
  // Returns the bytes taken from the device, free or in use.
  size_t held() const { return held_; }
  size_t limit() const { return limit_; }

 private:
  static constexpr uint32_t kClasses = 16 + 8 * 51;
  static constexpr size_t kSlab = size_t{64} << 10;
  // Buffers of up to so many bytes are cut from slabs.
  static constexpr uint32_t kSmall = 4096;

  struct SizeClass {
    NumberPool numbers;            // of all buffers of the class
    NumberSet free;                // those of free buffers
    std::vector<Buffer*> buffers;  // by their numbers
  };

  bool over_limit(uint32_t size_class) const {
    return limit_ != 0 && used_ + class_bytes_[size_class] > limit_;
  }
  void count(uint32_t size_class) {
    used_ += class_bytes_[size_class];
    handed_out_ += class_bytes_[size_class];
    if (used_ > window_peak_) window_peak_ = used_;
  }
  size_t used_lately();
  Buffer* take_free(uint32_t size_class) {
    SizeClass* of = classes_[size_class].get();
    if (of == nullptr) return nullptr;
    const size_t number = of->free.take();
    if (number == NumberSet::kNone) return nullptr;
    Buffer* buffer = of->buffers[number];
    buffer->is_known = false;
    count(size_class);
    return buffer;
  }
  Buffer* allocate_slow(uint32_t size_class);
  Buffer* allocate_new(uint32_t size_class);
  Buffer* take_slab(uint32_t size_class);
  void* obtain(size_t bytes);
  void trim(size_t target);
  Buffer* add_buffer(uint32_t size_class, Value* value);

  Device& device_;
  Owner& owner_;
  size_t limit_;
  bool is_granted_;  // the limit is the machine's, and not the user's
  bool tells_;       // Owner::forget() must be called for each free buffer
  size_t used_ = 0;
  size_t peak_ = 0;  // before this window
  // used_lately() counts in windows of so many bytes handed out.
  size_t handed_out_ = 0;  // in this window
  size_t window_peak_ = 0;
  size_t earlier_peak_ = 0;  // in the window before
  size_t held_ = 0;
  // Null until the first buffer of the class: a process may play a thousand
  // workers, and each has a pool.
  std::array<std::unique_ptr<SizeClass>, kClasses> classes_;
  std::array<size_t, kClasses> class_bytes_{};
  std::deque<Buffer> headers_;  // stable addresses
  std::vector<Buffer*> spare_headers_;
  std::vector<void*> slabs_;
  std::vector<std::unique_ptr<Value[]>> slab_values_;
};

}  // namespace gt::exec

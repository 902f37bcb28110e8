// Pool hands out the memory of values, in size classes with free lists.
//
// All of it belongs to the enqueuing thread, so reference counts are plain
// integers. When a register lets go of a buffer and nothing else refers to it,
// the buffer may be handed out again at once, even if tasks that use it have
// not run yet: whatever writes to it next is enqueued behind them, and the
// queue is in order. An exchange runs beside that queue, so it holds a
// reference to each buffer that it uses until it is over (worker/exchanges.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

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
  Buffer* next = nullptr;  // neighbours in a free list
  Buffer* before = nullptr;
  bool is_free = false;  // in a free list
  // The exchange that makes this buffer's value, until compute waits for it.
  comm::ExchangeRun* pending = nullptr;
  uint32_t references = 0;
  uint32_t size_class = 0;
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

// The two buffers that a line last had for one of its values, two since steps
// may alternate. When the line comes again it gets the same memory if that is
// free. So a loop uses the same addresses in each round, and a device that has
// recorded its work can replay it.
struct LastUsed {
  Buffer* last = nullptr;
  Buffer* earlier = nullptr;
};

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

  // `limit` is the most bytes that buffers in use may have in all; 0 means no
  // limit.
  Pool(Device& device, Owner& owner, size_t limit);
  ~Pool();  // ends the queue
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Returns a buffer with no references yet. Waits for Owner::reclaim() if
  // there is no memory; null if there is none even so.
  Buffer* allocate(uint32_t size_class) {
    Buffer* buffer = free_[size_class];
    if (buffer == nullptr || over_limit(size_class)) {
      return allocate_slow(size_class);
    }
    take(buffer);
    return buffer;
  }
  // Does the same, but prefers a buffer that the line used before, if one is
  // free.
  Buffer* allocate(uint32_t size_class, LastUsed& used) {
    Buffer* buffer = used.last;
    if (!may_take(buffer, size_class)) buffer = used.earlier;
    if (may_take(buffer, size_class)) {
      take(buffer);
    } else {
      buffer = allocate(size_class);
    }
    if (buffer != used.last) used = {buffer, used.last};
    return buffer;
  }
  // Takes back a buffer that has no reference.
  void release(Buffer* buffer) {
    used_ -= class_bytes_[buffer->size_class];
    add_free(buffer);
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
  size_t peak() const { return peak_; }
  // Returns the bytes taken from the device, free or in use.
  size_t held() const { return held_; }
  size_t limit() const { return limit_; }

 private:
  static constexpr uint32_t kClasses = 16 + 8 * 51;
  static constexpr size_t kSlab = size_t{64} << 10;
  // Buffers of up to so many bytes are cut from slabs.
  static constexpr uint32_t kSmall = 4096;

  bool over_limit(uint32_t size_class) const {
    return limit_ != 0 && used_ + class_bytes_[size_class] > limit_;
  }
  void count(uint32_t size_class) {
    used_ += class_bytes_[size_class];
    if (used_ > peak_) peak_ = used_;
  }
  // True if a buffer that was used before can be handed out again. It may since
  // have been given to another line, or back to the device.
  bool may_take(const Buffer* buffer, uint32_t size_class) const {
    return buffer != nullptr && buffer->is_free &&
           buffer->size_class == size_class && !over_limit(size_class);
  }
  void take(Buffer* buffer) {
    remove_free(buffer);
    buffer->is_known = false;
    count(buffer->size_class);
  }
  void add_free(Buffer* buffer) {
    Buffer*& first = free_[buffer->size_class];
    buffer->next = first;
    buffer->before = nullptr;
    buffer->is_free = true;
    if (first != nullptr) first->before = buffer;
    first = buffer;
  }
  void remove_free(Buffer* buffer) {
    (buffer->before == nullptr ? free_[buffer->size_class]
                               : buffer->before->next) = buffer->next;
    if (buffer->next != nullptr) buffer->next->before = buffer->before;
    buffer->is_free = false;
  }
  Buffer* allocate_slow(uint32_t size_class);
  Buffer* allocate_new(uint32_t size_class);
  Buffer* take_slab(uint32_t size_class);
  void* obtain(size_t bytes);
  void trim(size_t target);
  Buffer* new_header();

  Device& device_;
  Owner& owner_;
  size_t limit_;
  bool tells_;  // Owner::forget() must be called for each free buffer
  size_t used_ = 0;
  size_t peak_ = 0;
  size_t held_ = 0;
  std::array<Buffer*, kClasses> free_{};
  std::array<size_t, kClasses> class_bytes_{};
  std::deque<Buffer> headers_;  // stable addresses
  Buffer* spare_headers_ = nullptr;
  std::vector<void*> slabs_;
  std::vector<std::unique_ptr<Value[]>> slab_values_;
};

}  // namespace gt::exec

// The memory of values, in size classes with free lists.
//
// All of it belongs to the thread that enqueues, so counts of references are
// plain integers. When a register lets go of a buffer and nothing else refers
// to it, the buffer is handed out again at once, though tasks that use it may
// not have run: whatever writes it next is enqueued behind them, and the queue
// is in order. An exchange runs beside that queue, so it has a reference to
// each buffer that it uses until it is over (worker/exchanges.h).
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

struct Buffer {
  Value* value = nullptr;
  Buffer* next = nullptr;  // in a free list, as is the one before it
  Buffer* before = nullptr;
  bool is_free = false;  // it is in one
  // The exchange whose result it is, while compute has not waited for that.
  comm::ExchangeRun* pending = nullptr;
  uint32_t references = 0;
  uint32_t size_class = 0;
  // Whether it is to hold an integer scalar that the thread which enqueues
  // knows already, and its bytes (worker/known_integers.h).
  bool is_known = false;
  uint64_t known = 0;
};

// Classes are multiples of 64 bytes up to 1 KiB, then eight to a doubling, so
// at most an eighth is wasted and powers of two fit exactly.
uint32_t size_class_of(size_t bytes);
size_t class_bytes(uint32_t size_class);

// Where a line last had the memory of a value that it makes, and where before
// that, for steps that take turns. When it comes again it gets the same memory
// if that is free, so that what a loop does has the same addresses in each
// round, and a device that has recorded it can do it again.
struct LastUsed {
  Buffer* last = nullptr;
  Buffer* earlier = nullptr;
};

class Pool {
 public:
  // Who enqueues what uses the memory. Memory goes back to the device behind
  // the tasks that use it, so through their queue.
  class Owner {
   public:
    virtual ~Owner() = default;
    // Gives the memory of a value back to the device once all that was
    // enqueued before has run.
    virtual void release_later(std::unique_ptr<Value> value, size_t bytes) = 0;
    // What is enqueued from now on does not read the value before it is written
    // anew. Called only where the device puts work off.
    virtual void forget(const Value& /*value*/) {}
    // Waits until the queue is empty, so that memory has been given back.
    virtual void drain() = 0;
    // Ends the queue's thread, once all that was enqueued has run.
    virtual void end() {}
    // Waits until exchanges that are over have dropped some buffers. False:
    // no exchange has any.
    virtual bool reclaim() { return false; }
  };

  // `limit`: bytes that buffers in use may have in all; 0 is no limit.
  Pool(Device& device, Owner& owner, size_t limit);
  ~Pool();  // ends the queue
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // A buffer with no references yet; null when there is no memory, nor any that
  // an exchange will give back, which is waited for.
  Buffer* allocate(uint32_t size_class) {
    Buffer* buffer = free_[size_class];
    if (buffer == nullptr || over_limit(size_class)) {
      return allocate_slow(size_class);
    }
    take(buffer);
    return buffer;
  }
  // The same, at an address that was used there before if one is free.
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
  // Takes back a buffer whose last reference is gone, or that never had one.
  void release(Buffer* buffer) {
    used_ -= class_bytes_[buffer->size_class];
    add_free(buffer);
    if (tells_) owner_.forget(*buffer->value);
  }
  static void retain(Buffer* buffer) { ++buffer->references; }
  void drop(Buffer* buffer) {
    if (--buffer->references == 0) release(buffer);
  }

  // Why there is no memory for such a value: "out of memory: f32[1000,1000]
  // needs 3.8 MiB, 1 GiB in use". `bytes` are those that it takes.
  std::string shortage(const Type& type, size_t bytes) const;

  size_t used() const { return used_; }
  size_t peak() const { return peak_; }
  size_t held() const { return held_; }  // from the device, free or used
  size_t limit() const { return limit_; }

 private:
  static constexpr uint32_t kClasses = 16 + 8 * 51;
  static constexpr size_t kSlab = size_t{64} << 10;
  static constexpr uint32_t kSmall = 4096;  // bytes; cut from slabs up to here

  bool over_limit(uint32_t size_class) const {
    return limit_ != 0 && used_ + class_bytes_[size_class] > limit_;
  }
  void count(uint32_t size_class) {
    used_ += class_bytes_[size_class];
    if (used_ > peak_) peak_ = used_;
  }
  // Of one that was used once, whatever it is now.
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
  bool tells_;  // the owner what is free
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

#include "exec/memory/pool.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace gt::exec {
namespace {

constexpr size_t kStep = 64;
constexpr uint32_t kLinear = 16;  // classes of 64 to 1024 bytes
// So much free memory is kept even if the program does not need it now.
constexpr size_t kSlack = size_t{64} << 20;
// A window of Pool::used_lately() ends when so many times the memory that is
// held was handed out: a training step hands out several times what it holds at
// most, since values that die early leave their memory to others.
constexpr size_t kWindow = 64;

// Returns a size as text, "1.5 GiB". Sizes below 1 KiB are exact.
std::string size_text(size_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit < 5; ++unit) value /= 1024;
  char digits[32];
  const int n = std::snprintf(
      digits, sizeof digits, "%.*f",
      value == static_cast<double>(static_cast<uint64_t>(value)) ? 0 : 1,
      value);
  return std::string(digits, static_cast<size_t>(n)) + " " + kUnits[unit];
}

}  // namespace

uint32_t size_class_of(size_t bytes) {
  if (bytes <= kStep * kLinear) {
    return bytes == 0 ? 0 : static_cast<uint32_t>((bytes - 1) / kStep);
  }
  // 2^n + k * 2^(n-3), k in 1 to 8, for the n with 2^n < bytes.
  const auto n = static_cast<uint32_t>(std::bit_width(bytes - 1)) - 1;
  const size_t step = size_t{1} << (n - 3);
  const auto k =
      static_cast<uint32_t>((bytes - (size_t{1} << n) + step - 1) / step);
  return kLinear + (n - 10) * 8 + k - 1;
}

size_t class_bytes(uint32_t size_class) {
  if (size_class < kLinear) return (size_class + size_t{1}) * kStep;
  const uint32_t n = (size_class - kLinear) / 8 + 10;
  const size_t k = (size_class - kLinear) % 8 + 1;
  return (size_t{1} << n) + (k << (n - 3));
}

Pool::Pool(Device& device, Owner& owner, size_t limit, size_t granted)
    : device_(device),
      owner_(owner),
      limit_(limit != 0 ? limit : granted),
      is_granted_(limit == 0),
      tells_(device.puts_off()) {
  for (uint32_t c = 0; c < kClasses; ++c) class_bytes_[c] = class_bytes(c);
}

Pool::~Pool() {
  // Buffers that are still referenced are freed too. That calls the device,
  // which only one thread may do, so the queue's thread must have ended.
  owner_.end();
  for (Buffer& buffer : headers_) {
    const size_t bytes = class_bytes_[buffer.size_class];
    if (buffer.value == nullptr || bytes <= kSmall) continue;
    device_.release(buffer.value->data, bytes);
    delete buffer.value;
  }
  for (void* slab : slabs_) device_.release(slab, kSlab);
}

// Makes a buffer of a size class, which is in use.
Buffer* Pool::add_buffer(uint32_t size_class, Value* value) {
  if (spare_headers_.empty()) {
    spare_headers_.push_back(&headers_.emplace_back());
  }
  Buffer* buffer = spare_headers_.back();
  spare_headers_.pop_back();
  auto& of = classes_[size_class];
  if (of == nullptr) of = std::make_unique<SizeClass>();
  *buffer = Buffer{};
  buffer->value = value;
  buffer->size_class = size_class;
  buffer->number = of->numbers.take();
  of->buffers.resize(std::max(of->buffers.size(), buffer->number + 1));
  of->buffers[buffer->number] = buffer;
  return buffer;
}

std::string Pool::shortage(const Type& type, size_t bytes) const {
  return "out of memory: " + to_string(type) + " needs " + size_text(bytes) +
         ", " + size_text(used_) +
         (limit_ == 0 ? "" : " of " + size_text(limit_)) + " in use" +
         (limit_ != 0 && is_granted_
              ? "; the limit is that of the container's memory, less a margin, "
                "unless --memory sets one"
              : "");
}

Buffer* Pool::allocate_slow(uint32_t size_class) {
  for (;;) {
    Buffer* buffer = over_limit(size_class) ? nullptr : take_free(size_class);
    if (buffer == nullptr) buffer = allocate_new(size_class);
    if (buffer != nullptr || !owner_.reclaim()) return buffer;
  }
}

Buffer* Pool::allocate_new(uint32_t size_class) {
  if (over_limit(size_class)) return nullptr;
  const size_t bytes = class_bytes_[size_class];
  if (bytes <= kSmall) return take_slab(size_class);
  // Gives back memory of sizes that are no longer needed. What is in use now is
  // no measure of that: a training step uses little at its begin, and will need
  // all again.
  const size_t needed = std::max(used_lately(), used_ + bytes);
  if (held_ + bytes > needed + needed / 4 + kSlack) {
    trim(needed + needed / 4 - bytes);
  }
  void* data = obtain(bytes);
  if (data == nullptr) return nullptr;
  count(size_class);
  return add_buffer(size_class, new Value{data, nullptr});
}

// Returns the most bytes that were in use at once in this window and the one
// before it.
size_t Pool::used_lately() {
  if (handed_out_ / kWindow > held_) {
    peak_ = peak();
    earlier_peak_ = window_peak_;
    window_peak_ = used_;
    handed_out_ = 0;
  }
  return std::max(earlier_peak_, window_peak_);
}

// Takes memory from the device. If that has none left, gives all free memory
// back and tries again.
void* Pool::obtain(size_t bytes) {
  if (limit_ != 0 && held_ + bytes > limit_) {
    trim(limit_ > bytes ? limit_ - bytes : 0);
    owner_.drain();
  }
  void* data = device_.allocate(bytes);
  if (data == nullptr) {
    trim(0);
    owner_.drain();
    data = device_.allocate(bytes);
  }
  if (data != nullptr) held_ += bytes;
  return data;
}

// Gives free memory back, the largest buffers first, until `target` bytes are
// held.
void Pool::trim(size_t target) {
  for (uint32_t c = kClasses; c-- > 0 && class_bytes_[c] > kSmall;) {
    SizeClass* of = classes_[c].get();
    while (of != nullptr && held_ > target) {
      const size_t number = of->free.take();
      if (number == NumberSet::kNone) break;
      of->numbers.give(number);
      Buffer* buffer = of->buffers[number];
      owner_.release_later(std::unique_ptr<Value>(buffer->value),
                           class_bytes_[c]);
      held_ -= class_bytes_[c];
      buffer->value = nullptr;
      spare_headers_.push_back(buffer);
    }
  }
}

Buffer* Pool::take_slab(uint32_t size_class) {
  auto* slab = static_cast<char*>(obtain(kSlab));
  if (slab == nullptr) return nullptr;
  slabs_.push_back(slab);
  const size_t bytes = class_bytes_[size_class];
  Value* value =
      slab_values_.emplace_back(std::make_unique<Value[]>(kSlab / bytes)).get();
  for (size_t at = 0; at + bytes <= kSlab; at += bytes, ++value) {
    value->data = slab + at;
    const size_t number = add_buffer(size_class, value)->number;
    classes_[size_class]->free.add(number);
  }
  return allocate(size_class);
}

}  // namespace gt::exec

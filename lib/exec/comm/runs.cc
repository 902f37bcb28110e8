#include "exec/comm/runs.h"

#include <algorithm>
#include <cstring>

namespace gt::exec::comm {

bool Runs::fits(const Type& of, const Shape& start, const Shape& count) {
  const Shape& whole = of.shape;
  if (start.size() != whole.size() || count.size() != whole.size()) {
    return false;
  }
  for (size_t d = 0; d < whole.size(); ++d) {
    if (start[d] < 0 || count[d] < 0 || start[d] > whole[d] ||
        count[d] > whole[d] - start[d]) {
      return false;
    }
  }
  return true;
}

// A run covers all innermost dimensions that are taken as a whole, and the next
// one.
Runs::Runs(const Type& of, const Shape& start, const Shape& count) {
  size_t stride = size_of(of.dtype);
  run_ = stride;
  bool is_whole = true;
  size_t d = of.shape.size();
  std::array<size_t, Shape::kMaxRank> strides{};
  for (; d-- > 0;) {
    strides[d] = stride;
    offset_ += static_cast<size_t>(start[d]) * stride;
    stride *= static_cast<size_t>(of.shape[d]);
  }
  runs_ = 1;
  for (size_t i = of.shape.size(); i-- > 0;) {
    if (is_whole || count[i] == 1) {
      // A dimension of which one element is taken needs no loop.
      if (is_whole) run_ *= static_cast<size_t>(count[i]);
      is_whole = is_whole && count[i] == of.shape[i];
      continue;
    }
    outer_.insert(0, count[i]);
    for (size_t k = outer_.size(); k-- > 1;) strides_[k] = strides_[k - 1];
    strides_[0] = strides[i];
    runs_ *= static_cast<size_t>(count[i]);
  }
  if (run_ == 0 || runs_ == 0) run_ = runs_ = 0;
}

size_t Runs::offset_of_run(size_t run) const {
  size_t at = offset_;
  for (size_t d = outer_.size(); d-- > 0;) {
    const auto size = static_cast<size_t>(outer_[d]);
    at += run % size * strides_[d];
    run /= size;
  }
  return at;
}

// Calls copy(offset, to, n) for each run of these bytes of the region: the n
// bytes of the whole value from `offset` on are those of the region from `first
// + to` on.
template <typename Copy>
Status Runs::each_run(size_t first, size_t size, const Copy& copy) const {
  for (size_t to = 0; to < size;) {
    const size_t within = (first + to) % run_;
    const size_t n = std::min(size - to, run_ - within);
    const size_t offset = offset_of_run((first + to) / run_) + within;
    if (Status s = copy(offset, to, n); !s.ok()) return s;
    to += n;
  }
  return ok_status();
}

Result<const void*> Runs::find(const void* from, void* pack_to,
                               Device& device) const {
  const auto* base = static_cast<const char*>(from);
  if (is_contiguous()) return static_cast<const void*>(base + offset_);
  auto* out = static_cast<char*>(pack_to);
  const Status s =
      device.is_host()
          ? download(from, 0, bytes(), out, device)
          : each_run(0, bytes(), [&](size_t offset, size_t to, size_t n) {
              return device.copy(base + offset, out + to, n);
            });
  if (!s.ok()) return s.error();
  return static_cast<const void*>(out);
}

// Uses memcpy on the host, since runs may be as short as an element, for which
// a call of the device would cost more than the copy.
Status Runs::download(const void* from, size_t first, size_t size, char* to,
                      Device& device) const {
  const auto* base = static_cast<const char*>(from);
  if (device.is_host()) {
    return each_run(first, size, [&](size_t offset, size_t at, size_t n) {
      std::memcpy(to + at, base + offset, n);
      return ok_status();
    });
  }
  return each_run(first, size, [&](size_t offset, size_t at, size_t n) {
    return device.download(base + offset, to + at, n);
  });
}

}  // namespace gt::exec::comm

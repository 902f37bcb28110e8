// A table of a known size whose entries are made when they are first asked for,
// so that a program pays for those that it needs.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gt {

// Thread-safe: an entry is made once, and what is returned stays where it is.
// `make` gives entry i, and must not ask this table for another.
template <typename Entry>
class LazyTable {
 public:
  using Make = std::function<Entry(size_t i)>;

  LazyTable(size_t size, Make make)
      : make_(std::move(make)),
        entries_(size),
        is_made_(std::make_unique<std::atomic<bool>[]>(size)) {}

  const Entry& operator[](size_t i) const {
    if (!is_made_[i].load(std::memory_order_acquire)) fill(i);
    return entries_[i];
  }
  // All of them, made.
  const std::vector<Entry>& all() const {
    for (size_t i = 0; i < entries_.size(); ++i) (*this)[i];
    return entries_;
  }

 private:
  void fill(size_t i) const {
    const std::lock_guard lock(mutex_);
    if (is_made_[i].load(std::memory_order_relaxed)) return;
    entries_[i] = make_(i);
    is_made_[i].store(true, std::memory_order_release);
  }

  Make make_;
  mutable std::mutex mutex_;
  mutable std::vector<Entry> entries_;
  std::unique_ptr<std::atomic<bool>[]> is_made_;
};

}  // namespace gt

// A table of a known size whose entries are made when they are first asked for,
// so that a program pays only for the entries that it uses.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace gt {

// Thread-safe. The thread that first asks for entry i calls make(i), under one
// lock for the whole table; other threads that need an entry made wait for it.
// A returned reference is valid as long as the table. make() must not ask the
// same table for another entry: it would wait for itself.
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
  // Makes all entries that are missing, and returns all.
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

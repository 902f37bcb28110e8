#include "route/path_order.h"

#include <algorithm>

namespace gt::route {

PathOrder::File& PathOrder::file(std::string_view name) {
  const auto known = files_.find(name);
  if (known != files_.end()) return known->second;
  ++changes_;
  if (names_.size() == kMostFiles) {
    const auto oldest = files_.find(names_.front());
    for (size_t w = 0; w < workers_; ++w) {
      if (oldest->second.writers[w]) rest_.writers[w] = true;
      if (oldest->second.readers[w]) rest_.readers[w] = true;
    }
    files_.erase(oldest);
    names_.pop_front();
  }
  names_.emplace_back(name);
  // A name that is not known may be that of a file that was forgotten.
  return files_.emplace(name, rest_).first->second;
}

std::optional<uint32_t> PathOrder::writer_of(std::string_view name) const {
  const auto known = files_.find(name);
  if (known == files_.end()) return std::nullopt;
  const Set& writers = known->second.writers;
  const auto writer = std::ranges::find(writers, true);
  if (writer == writers.end()) return std::nullopt;
  return static_cast<uint32_t>(writer - writers.begin());
}

void PathOrder::read(std::string_view name,
                     const std::vector<uint32_t>& workers,
                     std::vector<net::FenceLine>& fences) {
  File& f = file(name);
  for (uint32_t from = 0; from < workers_; ++from) {
    if (!f.writers[from]) continue;
    net::FenceLine fence{from, {}, {}};
    for (const uint32_t w : workers) {
      if (w != from && !f.synced[w]) fence.to.push_back(w);
    }
    if (!fence.to.empty()) fences.push_back(std::move(fence));
  }
  for (const uint32_t w : workers) {
    if (!f.synced[w] || !f.readers[w]) ++changes_;
    f.synced[w] = true;
    f.readers[w] = true;
  }
}

void PathOrder::write(std::string_view name, uint32_t worker,
                      std::vector<net::FenceLine>& fences) {
  File& f = file(name);
  for (uint32_t from = 0; from < workers_; ++from) {
    const bool wrote = f.writers[from] && !f.synced[worker];
    if (from != worker && (wrote || f.readers[from])) {
      fences.push_back({from, {worker}, {}});
    }
  }
  File written(workers_);
  written.writers[worker] = written.synced[worker] = true;
  if (f == written) return;
  f = std::move(written);
  ++changes_;
}

}  // namespace gt::route

#include "exec/decode/hosting.h"

namespace gt::exec {

Status Hosting::take(const net::RanksLine& line) {
  for (const net::RanksLine::Block& block : line.blocks) {
    if (block.worker < workers_) continue;
    return Error{"#ranks: there is no worker " + std::to_string(block.worker) +
                 " among " + std::to_string(workers_)};
  }
  if (line.blocks.empty()) {
    if (spaces_.erase(line.space)) ++version_;
    return ok_status();
  }
  std::vector<uint32_t>& of = spaces_.obtain(line.space);
  bool changed = false;
  for (const net::RanksLine::Block& block : line.blocks) {
    const auto end = static_cast<size_t>(block.last) + 1;
    if (of.size() < end) of.resize(end, kNobody);
    for (auto r = static_cast<size_t>(block.first); r < end; ++r) {
      changed = changed || of[r] != block.worker;
      of[r] = block.worker;
    }
  }
  if (changed) ++version_;
  return ok_status();
}

// The space of a name is the innermost of its spaces that is known here, as
// with meshes; if none is known, the space without a name.
std::optional<unsigned> Hosting::worker_of(std::string_view name,
                                           int64_t rank) const {
  const std::vector<uint32_t>* workers = spaces_.of(name);
  const auto r = static_cast<size_t>(rank);
  if (workers == nullptr || r >= workers->size() || (*workers)[r] == kNobody) {
    return std::nullopt;
  }
  return (*workers)[r];
}

}  // namespace gt::exec

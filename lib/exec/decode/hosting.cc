#include "exec/decode/hosting.h"

#include "spmd/labels.h"

namespace gt::exec {

Status Hosting::take(const net::RanksLine& line) {
  const std::string& name = line.space;
  const std::vector<net::RanksLine::Block>& blocks = line.blocks;
  for (const net::RanksLine::Block& block : blocks) {
    if (block.worker < workers_) continue;
    return Error{"#ranks: there is no worker " + std::to_string(block.worker) +
                 " among " + std::to_string(workers_)};
  }
  if (blocks.empty()) {
    const auto gone = std::erase_if(
        spaces_, [&](const Space& space) { return space.name == name; });
    version_ += gone;
    return ok_status();
  }
  size_t s = 0;
  while (s < spaces_.size() && spaces_[s].name != name) ++s;
  if (s == spaces_.size()) spaces_.push_back({name, {}});
  std::vector<uint32_t>& of = spaces_[s].workers;
  bool changed = false;
  for (const net::RanksLine::Block& block : blocks) {
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

const Hosting::Space* Hosting::find(std::string_view name) const {
  for (const Space& space : spaces_) {
    if (space.name == name) return &space;
  }
  return nullptr;
}

// The space of a name is the innermost of its spaces that is known here, as
// with meshes; if none is known, the space without a name.
std::optional<unsigned> Hosting::worker_of(std::string_view name,
                                           int64_t rank) const {
  const Space* space = find(space_in(
      name, [this](std::string_view s) { return find(s) != nullptr; }));
  const auto r = static_cast<size_t>(rank);
  if (space == nullptr || r >= space->workers.size() ||
      space->workers[r] == kNobody) {
    return std::nullopt;
  }
  return space->workers[r];
}

}  // namespace gt::exec

// Which worker plays which rank of which name space. What was once said holds
// for the whole run, since registers stay where they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmd/rank_set.h"

namespace gt::route {

class RankTable {
 public:
  explicit RankTable(uint32_t workers) : workers_(workers) {}

  // Gives the ranks that have none a worker: in a mesh of that many ranks in
  // contiguous blocks, else one after the other.
  void assign(std::string_view space, const Ranks& ranks, int64_t mesh_size);
  // A new name space has the ranks of another, whose registers it takes over.
  void inherit(std::string_view space, std::string_view from);
  // What all workers are to be told since the last call, a line each: "#ranks
  // SPACE FIRST-LAST=WORKER ...".
  std::vector<std::string> take_news() { return std::exchange(news_, {}); }

  // Of a rank that was assigned.
  uint32_t worker(std::string_view space, int64_t rank) const;
  // The workers of some ranks, ascending.
  std::vector<uint32_t> hosts(std::string_view space, const Ranks& ranks) const;

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  struct Space {
    std::string name;
    std::vector<uint32_t> worker_of;
  };
  void tell(std::string_view space, const Ranks& ranks,
            const std::vector<uint32_t>& worker_of);
  Space& obtain(std::string_view name);
  const Space* find(std::string_view name) const;

  uint32_t workers_;
  std::vector<Space> spaces_;
  std::vector<std::string> news_;
};

}  // namespace gt::route

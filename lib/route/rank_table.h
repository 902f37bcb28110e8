// RankTable: the worker that plays each rank of each name space. Once a rank
// has a worker, it keeps it for the whole run, since the pieces on the rank
// stay there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmd/rank_set.h"
#include "spmd/spaces.h"

namespace gt::route {

class RankTable {
 public:
  explicit RankTable(uint32_t workers) : workers_(workers) {}

  // Gives a worker to those of the ranks that have none. Ranks below
  // `mesh_size` are given out in contiguous blocks (of 8 ranks, 0 to 3 go to
  // worker 0 of 2), others in turn (rank modulo workers). `mesh_size` is 0
  // without a mesh.
  void assign(std::string_view space, const Ranks& ranks, int64_t mesh_size);
  // Gives a new name space the workers that the ranks of `from` have, since
  // registers with names of the new one exist there.
  void inherit(std::string_view space, std::string_view from);
  // Forgets a name space in which nothing is on any rank any more.
  void forget(std::string_view space);
  // Returns the innermost name space that the name is in and whose ranks have
  // workers; "" if there is none.
  std::string_view space_of(std::string_view name) const;
  // Returns the lines that tell all workers what changed since the last call,
  // each the text of a net::RanksLine.
  std::vector<std::string> take_news() { return std::exchange(news_, {}); }

  // Returns the worker of a rank, which must have one.
  uint32_t worker(std::string_view space, int64_t rank) const;
  // Returns the workers of some ranks, ascending. Each rank must have one.
  std::vector<uint32_t> hosts(std::string_view space, const Ranks& ranks) const;

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  // The worker of each rank; kNobody: it has none.
  using Workers = std::vector<uint32_t>;
  void tell(std::string_view space, const Ranks& ranks,
            const Workers& worker_of);

  uint32_t workers_;
  Spaces<Workers> spaces_;
  std::vector<std::string> news_;
};

}  // namespace gt::route

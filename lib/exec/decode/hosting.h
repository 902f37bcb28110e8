// Hosting knows which worker plays which rank. A rank is a position in the
// program's mesh; a worker is a process, and plays any number of ranks.
// gt-route decides this, and tells all workers in comments among the lines that
// it sends (net/wire.h), before the first line that needs them:
//
//     #ranks SPACE FIRST-LAST=WORKER...
//
// SPACE is a name space, "-" for none; RANK=WORKER stands for a single rank. A
// later statement about a rank replaces an earlier one. A line without ranks,
// "#ranks SPACE", removes the name space.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "spmd/spaces.h"
#include "stream/line.h"

namespace gt::exec {

class Hosting {
 public:
  // `self` is this worker's number, below `workers`.
  Hosting(unsigned self, unsigned workers) : self_(self), workers_(workers) {}

  // Takes the words after "#ranks". Errors, which change nothing: a word does
  // not have the form above, a rank is above kMaxRank, or there is no such
  // worker.
  Status take(std::string_view words);

  // Returns the worker that plays a rank of a name, "x" or "space/x"; none if
  // that is not known.
  std::optional<unsigned> worker_of(std::string_view name, int64_t rank) const;
  bool is_mine(std::string_view name, int64_t rank) const {
    return worker_of(name, rank) == self_;
  }
  unsigned self() const { return self_; }
  unsigned workers() const { return workers_; }
  // Grows with each take() that changes who plays a rank. Lines decoded under
  // an older version are no longer valid.
  uint64_t version() const { return version_; }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  struct Block {
    int64_t first = 0;
    int64_t last = 0;
    uint32_t worker = 0;
  };
  Result<Block> parse_block(std::string_view text) const;

  unsigned self_;
  unsigned workers_;
  Spaces<std::vector<uint32_t>> spaces_;  // the worker of each rank
  uint64_t version_ = 0;
};

}  // namespace gt::exec

// Hosting knows which worker plays which rank. A rank is a position in the
// program's mesh; a worker is a process, and plays any number of ranks.
// gt-route decides this, and tells all workers in "#ranks" lines
// (net/control_lines.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/control_lines.h"
#include "spmd/spaces.h"
#include "stream/line.h"

namespace gt::exec {

class Hosting {
 public:
  // `self` is this worker's number, below `workers`.
  Hosting(unsigned self, unsigned workers) : self_(self), workers_(workers) {}

  // Takes a statement of gt-route. Error, which changes nothing: it names a
  // worker that does not exist.
  Status take(const net::RanksLine& line);

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

  unsigned self_;
  unsigned workers_;
  Spaces<std::vector<uint32_t>> spaces_;  // the worker of each rank
  uint64_t version_ = 0;
};

}  // namespace gt::exec

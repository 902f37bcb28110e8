// Which worker plays which rank. gt-route decides it and says it in comments
// of the stream, before the first line that needs it:
//
//     #ranks SPACE FIRST-LAST=WORKER...
//
// SPACE is a name space, "-" for none; RANK=WORKER says it of one rank. What is
// said of a rank again replaces what was said before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stream/line.h"

namespace gt::exec {

class Hosting {
 public:
  // `self` is this worker's number, below `workers`.
  Hosting(unsigned self, unsigned workers) : self_(self), workers_(workers) {}

  // The words after "#ranks". Errors: a field that is none, a rank above
  // kMaxRank, a worker that there is not; then nothing has changed.
  Status take(std::string_view words);

  // Who plays a rank of a name; none while nobody was said to.
  std::optional<unsigned> worker_of(std::string_view name, int64_t rank) const;
  bool is_mine(std::string_view name, int64_t rank) const {
    return worker_of(name, rank) == self_;
  }
  unsigned self() const { return self_; }
  unsigned workers() const { return workers_; }
  // Changes with every table that changes anything.
  uint64_t version() const { return version_; }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  struct Space {
    std::string name;
    std::vector<uint32_t> workers;  // by rank
  };
  struct Block {
    int64_t first = 0;
    int64_t last = 0;
    uint32_t worker = 0;
  };
  Result<Block> parse_block(std::string_view text) const;
  const Space* find(std::string_view name) const;

  unsigned self_;
  unsigned workers_;
  std::vector<Space> spaces_;
  uint64_t version_ = 0;
};

}  // namespace gt::exec

// Instructions on their way to workers, a body for each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/wire.h"

namespace gt {

class Outbox {
 public:
  // A body is due once it has so many bytes.
  static constexpr size_t kFullBody = size_t{48} << 10;

  explicit Outbox(size_t workers) : bodies_(workers), is_due_(workers) {}

  void add(uint32_t worker, uint64_t seq, int64_t line, std::string_view text) {
    BodyWriter& body = bodies_[worker];
    body.add(seq, line, text);
    if (body.size() >= kFullBody && !is_due_[worker]) set_due(worker);
  }

  bool empty(uint32_t worker) const { return bodies_[worker].empty(); }
  size_t size(uint32_t worker) const { return bodies_[worker].size(); }
  // Workers whose bodies became full since the last call.
  std::vector<uint32_t> take_due() {
    for (const uint32_t worker : due_) is_due_[worker] = false;
    return std::exchange(due_, {});
  }
  bool has_due() const { return !due_.empty(); }

  struct Batch {
    uint64_t seq = 0;
    int64_t line = 0;
    uint64_t last = 0;  // seq
    std::string body;
  };
  Batch take(uint32_t worker) {
    BodyWriter& body = bodies_[worker];
    Batch batch{body.first_seq(), body.first_line(), body.last_seq(), {}};
    if (batch.seq == 0) batch.last = 0;  // nothing in it has a number
    batch.body = body.take();
    return batch;
  }

 private:
  void set_due(uint32_t worker) {
    is_due_[worker] = true;
    due_.push_back(worker);
  }

  std::vector<BodyWriter> bodies_;
  std::vector<bool> is_due_;
  std::vector<uint32_t> due_;
};

}  // namespace gt

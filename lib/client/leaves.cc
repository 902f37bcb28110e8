#include "client/leaves.h"

#include <algorithm>

namespace gt::client {

void Leaves::tidy(const gt_value* values) {
  if (!reaches_.is_full()) return;
  std::vector<Reach> used;
  for (; values != nullptr; values = values->after) {
    used.push_back(values->reach);
  }
  std::sort(used.begin(), used.end());
  reaches_.keep_only([&](Reach reach) {
    return std::binary_search(used.begin(), used.end(), reach);
  });
}

}  // namespace gt::client

#include "shard/schedule_kinds.h"

#include <algorithm>

namespace gt::shard {
namespace {

int64_t no_bound(const PipelinePlace& /*at*/) { return INT64_MAX; }
// A rank with one chunk, as in 1f1b, opens a unit for each chunk from here on.
int64_t interleaved_bound(const PipelinePlace& at) {
  if (at.chunks == 1) return at.all - at.first;
  return 2 * (at.stages - at.first - 1) + (at.chunks - 1) * at.stages + 1;
}
int64_t whole_bound(const PipelinePlace& at) { return at.chunks * at.stages; }
int64_t double_bound(const PipelinePlace& at) { return 2 * at.stages - 1; }

constexpr ScheduleKind kKinds[] = {
    {.name = "gpipe", .bound = no_bound, .is_forward_first = true},
    {.name = "1f1b", .bound = interleaved_bound, .has_groups = true},
    {.name = "interleaved",
     .bound = interleaved_bound,
     .wants_parts = true,
     .has_groups = true},
    {.name = "zb-h1", .bound = whole_bound, .puts_off_weights = true},
    {.name = "zb-h2", .bound = double_bound, .puts_off_weights = true},
    {.name = "zb-v",
     .bound = whole_bound,
     .puts_off_weights = true,
     .wants_parts = true,
     .wants_return = true},
};

}  // namespace

std::span<const ScheduleKind> schedule_kinds() { return kKinds; }

const ScheduleKind* find_schedule_kind(std::string_view name) {
  const auto at = std::find_if(
      std::begin(kKinds), std::end(kKinds),
      [name](const ScheduleKind& kind) { return kind.name == name; });
  return at == std::end(kKinds) ? nullptr : at;
}

}  // namespace gt::shard

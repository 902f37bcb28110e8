// The kinds of schedules that a config can name, a row each.
//
// Sources: Huang et al., GPipe, 2019; Narayanan et al., Efficient large-scale
// language model training on GPU clusters, 2021 (1f1b, interleaved); Qi et al.,
// Zero bubble pipeline parallelism, 2024 (zb-h1, zb-h2), and Pipeline
// parallelism with controllable memory, 2024 (zb-v).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gt::shard {

// Where a rank stands in a pipeline; what a bound depends on.
struct PipelinePlace {
  int64_t all = 0;     // chunks of the model
  int64_t stages = 0;  // chunks of the model per chunk of a rank
  int64_t first = 0;   // the number of the rank's first chunk
  int64_t chunks = 0;  // how many chunks the rank has
};

struct ScheduleKind {
  std::string_view name;
  // How many units (schedule.h) may be open on a rank at a time.
  int64_t (*bound)(const PipelinePlace&);
  // Of lines that could begin at once, forward ones come first, and no rank
  // waits for a better line. Else several rules are tried.
  bool is_forward_first = false;
  // Those backward lines are chosen last that no earlier stage waits for, which
  // make the gradients of weights: they run when a rank would otherwise wait.
  bool puts_off_weights = false;
  // It is another kind unless ranks have several chunks each.
  bool wants_parts = false;
  // It wants the last chunk on the rank of the first.
  bool wants_return = false;
  // Where a rank has several chunks, microbatches go through all of them in
  // groups, as many as there are stages.
  bool has_groups = false;
};

std::span<const ScheduleKind> schedule_kinds();
// Returns null if no kind has the name.
const ScheduleKind* find_schedule_kind(std::string_view name);

}  // namespace gt::shard

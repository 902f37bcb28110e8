// Lines that must not run as early as they could. A source is a line that needs
// nothing of what its microbatch has come to: the zeros that a gradient is
// added to, a microbatch's targets, cut from those of the batch, or a forward
// value that the backward part makes once more (#recompute). Run at once, the
// sources of all microbatches would fill the memory, and targets would open a
// unit (schedule.h) long before the forward part comes to them. So a source
// waits for the other lines that its reader needs.
#pragma once

#include <vector>

#include "shard/schedule.h"

namespace gt::shard {

// Returns, for each line, true if it belongs to the backward part that an
// earlier stage waits for. The other backward lines make gradients of weights.
std::vector<bool> find_awaited(const std::vector<ScheduledLine>& lines);

// Lets sources wait, by additions to `after`.
void delay_sources(std::vector<ScheduledLine>& lines);

}  // namespace gt::shard

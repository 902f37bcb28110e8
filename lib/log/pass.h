// What a line does in a training step.
#pragma once

#include <cstdint>

#include "stream/line.h"

namespace gt::log {

// By the notes of the line: #grad=w makes it the gradient of a weight, #bwd
// another gradient; an optimizer's line, or one that brings the gradient of a
// weight to it, as by summing microbatches, is of the update; of the others
// those that read something are forward.
enum class Pass : uint8_t { kNone, kForward, kBackward, kWeight, kUpdate };

const char* word_of(Pass pass);  // "forward"
// Returns what the line says by itself.
Pass pass_of(const Line& line);
// True if a result of the line takes the place of an operand.
bool is_in_place(const Line& line);

}  // namespace gt::log

// Reverse mode as text: the lines that compute gradients of one loss.
//
// The order of the lines follows from the order of the program: nodes are
// visited from the newest to the oldest (history.h), and each appends the lines
// of its op's gradient text (node_gradient.h). What these give for an operand
// is a contribution to the gradient of the operand's value. It is summed to the
// value's shape, the adjoint of broadcasting, and added to what is there
// already by a line "add" (contributions.h). When a node is visited, all that
// read its results were, so their gradients are complete.
// Source: A. Griewank, A. Walther, Evaluating Derivatives, SIAM 2008, ch. 3.
//
// Of a placed program each line runs on the ranks of its forward line, so a
// gradient may lie on some of its value's ranks only, or in several names.
// Where the concrete text differs from rank to rank (uneven pieces) there is
// one line for each set of ranks with equal text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "grad/tape.h"
#include "grad/value_types.h"

namespace gt::grad {

// A gradient by its number in a program. Names are given when the lines are
// written (emit/gradient_writer.h).
using Handle = uint32_t;

struct GradientOperand {
  enum class Kind : uint8_t { kHandle, kForward, kText };
  Kind kind = Kind::kText;
  uint32_t id = 0;    // Handle or ValueId
  std::string text;   // of kText
  std::string ranks;  // of a name in a placed line
};

// A line of the stream to come. One of pieces_op() stands for several: it puts
// its result together from its operands, each on ranks of its own, which
// together are the result's; an operand that is text ("zeros f32[2]") is what
// makes the pieces on its ranks.
struct GradientLine {
  const Op* op;
  std::vector<Handle> results;
  std::vector<GradientOperand> operands;
  std::vector<std::pair<std::string, std::string>> keys;
  std::string notes;  // the forward line's #signal, #mb and #local
  std::string ranks;  // of the results; "" when it is unplaced
  MeshId mesh = 0;    // under which its keys and letters hold
  Placement claim;    // #type= of a constant
  Placement partial;  // #partial=: the axes on which it is P here
  std::string type;   // other notes of types, " #type=... #spec=..."

  bool is_local() const { return notes.find(" #local") != std::string::npos; }
};

struct GradientProgram {
  std::vector<GradientLine> lines;   // in the order in which they are to stand
  std::vector<TypeId> handle_types;  // by handle
  // By target as asked for; kNil: the loss does not reach it.
  std::vector<Handle> targets;
  std::vector<NodeId> history;  // all nodes behind the loss, newest first
  // Error: why there is no such gradient; the lines are not to be written.
  Status possible = ok_status();
};

// A value, on some of its ranks.
struct ValueOnRanks {
  ValueId value = kNil;
  Ranks ranks;  // none: unplaced
};

// What a name holds: one value, or several on their own ranks each.
struct GradientTarget {
  std::vector<ValueOnRanks> parts;
  Ranks ranks;  // of all parts
};

// A value behind the loss whose history is lost (HistoryCells::lost), and the
// target, by its index, that may have stood behind it.
struct LostTarget {
  ValueId value = kNil;  // kNil: there is none
  size_t target = 0;
};

struct GradientQuestion {
  ValueId loss;
  std::vector<int64_t> ranks;  // of the loss, as written
  MeshId mesh = 0;             // in force at the grad
  const std::vector<GradientTarget>& targets;
};

// The loss must be a float scalar. When a target is not reached and a lost
// history may have led to it, `lost` is set and the program is empty.
GradientProgram reverse(const Tape& tape, ValueTypes& types,
                        const MeshIds& meshes, const GradientQuestion& question,
                        LostTarget& lost);

}  // namespace gt::grad

// Reverse mode as text: the lines that compute gradients of one loss.
//
// The order of the lines follows from the order of the program: nodes are
// visited from the newest to the oldest (history.h), and each appends the lines
// of its op's gradient text (node_gradient.h). What these give for an operand
// is a contribution to the gradient of the operand's value. It is summed to the
// value's shape, the adjoint of broadcasting, and added to the other
// contributions by a line "add" (contributions.h). When a node is visited, all
// nodes that read its results have been, so the gradients of these are
// complete. Source: A. Griewank, A. Walther, Evaluating Derivatives, SIAM 2008,
// ch. 3.
//
// In a placed program each line runs on the ranks of its forward line, so a
// gradient may lie on some of its value's ranks only, or have several names. If
// the concrete text differs from rank to rank (uneven pieces), there is one
// line for each set of ranks with equal text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "grad/tape.h"
#include "grad/value_types.h"

namespace gt::grad {

// A gradient, by its number in a program. It gets a name when its line is
// written (emit/gradient_writer.h).
using Handle = uint32_t;

struct GradientOperand {
  enum class Kind : uint8_t { kHandle, kForward, kText };
  Kind kind = Kind::kText;
  uint32_t id = 0;    // Handle or ValueId
  std::string text;   // if kText
  std::string ranks;  // if it is a name in a placed line
};

// A line that is to be written to the stream. A line of pieces_op() stands for
// several lines: it puts its result together from its operands, each on ranks
// of its own, which together are the result's ranks. An operand that is text
// ("zeros f32[2]") makes the pieces on its ranks.
struct GradientLine {
  const Op* op;
  std::vector<Handle> results;
  std::vector<GradientOperand> operands;
  std::vector<std::pair<std::string, std::string>> keys;
  std::string notes;  // the forward line's #signal, #mb and #local
  std::string ranks;  // of the results; "" if the line is unplaced
  MeshId mesh = 0;    // the mesh under which its keys and letters hold
  Placement claim;    // #type= of a constant
  Placement partial;  // #partial=: the axes on which the result is P
  std::string type;   // other notes on types, " #type=... #spec=..."

  bool is_local() const { return notes.find(" #local") != std::string::npos; }
};

struct GradientProgram {
  std::vector<GradientLine> lines;   // in the order in which they must stand
  std::vector<TypeId> handle_types;  // by handle
  // For each target, its gradient; kNil: the loss does not reach the target.
  std::vector<Handle> targets;
  std::vector<NodeId> history;  // all nodes behind the loss, newest first
  // An error says why there is no such gradient; then the lines must not be
  // written.
  Status possible = ok_status();
};

// A value, on some of its ranks.
struct ValueOnRanks {
  ValueId value = kNil;
  Ranks ranks;  // none: unplaced
};

// The values that a name holds: one, or several, each on its own ranks.
struct GradientTarget {
  std::vector<ValueOnRanks> parts;
  Ranks ranks;  // the ranks of all parts
};

// A value behind the loss whose history is lost (HistoryCells::lost), and the
// index of the target that may have been behind it.
struct LostTarget {
  ValueId value = kNil;  // kNil: there is no such value
  size_t target = 0;
};

struct GradientQuestion {
  ValueId loss;
  std::vector<int64_t> ranks;  // of the loss, as written
  MeshId mesh = 0;             // the mesh in force at the grad
  const std::vector<GradientTarget>& targets;
};

// Returns the lines that compute the gradients. The loss must be a float
// scalar. If a target is not reached and a lost history may have led to it,
// sets `lost` and returns an empty program.
GradientProgram reverse(const Tape& tape, ValueTypes& types,
                        const MeshIds& meshes, const GradientQuestion& question,
                        LostTarget& lost);

}  // namespace gt::grad

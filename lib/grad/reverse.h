// Reverse mode as text: the lines that compute gradients of one loss.
//
// Nodes are visited from the newest to the oldest, each row's gradient text
// made concrete for it (ops/text.h); contributions to one value are added up;
// a contribution is summed to its value's shape, the adjoint of broadcasting.
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

// A gradient value; names are given when the lines are written.
using Handle = uint32_t;

struct GradientOperand {
  enum class Kind : uint8_t { kHandle, kForward, kText };
  Kind kind = Kind::kText;
  uint32_t id = 0;    // Handle or ValueId
  std::string text;   // of kText
  std::string ranks;  // of a name in a placed line
};

// A line of the stream; but one of pieces_op() gives its result from one name
// to the other, rank by rank: the operands' ranks together are the result's,
// and an operand that is text ("zeros f32[2]") defines its ranks by itself.
struct GradientLine {
  const Op* op;
  std::vector<Handle> results;
  std::vector<GradientOperand> operands;
  std::vector<std::pair<std::string, std::string>> keys;
  std::string notes;  // the forward line's #signal and #mb
  std::string ranks;  // of the results; "" when it is unplaced
  MeshId mesh = 0;    // under which its keys and letters hold
  Placement claim;    // #type= of a constant
  Placement partial;  // #partial=, where P
  std::string type;   // #type= and #spec= of a result that #local forgets

  bool is_local() const { return notes.find(" #local") != std::string::npos; }
};

struct GradientProgram {
  std::vector<GradientLine> lines;
  std::vector<TypeId> handle_types;
  std::vector<Handle> targets;    // as asked for; kNil: the loss does not reach
  std::vector<NodeId> history;    // all nodes behind the loss, newest first
  Status possible = ok_status();  // why the lines cannot be written
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

// What stands between a loss and a target.
struct LostTarget {
  ValueId value = kNil;  // whose history is lost
  size_t target = 0;
};

struct GradientQuestion {
  ValueId loss;
  std::vector<int64_t> ranks;  // of the loss, as written
  MeshId mesh = 0;             // that stands where it is asked
  const std::vector<GradientTarget>& targets;
};

// The loss must be a float scalar. When a target is not reached and a lost
// history may have led to it, `lost` is set and the program is empty.
GradientProgram reverse(const Tape& tape, ValueTypes& types,
                        const MeshIds& meshes, const GradientQuestion& question,
                        LostTarget& lost);

}  // namespace gt::grad

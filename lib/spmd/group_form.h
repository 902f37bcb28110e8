// What a collective or conversion does within one group of ranks, as determined
// by its keys and the types of the group's pieces. The programs that compute it
// are written from this form (group_program.h, exchange_plan.h).
//
// Source: spmd_types 0.2 (meta-pytorch/spmd_types), the table of collectives
// and conversions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/call.h"
#include "ops/ends.h"
#include "spmd/split.h"

namespace gt {

// The types of a group's pieces, in the group's order, and the shapes that the
// line's split= and shape= state for each member's result (for all_gather: for
// its operand).
struct GroupShapes {
  std::vector<Type> pieces;
  std::vector<Shape> stated;  // empty: nothing is stated
};

struct GroupForm {
  enum class Kind : uint8_t {
    kSame,        // each keeps its piece
    kRoot,        // all get the root's piece
    kFirst,       // the first keeps its piece, the others have zeros
    kOwnPlace,    // each has its piece in its place, zeros elsewhere
    kSum,         // all get the combined pieces
    kReduce,      // the root gets them, the others zeros
    kSumScatter,  // each gets its part of them
    kScatter,     // each keeps its part of its own piece
    kGather,      // all get the pieces put together
    kExchange     // each gets its part of every piece, put together
  };
  Kind kind = Kind::kSame;
  // True if a member's part of dimension `dim` is one index of it, a slice that
  // lacks the dimension, as with the type V. False if the part is a range of
  // the dimension, as with S.
  bool is_sliced = false;
  size_t dim = 0;   // the dimension that is cut or gathered
  size_t join = 0;  // for kExchange: the dimension of joined parts
  size_t root = 0;  // the root, by its place in the group
  // The start of each member's part of `dim`, and then the end of the last
  // part.
  std::vector<int64_t> cuts;
  // For a kExchange whose senders cut differently: the same by sender.
  std::vector<std::vector<int64_t>> row_cuts;

  // The op that combines pieces: add, maximum, minimum or mul.
  std::string combine = "add";
  bool is_mean = false;      // divided by the number of members
  std::optional<Dtype> acc;  // acc=: pieces are cast to it before
  std::optional<Dtype> out;  // out=: the result is cast to it after

  // True if pieces are combined, by a sum or by another op.
  bool sums() const {
    return kind == Kind::kSum || kind == Kind::kReduce ||
           kind == Kind::kSumScatter;
  }
  // Return the dtype of what is combined, and of the result, for pieces of a
  // dtype.
  Dtype summed(Dtype piece) const { return acc.value_or(piece); }
  Dtype result(Dtype piece) const {
    return out.value_or(sums() ? summed(piece) : piece);
  }
  friend bool operator==(const GroupForm&, const GroupForm&) = default;
  // Returns the region of member `from`'s value, of this shape, that is for
  // member `to`.
  Region part(const Shape& shape, size_t from, size_t to) const;
};

// Returns the form of a call, which must have been bound by bind_form().
// Errors: ends that the op does not connect, pieces that do not fit together,
// keys that contradict each other.
Result<GroupForm> group_form(const Call& call, const GroupShapes& group);

}  // namespace gt

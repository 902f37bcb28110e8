// What a collective does with its group, read from its keys and the types of
// the pieces, and checked. Programs are written from it (exchange_plan.h).
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

// A group of a collective: the types of its pieces and, where the line's
// split= and shape= say so, the sizes that each member's result (of all_gather
// its operand) must have.
struct GroupShapes {
  std::vector<Type> pieces;
  std::vector<Shape> stated;  // empty: nothing stated
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
  // V on the cut or gathered dimension: parts are slices at an index, without
  // the dimension; else ranges of it.
  bool is_sliced = false;
  size_t dim = 0;   // that is cut or gathered
  size_t join = 0;  // of an exchange: along which parts are put together
  size_t root = 0;
  // Where each member's part of `dim` starts, and the end of the last.
  std::vector<int64_t> cuts;
  // Of an exchange whose senders cut differently: by sender.
  std::vector<std::vector<int64_t>> row_cuts;

  // Of combined pieces: add, maximum, minimum or mul.
  std::string combine = "add";
  bool is_mean = false;
  std::optional<Dtype> acc;  // pieces are cast before
  std::optional<Dtype> out;  // and the result after

  bool sums() const {
    return kind == Kind::kSum || kind == Kind::kReduce ||
           kind == Kind::kSumScatter;
  }
  Dtype summed(Dtype piece) const { return acc.value_or(piece); }
  Dtype result(Dtype piece) const {
    return out.value_or(sums() ? summed(piece) : piece);
  }
  friend bool operator==(const GroupForm&, const GroupForm&) = default;
  // Member `to`'s part of member `from`'s value of this shape.
  Region part(const Shape& shape, size_t from, size_t to) const;
};

// `call` is bound as far as bind_form() does. Errors: ends that the op does
// not connect, pieces that do not fit together.
Result<GroupForm> group_form(const Call& call, const GroupShapes& group);

}  // namespace gt

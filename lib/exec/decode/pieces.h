// Pieces finds the pieces of a placed line's names: which of them this worker
// has, and in which registers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "exec/decode/hosting.h"
#include "exec/decode/line_entry.h"
#include "spmd/placed.h"

namespace gt::exec {

class Pieces {
 public:
  Pieces(Registers& registers, const TypeIds& types)
      : registers_(registers), types_(types) {}
  // Must be called when this worker is one of several: it plays the ranks that
  // `hosting` states. A worker on its own plays all ranks.
  void join(const Hosting& hosting) { hosting_ = &hosting; }

  // ---- who plays which rank of the line
  bool is_mine(const Line& line, int64_t rank) const;
  bool are_mine(const Line& line, const std::vector<int64_t>& ranks) const;
  // True if all ranks that the line's values are on or go to are ours.
  bool is_all_mine(const Line& line, const LineRanks& where) const;
  unsigned worker_of(const Line& line, int64_t rank) const;
  unsigned self() const { return hosting_->self(); }
  // Error: it is not known who plays one of the line's ranks.
  Status check_hosted(const Line& line, const LineRanks& where) const;

  // ---- the pieces of this worker's ranks
  // Returns null if the name has no value on that rank.
  const Register* find(std::string_view name, int64_t rank) const;
  // Error: an operand that is read on a rank of ours has no value there.
  Status check_known(const Line& line, const LineRanks& where) const;
  const Type& type_of(const Register& piece) const {
    return types_[piece.stamp.type];
  }
  // Returns the types of the pieces that this worker has of the line's
  // operands.
  PieceType types(const Line& line) const;
  // Returns the first failure among the operand's pieces on these ranks, which
  // this worker must have; or null.
  Fault failure_in(const Operand& operand,
                   const std::vector<int64_t>& ranks) const;

  // ---- as parts of an entry
  // Adds the pieces of a name on these ranks, which this worker must have, as
  // operands.
  void add_operands(std::string_view name, const std::vector<int64_t>& ranks,
                    LineEntry& entry) const;
  void add_result(std::string_view name, int64_t rank, LineEntry& entry);

 private:
  Registers& registers_;
  const TypeIds& types_;
  const Hosting* hosting_ = nullptr;
};

}  // namespace gt::exec

// The pieces of a placed line's names: which of them this worker has, and in
// which registers.
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
  // To be called when this worker is one of several: it plays the ranks that
  // `hosting` says. Without it, it plays all ranks.
  void join(const Hosting& hosting) { hosting_ = &hosting; }

  // ---- who plays which rank of the line
  bool is_mine(const Line& line, int64_t rank) const;
  bool are_mine(const Line& line, const std::vector<int64_t>& ranks) const;
  // Whether all ranks that the line's values are on or go to are ours.
  bool is_all_mine(const Line& line, const LineRanks& where) const;
  unsigned worker_of(const Line& line, int64_t rank) const;
  unsigned self() const { return hosting_->self(); }
  // Error: nobody is known to play one of the line's ranks.
  Status check_hosted(const Line& line, const LineRanks& where) const;

  // ---- the pieces of this worker's ranks
  // Null when the name has no value there.
  const Register* find(std::string_view name, int64_t rank) const;
  // Error: an operand has no value on a rank of ours where it is read.
  Status check_known(const Line& line, const LineRanks& where) const;
  const Type& type_of(const Register& piece) const {
    return types_[piece.stamp.type];
  }
  // The types of the pieces of the line's operands that this worker has.
  PieceType types(const Line& line) const;
  // The first failure among the pieces that this worker has, or null.
  Fault failure_in(const Operand& operand,
                   const std::vector<int64_t>& ranks) const;

  // ---- as parts of an entry
  // Adds the pieces that this worker has as operands.
  void add_operands(std::string_view name, const std::vector<int64_t>& ranks,
                    LineEntry& entry) const;
  void add_result(std::string_view name, int64_t rank, LineEntry& entry);

 private:
  Registers& registers_;
  const TypeIds& types_;
  const Hosting* hosting_ = nullptr;
};

}  // namespace gt::exec

// A line with ranks as what its ranks do, played by one worker: a part for
// each rank, or for each group where values cross ranks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/decoder.h"
#include "spmd/placed.h"

namespace gt {

class PlacedDecoder {
 public:
  PlacedDecoder(Decoder& decoder, Registers& registers, const TypeTable& types)
      : decoder_(decoder), registers_(registers), types_(types) {}

  // The entry has the action kParts; what failed before is among the parts.
  Decoding decode(const Line& line, std::string_view text, const Mesh* mesh);

 private:
  using Parts = std::vector<std::unique_ptr<LineEntry>>;

  Status decode_parts(const Line& line, const Mesh* mesh, Decoding& out);
  Status find_pieces(const Line& line, const LineRanks& where) const;
  PieceType piece_types(const Line& line) const;
  const Register* piece(const Operand& operand, int64_t rank) const;
  Fault failure_in(const Operand& operand,
                   const std::vector<int64_t>& ranks) const;

  Status decode_free(const Line& line, const LineRanks& where, Decoding& out);
  Status decode_ranks(const Line& line, const Grid& grid, Decoding& out);
  Status decode_rank(const Line& local, size_t ranks, Decoding& out);
  Status decode_groups(const Line& line, const LineRanks& where,
                       const Grid& grid, Decoding& out);
  Status decode_assembly(const Line& line, const Grid& grid, Decoding& out);
  void add_failure(const Line& local, const Fault& fault, LineEntry& whole);

  Decoder& decoder_;
  Registers& registers_;
  const TypeTable& types_;
};

}  // namespace gt

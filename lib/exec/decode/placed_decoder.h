// A line with ranks as what its ranks do, played by one worker: a part for
// each rank, or for each group where values cross ranks. One worker of several
// plays its own ranks; a group with ranks of others is an exchange.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/decode/decoder.h"
#include "exec/decode/hosting.h"
#include "spmd/exchange_plan.h"
#include "spmd/placed.h"

namespace gt {

class PlacedDecoder {
 public:
  PlacedDecoder(Decoder& decoder, Registers& registers, TypeTable& types)
      : decoder_(decoder), registers_(registers), types_(types) {}

  // This worker is one of several. Both outlive the decoder.
  void join(const Hosting& hosting, RecipeTable& programs) {
    hosting_ = &hosting;
    programs_ = &programs;
  }

  // The entry has the action kParts; what failed before is among the parts.
  Decoding decode(const Line& line, std::string_view text, const Mesh* mesh);
  // `x = copy x #from=0 #to=1 #pieces=TYPE`: a value without ranks goes from
  // worker to worker. The entry has the action kExchange.
  Decoding decode_transfer(const Line& line, std::string_view text);

 private:
  using Parts = std::vector<std::unique_ptr<LineEntry>>;

  Status decode_parts(const Line& line, const Mesh* mesh, Decoding& out);
  // Whether this worker plays the rank of the line.
  bool is_mine(const Line& line, int64_t rank) const;
  bool are_mine(const Line& line, const std::vector<int64_t>& ranks) const;
  bool is_all_mine(const Line& line, const LineRanks& where) const;
  unsigned worker_of(const Line& line, int64_t rank) const;
  Status check_hosted(const Line& line, const LineRanks& where) const;
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
  void fail_ranks(const Line& line, const std::vector<int64_t>& ranks,
                  const Fault& fault, LineEntry& whole);
  Status add_group(const Line& line, const Group& group, Decoding& out);

  // placed_exchange.cc: with other workers.
  Status decode_crossing(const Line& line, const LineRanks& where,
                         const Grid& grid, Decoding& out);
  Status decode_own_groups(const Line& line, const LineRanks& where,
                           const Grid& grid, const PieceType& types,
                           Decoding& out);
  Status decode_gathering(const Line& line, const Grid& grid, Decoding& out);
  Status decode_sent(const Line& line, LineEntry& entry);
  void add_shown(const Line& line, const std::string& name, const Type& type,
                 LineEntry& entry);
  void add_made(const std::string& name, uint32_t target, const Type& type,
                LineEntry& entry);
  Status add_exchange(const Line& line, const ExchangePlan& plan,
                      const PieceType& types, Decoding& out);
  Status check_types(const Line& line, const Group& group) const;
  ExchangeOptions options(const Line& line) const;
  bool is_all_here(const ExchangePlan& plan) const;

  Decoder& decoder_;
  Registers& registers_;
  TypeTable& types_;
  const Hosting* hosting_ = nullptr;
  RecipeTable* programs_ = nullptr;
};

// The notes that a line's meaning depends on when there are other workers.
std::string exchange_notes(const Line& line);

}  // namespace gt

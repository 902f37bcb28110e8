// PlacedDecoder decodes a placed line, whose names have ranks (x@0-3), into
// what its ranks do: one part for each rank, or for each group of ranks where
// values cross between ranks. A worker on its own plays all ranks. One of
// several plays only its own, and a group that also has ranks of other workers
// becomes an exchange with these.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/decode/decoder.h"
#include "exec/decode/exchange_decoder.h"
#include "exec/decode/pieces.h"
#include "spmd/placed.h"

namespace gt::exec {

class PlacedDecoder {
 public:
  PlacedDecoder(Decoder& decoder, Registers& registers, TypeIds& types)
      : decoder_(decoder),
        registers_(registers),
        types_(types),
        pieces_(registers, types) {}

  // Must be called when this worker is one of several. Both arguments must
  // outlive the decoder; `programs` has the recipes of the communication
  // thread.
  void join(const Hosting& hosting, RecipeTable& programs) {
    pieces_.join(hosting);
    exchanges_.emplace(pieces_, registers_, types_, hosting, programs);
  }

  // Decodes a line into an entry with the action kParts. Failures of operands
  // are among the parts. The caller sets the entry's text; the parts have
  // theirs.
  Decoding decode(const Line& line, const Mesh* mesh);
  // Decodes `x = copy x #from=0 #to=1 #pieces=TYPE`, by which a value without
  // ranks goes from worker to worker, or `save x "PATH"` with these notes, by
  // which the second worker saves it. The entry has the action kExchange, or
  // kSave.
  Decoding decode_transfer(const Line& line);

 private:
  Status decode_parts(const Line& line, const Mesh* mesh, LineEntry& whole);
  Status decode_free(const Line& line, const LineRanks& where,
                     LineEntry& whole);
  Status decode_ranks(const Line& line, const Grid& grid, LineEntry& whole);
  Status decode_rank(const Line& local, size_t ranks, LineEntry& whole);
  Status check_part(const Line& line, const LocalLine& variant,
                    const LineEntry& part) const;
  Status decode_groups(const Line& line, const LineRanks& where,
                       const Grid& grid, LineEntry& whole);
  Status decode_crossing(const Line& line, const LineRanks& where,
                         const Grid& grid, LineEntry& whole);
  Status check_noted(const Line& line, const ExchangePlan& group) const;
  Status decode_assembly(const Line& line, const Grid& grid, LineEntry& whole);
  Status add_group(const Line& line, const ExchangePlan& group,
                   LineEntry& whole);
  void fail_ranks(const Line& line, const std::vector<int64_t>& ranks,
                  const Fault& fault, LineEntry& whole);
  void add_failure(const Line& local, const Fault& fault, LineEntry& whole);

  Decoder& decoder_;
  Registers& registers_;
  TypeIds& types_;
  Pieces pieces_;
  std::optional<ExchangeDecoder> exchanges_;  // only if there are other workers
};

}  // namespace gt::exec

// Finds the time and the memory that the lines of a placed stream take. For
// that it follows the types of the pieces that names hold. Most values have
// pieces of one type, and most lines do what a line before did on the same
// ranks. So what a line takes is found once for all lines of the same op and
// keys on the same ranks whose operands have pieces of the same types; then a
// line of 1,000 ranks costs what a line of one does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "program/type_ids.h"
#include "spmd/machine.h"
#include "spmd/mesh.h"
#include "spmd/placed.h"
#include "spmd/rank_set.h"
#include "stream/line.h"

namespace gt {

// The time and the memory that a line takes.
struct LineSize {
  // On the rank that takes longest; for a line that crosses ranks, until all
  // have what they receive.
  double seconds = 0;
  // By result, then by rank, ascending.
  std::vector<std::vector<uint64_t>> bytes;
};

class LineSizes {
 public:
  explicit LineSizes(const Machine& machine) : machine_(machine) {}

  // Takes the next instruction of the stream, and returns its size. What cannot
  // be typed takes nothing.
  LineSize take(const Line& line, const LineRanks& where);

 private:
  // Pieces of a name that were bound together.
  struct Part {
    Ranks ranks;  // ascending
    TypeId type;  // of all pieces, or the number of the list of their types
  };
  struct Known {
    double seconds = 0;
    std::vector<TypeId> results;  // as Part::type; kNoType: the type is unknown
  };
  // At most so many names, types and sizes are kept; then all are forgotten,
  // since a program that frees nothing may never end.
  static constexpr size_t kMost = size_t{1} << 20;
  static constexpr size_t kMostKnown = size_t{1} << 16;

  void limit();
  void free_all(const Line& line, const LineRanks& where);
  void unbind(std::string_view name, const Ranks& ranks);
  TypeId type_of(std::string_view name, const Ranks& ranks);
  TypeId piece_of(const std::vector<Part>& parts, int64_t rank) const;
  std::string key_of(const Line& line, const std::vector<TypeId>& operands);
  uint32_t number_of(std::string_view ranks);
  Known find(const Line& line, const LineRanks& where,
             const std::vector<TypeId>& operands);
  double crossing_seconds(const Line& line, const LineRanks& where,
                          const PieceType& types) const;
  uint64_t bytes_of(TypeId piece) const {
    return static_cast<uint64_t>(types_[piece].bytes());
  }

  const Machine machine_;
  Meshes meshes_;
  TypeIds types_;
  template <typename T>
  using ByText = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;
  ByText<std::vector<Part>> parts_;  // by name
  ByText<uint32_t> ranks_;           // numbers of sets of ranks, by their text
  ByText<Known> known_;
};

}  // namespace gt

// Makers: which event of a timeline made each value.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "stream/line.h"

namespace gt::log {

// The place at which a row is drawn: as one rank of its set, "3" or "-", or as
// a worker.
struct Seat {
  std::string rank;      // the rank; or the worker, if the row is drawn once
  size_t place;          // the position of the rank in the set
  size_t ranks;          // the size of the set
  std::string worker{};  // set if this is a rank of a worker's row; else ""
  bool crosses = false;  // the row may read a value that another worker made
};

class Makers {
 public:
  // The most values that are kept.
  static constexpr size_t kMost = 4'000'000;
  static constexpr uint32_t kNobody = UINT32_MAX;

  void add_worker(const std::string& worker) { workers_.insert(worker); }
  // Returns the events that made the operands of a line, those that are known.
  // The line's results are made by `event`, which began at `start`; or, if that
  // is kNobody, since the line only gives a value another name, by the event
  // that made the operand.
  std::vector<uint32_t> take(const Line& line, const Seat& seat, uint32_t event,
                             uint64_t start);

 private:
  struct Made {
    uint32_t event = kNobody;
    uint64_t start = 0;
  };
  Made maker_of(const Operand& operand, const Seat& seat) const;
  Made at(const std::string& key) const;
  static std::string key_of(std::string_view name, std::string_view rank,
                            std::string_view worker);

  // By name, rank and worker.
  std::unordered_map<std::string, Made, TextHash, std::equal_to<>> made_;
  std::set<std::string> workers_;
};

}  // namespace gt::log

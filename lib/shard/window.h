// The lines of a pipeline's microbatches that are put in order together
// (schedule.h), and the names under which they are written then.
//
// In the program each microbatch binds the same names again. In another order a
// value must not be overwritten before its last reader, so a value whose name
// is bound again within the window is written under a name of its own, _sm0,
// and freed behind its last reader. The last value of a name keeps it, as does
// the sum that grows from microbatch to microbatch.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/number_pool.h"
#include "shard/config.h"
#include "shard/register_bytes.h"
#include "shard/schedule.h"
#include "spmd/placed.h"
#include "stream/line.h"

namespace gt::shard {

// A name as an operand or result of a line has it.
struct WindowPart {
  uint32_t place = 0;  // the index of the operand or result
  uint32_t name = 0;   // its number in the window
  Ranks ranks;
  std::vector<uint64_t> bytes;  // of a result, on each of these
};

// What a line takes.
struct LineSize {
  double seconds = 0;                        // ScheduledLine::seconds
  std::vector<std::vector<uint64_t>> bytes;  // by result, by ascending rank
};

struct WindowLine {
  std::string text;
  bool is_free = false;
  bool says_microbatch = false;   // by its note
  std::vector<WindowPart> reads;  // of a free, what it frees
  std::vector<WindowPart> writes;
  // What its note #grad= names, of which it is the gradient.
  std::optional<uint32_t> target;
  ScheduledLine line;
};

class Window {
 public:
  bool is_empty() const { return lines_.empty(); }
  size_t size() const { return lines_.size(); }
  // How many microbatches its lines are of; whether lines of that one are
  // there.
  size_t microbatches() const { return microbatches_.size(); }
  bool has_microbatch(int64_t number) const {
    return microbatches_.count(number) > 0;
  }

  // Whether the line reads what a line of the window binds; whether it binds or
  // frees a name that lines of the window read or bind.
  bool is_read_by(const Line& line) const;
  bool is_changed_by(const Line& line) const;

  // Adds the next line of the program, which has ranks, as `where` says, and is
  // no declaration and no output. `microbatch`: what its note says, -1 if it
  // has none; then it is of the microbatch of what it reads, or of its first
  // reader.
  void add(std::string_view text, const Line& line, const LineRanks& where,
           int64_t microbatch, LineSize size);

  // Appends the lines in the order that was found, notes in `memory` what they
  // bind and free, and forgets them.
  Order close(ScheduleKind kind, RegisterBytes& memory, std::string& out);

 private:
  uint32_t number_of(std::string_view name);
  void find_microbatches();
  void find_backward();
  void delay_sources();

  std::vector<WindowLine> lines_;
  std::set<int64_t> microbatches_;
  struct Named {
    std::string text;
    bool is_bound = false;  // by a line of the window
  };
  std::vector<Named> names_;
  std::unordered_map<std::string, uint32_t> numbers_;  // of names
  NumberPool invented_;
};

}  // namespace gt::shard

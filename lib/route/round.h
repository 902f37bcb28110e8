// A round of a block as it was dispatched, and whether the next one, if it is
// the same text, does just the same: then nobody need look at its lines.
//
// What a kept line does follows from the types of the registers that it names
// and from the order of files, see Dispatcher::is_valid() and PathOrder. So two
// rounds of one text, of kept lines alone, after both of which these types are
// the same and between which no other register and no order changed, can be
// followed by any number of their like.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "route/homes.h"
#include "route/loads.h"
#include "route/route.h"

namespace gt {

// What a round begins with.
struct RoundStart {
  uint64_t seq = 0;
  uint64_t changes = 0;  // of other registers and of the order of files
};

class Round {
 public:
  struct Owed {
    uint32_t worker = 0;
    std::string_view heads;  // of a kept line
    uint64_t bytes = 0;
    uint64_t seq = 0;  // counted from the round's first
  };

  // All lines from now on are its own.
  void begin(const RoundStart& start, const Loads& loads);
  // What came was no part of a round that can come again.
  void drop() { is_on_ = false; }
  bool is_on() const { return is_on_; }

  // A line as it came, whatever it holds.
  void add_text(std::string_view line) {
    if (text_.size() > kMostBytes) return drop();
    text_.append(line).push_back('\n');
    ++lines_;
  }
  // An instruction, and the kept line that it is. A line without ranks is
  // placed by what workers have to do, so only one worker is no choice.
  void add(const Route& route, const Loads& loads) {
    if (!route.is_placed && loads.size() > 1) return drop();
    routes_.push_back(&route);
  }
  void owe(uint32_t worker, const RouteOwed& owed, uint64_t bytes,
           uint64_t seq) {
    owed_.push_back({worker, owed.heads, bytes, seq - start_.seq});
    owed_bytes_ += bytes;
  }

  // It is over; false: the next one may be another.
  bool end(const RoundStart& next, const Loads& loads, const Homes& homes);
  bool is_as(const Round& before) const {
    return text_ == before.text_ && types_ == before.types_;
  }

  const std::string& text() const { return text_; }
  uint64_t lines() const { return lines_; }
  uint64_t instructions() const { return routes_.size(); }
  uint64_t seqs() const { return seqs_; }  // that it took
  const std::vector<Owed>& owed() const { return owed_; }
  uint64_t owed_bytes() const { return owed_bytes_; }
  const std::vector<uint64_t>& costs() const { return costs_; }  // by worker

 private:
  static constexpr size_t kMostBytes = size_t{2} << 20;

  bool is_on_ = false;
  RoundStart start_;
  std::string text_;
  uint64_t lines_ = 0;
  std::vector<const Route*> routes_;
  std::vector<Owed> owed_;
  uint64_t owed_bytes_ = 0;
  std::vector<uint64_t> costs_;
  std::vector<TypeNumbers::Id> types_;  // of what its lines name, when it ended
  uint64_t seqs_ = 0;
};

}  // namespace gt

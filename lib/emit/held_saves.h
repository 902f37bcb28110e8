// HeldSaves keeps back what is written for a group of saves that the program
// has framed, from "#saves begin" on, until "#saves end" has come. So a program
// that is killed between the two leaves none of the group's files changed,
// however little of its text had arrived.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/origin.h"

namespace gt::emit {

class HeldSaves {
 public:
  struct Lines {
    std::string text;
    uint64_t cost = 0;
  };

  // True between the two marks.
  bool is_within() const { return state_ != State::kNone; }
  // True as long as the group may become whole.
  bool holds() const { return state_ == State::kHeld; }
  // Where the group begins.
  Origin begins_at() const { return begins_at_; }
  void begin(Origin at);
  // Adds what a line of the program was replaced by. Returns why the group
  // cannot be whole any more, or "".
  std::string_view add(std::string_view line, std::string_view lines,
                       uint64_t cost);
  // Gives up the group: returns what was kept back, but for the saves. Those to
  // come are not to be written either.
  Lines give_up();
  // Ends the group and returns what was kept back.
  Lines end();

 private:
  enum class State : uint8_t { kNone, kHeld, kGivenUp };

  State state_ = State::kNone;
  Origin begins_at_;
  Lines held_;
};

// Returns the lines that are not saves.
std::string without_saves(std::string_view lines);

}  // namespace gt::emit

// What a grad line's own notes and remark become.
#pragma once

#include <string>
#include <utility>

#include "stream/line.h"

namespace gt::emit {

// They go with the first target's gradient; its place goes with every line.
class GradientNotes {
 public:
  // `at`: the note of the place, for a line that has none.
  GradientNotes(const Line& line, std::string at) : at_(std::move(at)) {
    for (const Note& note : line.notes) {
      std::string text = " #" + std::string(note.key);
      if (!note.value.empty()) text += "=" + std::string(note.value);
      if (note.key == "at") {
        at_ = text;
      } else if (note.key != "signal" && note.key != "mb") {
        own_ += text;
      }
    }
    if (!line.remark.empty()) remark_ = " " + std::string(line.remark);
  }

  // The line's own, once, for the line of a target's gradient.
  std::string take() {
    is_remark_due_ = true;
    return std::exchange(own_, {});
  }

  void end_line(const std::string& notes, std::string& out) {
    out += notes + at_;
    if (is_remark_due_) out += std::exchange(remark_, {});
    out += "\n";
  }

 private:
  std::string own_, remark_, at_;
  bool is_remark_due_ = false;
};

}  // namespace gt::emit

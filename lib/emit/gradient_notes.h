// What becomes of the notes and the remark ("# text") that a user wrote on a
// grad line, of which many lines are made.
#pragma once

#include <string>
#include <utility>

#include "stream/line.h"

namespace gt::emit {

// #at= goes on every line. The other notes and the remark go on one, the first
// that gives a target's gradient; but not #signal and #mb, since each gradient
// line has those of its forward line.
class GradientNotes {
 public:
  // `at`: " #at=model.gt:7" for a line that has no such note, or "".
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

  // The user's notes, for the line of a target's gradient; "" but the first
  // time. The remark then ends that line.
  std::string take() {
    is_remark_due_ = true;
    return std::exchange(own_, {});
  }

  // Appends what follows the instruction, LF included.
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

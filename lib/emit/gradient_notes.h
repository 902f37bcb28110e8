// Distributes the notes and the remark ("# text") that a user wrote on a grad
// line over the lines that replace it.
#pragma once

#include <string>
#include <utility>

#include "stream/line.h"

namespace gt::emit {

// #at= goes on every line. The other notes and the remark go on one line, the
// first that gives a target's gradient. #signal and #mb are left out, since
// each gradient line has those of its forward line.
class GradientNotes {
 public:
  // `at` is " #at=model.gt:7" for a line that has no such note, or "".
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

  // Returns the user's notes, for the line of a target's gradient; "" after the
  // first time. The remark then ends that line.
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

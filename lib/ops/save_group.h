// SaveGroup: when a group of saves ends (gt-stream(5), "Files"), by the lines
// that stand behind its saves. The programs that must keep the saves of a round
// together follow their lines with it.
#pragma once

#include "ops/op.h"

namespace gt {

class SaveGroup {
 public:
  // True if the next save may belong to the group of the last one.
  bool is_open() const { return since_ < kMostBetween; }
  // Takes the next line, which is of this kind. Returns true if it ends the
  // group.
  bool follow(Statement statement) {
    switch (statement) {
      case Statement::kSave:
        since_ = 0;
        return false;
      case Statement::kPrint:
        return end();
      case Statement::kCompute:
      case Statement::kLoad:
      case Statement::kGrad:
        return is_open() && ++since_ == kMostBetween;
      default:
        return false;
    }
  }
  // A result is asked for. Returns true if there was a group.
  bool end() {
    const bool was_open = is_open();
    since_ = kMostBetween;
    return was_open;
  }

 private:
  // What belongs to one checkpoint stands closer together than so many lines
  // that compute.
  static constexpr int kMostBetween = 64;

  int since_ = kMostBetween;  // the lines that compute behind the last save
};

}  // namespace gt

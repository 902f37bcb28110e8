// A file that takes another's place once it is whole.
#pragma once

#include <string>

#include "base/result.h"
#include "exec/files.h"

namespace gt {

// Writes all of it from the descriptor's position on.
Status write_all(int fd, const void* data, size_t bytes);

// A temporary name beside the target; unlinked unless it took its place.
class Replacement {
 public:
  explicit Replacement(Files::Target target);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();

  int fd() const { return fd_.get(); }  // negative: errno_value() says why
  int errno_value() const { return errno_; }

  // The new file gets the old one's mode.
  void copy_mode() const;
  // The name goes, the descriptor stays: scratch space, gone with the program.
  void hide();
  // Takes the target's place.
  Status commit();

 private:
  Files::Target target_;
  std::string temporary_;  // "" once it is gone
  Fd fd_;
  int errno_ = 0;
};

}  // namespace gt

// A file that takes another's place once it is whole, and on the disk.
#pragma once

#include <string>

#include "base/result.h"
#include "file/files.h"

namespace gt {

// Writes all of it from the descriptor's position on.
Status write_all(int fd, const void* data, size_t bytes);

// A file without a name, which is gone with the program. It gets a temporary
// name beside the target for the moment in which it takes the target's place;
// on file systems without such files it has that name from the beginning. Who
// has a temporary file holds its lock, so that one without was left behind by a
// program that was killed, and whoever saves to that directory next removes it.
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
  // It shall never have a name: scratch space.
  void hide();
  // Takes the target's place. Once it returns, a loss of power cannot undo it.
  Status commit();

 private:
  void make_named();
  bool link();

  Files::Target target_;
  std::string temporary_;
  bool has_name_ = false;
  Fd fd_;
  int errno_ = 0;
};

}  // namespace gt

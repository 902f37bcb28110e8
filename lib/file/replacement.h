// Writes a file so that nobody ever sees half of it: the bytes go to a
// temporary file, which replaces the target in one step when all of them are on
// the disk. When writing fails half-way, or the program is killed, the target
// is as it was.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "file/files.h"

namespace gt {

// Writes all bytes at the descriptor's position. Errors: the system's message.
Status write_all(int fd, const void* data, size_t bytes);

// The temporary file has no name (O_TMPFILE), so that nothing is left of it
// when the program is killed. It gets a temporary name beside the target only
// for the moment in which it replaces the target. On file systems that have no
// files without a name it has the temporary name from the beginning. Its writer
// holds a lock on it, so that an unlocked one was left behind by a program that
// was killed. A process looks for such files when it makes its first
// Replacement in a directory, and removes those that its user owns. It does not
// look there again, so what is left behind later stays until another process
// writes there.
//
// If the target lies elsewhere (remote_files.h), the temporary file is scratch
// space here, and commit() stores it there.
class Replacement {
 public:
  // Makes the temporary file. On an error fd() is negative.
  explicit Replacement(Files::Target target);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  // Removes the temporary file; without commit() the target is as it was.
  ~Replacement();

  // True for the names of temporary files. A file of that name that no program
  // has locked is removed as one that was left behind.
  static bool is_name(std::string_view name);

  // The descriptor to write to; negative on an error, which errno_value()
  // gives.
  int fd() const { return fd_.get(); }
  int errno_value() const { return errno_; }

  // Gives the new file the target's mode, if there is a target.
  void copy_mode() const;
  // Takes the temporary name away, if there is one: the file then is scratch
  // space that never replaces anything.
  void hide();
  // Replaces the target, after all bytes are on the disk, and flushes the
  // directory, so that a loss of power cannot undo it. On an error the target
  // is as it was, unless the flush of the directory reports the error: then the
  // new file has its place already, and may be lost with the power. A directory
  // that cannot be flushed at all is no error: one that the user may not read,
  // or one of a file system that does not flush directories. Then, too, the new
  // file may be lost with the power.
  Status commit();
  // True if commit() failed because the file elsewhere is no longer the version
  // that was to be replaced (Files::Target::over).
  bool is_overtaken() const { return is_overtaken_; }

 private:
  void make_named();
  bool link();

  Files::Target target_;
  std::string temporary_;
  bool has_name_ = false;
  bool is_overtaken_ = false;
  Fd fd_;
  int errno_ = 0;
};

}  // namespace gt

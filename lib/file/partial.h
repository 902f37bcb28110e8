// A file that comes in parts, maybe from more than one program. Until it is
// whole it stands beside its target, under a name of its own, and it stays when
// the program that writes it ends.
//
// For the target x.npy the name is ".x.npy.WORD.gt-part". WORD says which file
// is coming, so that a program that continues it finds it, and does not take
// the rest of another file for it. The writer holds a lock on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "file/files.h"

namespace gt {

class Partial {
 public:
  // Opens what has come of the target so far, or makes a new file. Removes
  // other parts of the same target that nobody writes, and the oldest parts in
  // the directory if there are more than 16. `word` has up to 64 characters,
  // which must be allowed in a file's name. Returns null if another program
  // writes the part now. Errors: the system's message.
  static Result<std::unique_ptr<Partial>> open(Files::Target target,
                                               const std::string& word);
  // True if `name` is the name of such a part.
  static bool is_name(std::string_view name);

  int fd() const { return fd_.get(); }
  // Returns the number of bytes that have come.
  Result<uint64_t> size() const;

  // Returns when all bytes are on the disk. Must be called before take_place().
  Status flush() const;
  // Moves the part to the target's place, as take_place() in place.h does.
  // Errors: the system's message.
  Status take_place();
  // Deletes the part, which is no longer wanted.
  void remove();

 private:
  Partial(Files::Target target, std::string name)
      : target_(std::move(target)), name_(std::move(name)) {}

  Files::Target target_;
  std::string name_;
  Fd fd_;
};

}  // namespace gt

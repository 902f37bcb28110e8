// A file that comes in parts, maybe of more than one program: until it is whole
// it stands beside its target, under a name of its own, and it outlives who
// writes it.
//
// For the target x.npy it is ".x.npy.WORD.gt-part". The word says which file is
// coming, so that who goes on with it finds it, and one that another file has
// left is not taken for it. Its writer holds a lock on it.
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
  // Opens what has come of the target, or makes it anew. Others of the same
  // target that nobody writes are removed; so are the oldest of more than 16 in
  // the directory. `word`: up to 64 characters that may stand in a file's name.
  // Null: somebody else writes it now. Errors: the system's message.
  static Result<std::unique_ptr<Partial>> open(Files::Target target,
                                               const std::string& word);
  // Whether a file's name is one of those.
  static bool is_name(std::string_view name);

  int fd() const { return fd_.get(); }
  // Bytes that have come.
  Result<uint64_t> size() const;

  // Returns when all bytes are on the disk; to be called before take_place().
  Status flush() const;
  // It takes the target's place, as place.h says. Error: the system's message.
  Status take_place();
  // It is not wanted any more.
  void remove();

 private:
  Partial(Files::Target target, std::string name)
      : target_(std::move(target)), name_(std::move(name)) {}
  bool lock();

  Files::Target target_;
  std::string name_;
  Fd fd_;
};

}  // namespace gt

// How a new file takes the place of an old one: what Replacement and Partial
// share. The bytes are on the disk before the name is: else a loss of power may
// leave the name of an empty file.
#pragma once

#include <string>

#include "base/result.h"
#include "file/files.h"

namespace gt {

// Gives a new file the mode of the file whose place it will take, if there is
// one.
void copy_mode(const Files::Target& target, int fd);

// Returns when all bytes are on the disk. Error: the system's message.
Status flush_bytes(int fd);

// The file `temporary`, which stands in the target's directory, takes the
// target's place. When it returns without an error, a loss of power cannot undo
// it. `has_name`: whether `temporary` still is a name; an error that comes when
// it is none anymore is that of the directory's flush, and then the new file
// has its place, and may be lost with the power.
Status take_place(const Files::Target& target, const std::string& temporary,
                  bool& has_name);

}  // namespace gt

// Puts a new file in the place of an old one, and removes new files that were
// left behind, for Replacement and Partial. The bytes must be on the disk
// before the name is: else a loss of power may leave the name of an empty file.
#pragma once

#include <string>

#include "base/result.h"
#include "file/files.h"

namespace gt {

// Gives a new file the permissions of the file whose place it will take, if
// there is one.
void copy_mode(const Files::Target& target, int fd);

// Returns when all bytes are on the disk. Errors: the system's message.
Status flush_bytes(int fd);

// Locks an open file (flock(2)). True if nobody else has locked it, and it
// still has this name in the directory. If another program holds the lock,
// errno is EWOULDBLOCK.
bool lock_named(const Fd& fd, const Fd& directory, const std::string& name);

// Removes a temporary file of this user, unless a program writes it: that holds
// a lock on it (flock(2)). The lock is held here until the name is gone, since
// a program that has just made the file may be about to take it.
void remove_unless_written(const Fd& directory, const std::string& name);

// Moves the file `temporary`, in the target's directory, to the target's place.
// When it returns without an error, a loss of power cannot undo that. Sets
// `has_name` to false once `temporary` is no longer a name. An error after that
// comes from flushing the directory: then the new file has its place, and may
// be lost with the power.
Status take_place(const Files::Target& target, const std::string& temporary,
                  bool& has_name);

}  // namespace gt

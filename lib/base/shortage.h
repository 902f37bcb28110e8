// What a program cannot go on without: descriptors, threads, memory. Where one
// is short, an exception says so, which nobody catches: the program's guard
// (cmd/program.h) tells it and ends the process with status 2, whichever thread
// it was.
#pragma once

#include <cerrno>
#include <system_error>

namespace gt {

// `what` could not be done, as errno says.
[[noreturn]] inline void fail_short(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace gt

// Reports a shortage of what a program cannot go on without: descriptors,
// threads, memory. The report is an exception, which only the program's guard
// (cmd/program.h) catches: it prints the message and ends the process with
// status 2, whichever thread it was.
#pragma once

#include <cerrno>
#include <system_error>

namespace gt {

// Throws std::system_error: `what` could not be done, for the reason in errno.
[[noreturn]] inline void fail_short(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace gt

// Blocking reads and writes of descriptors. They go on after EINTR. They wait
// with poll() after EAGAIN, since a descriptor may be shared with a program
// that made it non-blocking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gt {

// Reads once, waiting until there is something. Returns the number of bytes, 0
// at the end of input, or -1 with errno set.
long read_some(int fd, char* to, size_t size);
// True if the descriptor is a pipe or a socket, and, for standard input, if
// read_some() has never read a byte from it. Callers ask this when the input
// ended without a byte. Such an end is suspicious: the program at the other end
// may have failed at its start.
bool is_empty_pipe(int fd);

// Reads `size` bytes at `offset` of a file, without moving its position.
// Errors: the system's message; "is cut short" followed by `where` if the file
// ends before.
Status read_at(int fd, size_t offset, void* to, size_t size,
               const char* where = "");
// Writes all of the bytes at that offset, and asks the system to start bringing
// them to the disk, so that a program that writes a large file and waits for
// the disk at its end waits less. Errors: the system's message.
Status write_at(int fd, size_t offset, std::string_view bytes);

// Appends the whole of a file (or the rest of an open one) to the text, until
// the text has `limit` bytes. Returns 0, or the errno of what went wrong.
int read_whole(const std::string& path, std::string& text,
               size_t limit = SIZE_MAX);
int read_whole(int fd, std::string& text, size_t limit = SIZE_MAX);

// Writes all bytes, waiting as long as it takes. Returns 0, or the errno of
// what went wrong.
int write_all(int fd, std::string_view bytes);

// Writes as much of the bytes as the descriptor takes without waiting. Returns
// how many bytes that was, or -1 with errno set.
long write_ready(int fd, std::string_view bytes);

}  // namespace gt

// Reads and writes that wait: interruptions, and descriptors that are shared
// with a program that made them non-blocking, are not errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gt {

// Bytes read, 0 at the end; -1: errno says why.
long read_some(int fd, char* to, size_t size);
// Of a descriptor that has come to its end and given nothing: whether it is a
// pipe or a socket, which a program that fails at once leaves so. Standard
// input is none if read_some() has ever got anything from it.
bool is_empty_pipe(int fd);

// All bytes from there on. Errors: what went wrong; "is cut short", and where.
Status read_at(int fd, size_t offset, void* to, size_t size,
               const char* where = "");

// The whole of a file, or the rest of an open one, up to so many bytes; 0, or
// the errno of what went wrong.
int read_whole(const std::string& path, std::string& text,
               size_t limit = SIZE_MAX);
int read_whole(int fd, std::string& text, size_t limit = SIZE_MAX);

// 0, or the errno of what went wrong.
int write_all(int fd, std::string_view bytes);

}  // namespace gt

// What the libraries to preload (LD_PRELOAD) in this folder share: a call finds
// the system's one, whose place it takes, and reports to a file, by system
// calls that no such library has taken.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

template <typename F>
F* next(F*, const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

// Appends the text to the file that an environment variable names, if it does.
inline void append(const char* variable, const char* text) {
  const char* path = std::getenv(variable);
  if (path == nullptr) return;
  const auto fd = static_cast<int>(::syscall(
      SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0666));
  if (fd < 0) return;
  ::syscall(SYS_write, fd, text, std::strlen(text));
  ::syscall(SYS_close, fd);
}

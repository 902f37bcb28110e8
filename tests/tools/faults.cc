// A library to preload (LD_PRELOAD) that makes one call of a program fail, as
// tests/oracle/fault_loops.py asks for:
//
//   GT_FAULT=CLASS:K:HOW[:PROGRAM]   the K-th call of CLASS fails with HOW, an
//                                    errno's number; a K+ means all from there
//                                    on; HOW 0: it transfers one byte only;
//                                    HOW -1: the process is killed
//   GT_FAULT_COUNTS=FILE             appends "PROGRAM CLASS COUNT" of all
//                                    classes when main has returned
//   GT_FAULT_HIT=FILE                appends "CLASS K" when a call was failed
//
// The classes: read, write, open, rename (and link), sync and random are calls
// of the program itself. socket (what makes a descriptor), thread, map and
// memory are calls of its libraries, too, except those of libzmq's own threads,
// since libzmq 4.3.4 does not check its allocations there, and glibc's look at
// /etc/protocols. Calls before main are not counted, nor calls that cannot
// fail: transfers on eventfd and the like, and messages on standard error; nor
// what the kernel tells about the machine, since each machine has more or less
// of it (the limits of control groups) and K would mean another call.
#include "preload.h"

#include <link.h>
#include <linux/magic.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

enum Class {
  kRead,
  kWrite,
  kOpen,
  kRename,
  kSync,
  kSocket,
  kThread,
  kMap,
  kMemory,
  kRandom,
  kClasses
};
constexpr const char* kNames[kClasses] = {
    "read",   "write",  "open", "rename", "sync",
    "socket", "thread", "map",  "memory", "random"};

std::atomic<bool> g_armed{false};
std::atomic<long> g_counts[kClasses];
thread_local bool g_is_foreign = false;  // this is a thread of libzmq
int g_class = -1;
long g_k = 0;
bool g_goes_on = false;
int g_how = 0;
uintptr_t g_begin = 0, g_end = 0;  // where the program itself is

bool is_own(void* caller) {
  const auto at = reinterpret_cast<uintptr_t>(caller);
  return at >= g_begin && at < g_end;
}

// Whether the kernel makes up the file's text as it is read.
bool is_of_kernel(int fd) {
  struct statfs info {};
  if (::fstatfs(fd, &info) != 0) return false;
  return info.f_type == PROC_SUPER_MAGIC || info.f_type == SYSFS_MAGIC ||
         info.f_type == CGROUP_SUPER_MAGIC ||
         info.f_type == CGROUP2_SUPER_MAGIC;
}

// Only calls on files, pipes and terminals can fail.
bool can_fail(int fd) {
  if (fd == STDERR_FILENO || is_of_kernel(fd)) return false;
  struct stat info {};
  return ::fstat(fd, &info) != 0 || (info.st_mode & S_IFMT) != 0;
}

// Whether this call has to fail.
bool hits(Class which) {
  if (!g_armed.load(std::memory_order_relaxed) || g_is_foreign) return false;
  const long n = g_counts[which].fetch_add(1) + 1;
  if (which != g_class || g_k == 0 || n < g_k) return false;
  if (!g_goes_on && n > g_k) return false;
  char text[64];
  std::snprintf(text, sizeof text, "%s %ld\n", kNames[which], n);
  append("GT_FAULT_HIT", text);
  if (g_how < 0) ::raise(SIGKILL);
  return true;
}

// libzmq ends the process if it gets no thread, so its calls do not fail here;
// gt asks for the threads before.
bool is_of_zmq(void* caller) {
  Dl_info info{};
  return ::dladdr(caller, &info) != 0 &&
         std::strstr(info.dli_fname, "libzmq") != nullptr;
}

struct Foreign {
  void* (*start)(void*);
  void* argument;
};

void* run_foreign(void* data) {
  const Foreign foreign = *static_cast<Foreign*>(data);
  std::free(data);
  g_is_foreign = true;
  return foreign.start(foreign.argument);
}

// Sets errno if a call that gives a descriptor or a status has to fail with -1.
bool fails(Class which) {
  if (!hits(which)) return false;
  errno = g_how;
  return true;
}

int find_program(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& p = info->dlpi_phdr[i];
    if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0) continue;
    g_begin = info->dlpi_addr + p.p_vaddr;
    g_end = g_begin + p.p_memsz;
  }
  return 1;  // the first is the program
}

void read_environment() {
  dl_iterate_phdr(find_program, nullptr);
  const char* text = std::getenv("GT_FAULT");
  char name[32] = "", k[32] = "", program[64] = "";
  if (text == nullptr || std::sscanf(text, "%31[^:]:%31[^:]:%d:%63s", name, k,
                                     &g_how, program) < 3) {
    return;
  }
  if (*program != '\0' &&
      std::strcmp(program, program_invocation_short_name) != 0) {
    return;
  }
  for (int i = 0; i < kClasses; ++i) {
    if (std::strcmp(name, kNames[i]) == 0) g_class = i;
  }
  g_k = std::atol(k);
  g_goes_on = std::strchr(k, '+') != nullptr;
}

using Main = int(int, char**, char**);
Main* g_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  read_environment();
  g_armed = true;
  const int status = g_main(argc, argv, environment);
  g_armed = false;
  for (int i = 0; i < kClasses; ++i) {
    char line[128];
    std::snprintf(line, sizeof line, "%s %s %ld\n",
                  program_invocation_short_name, kNames[i], g_counts[i].load());
    append("GT_FAULT_COUNTS", line);
  }
  return status;
}

}  // namespace

extern "C" {

int __libc_start_main(Main* program, int argc, char** argv, void (*init)(),
                      void (*fini)(), void (*rtld_fini)(), void* stack) {
  using Start =
      int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  g_main = program;
  return next(static_cast<Start*>(nullptr), "__libc_start_main")(
      counted_main, argc, argv, init, fini, rtld_fini, stack);
}

#define OWN is_own(__builtin_return_address(0))

ssize_t read(int fd, void* to, size_t size) {
  static auto* const real = next(&::read, "read");
  if (size > 0 && OWN && can_fail(fd) && hits(kRead)) {
    if (g_how == 0) return real(fd, to, 1);
    errno = g_how;
    return -1;
  }
  return real(fd, to, size);
}

ssize_t pread(int fd, void* to, size_t size, off_t at) {
  static auto* const real = next(&::pread, "pread");
  if (size > 0 && OWN && hits(kRead)) {
    if (g_how == 0) return real(fd, to, 1, at);
    errno = g_how;
    return -1;
  }
  return real(fd, to, size, at);
}

ssize_t write(int fd, const void* from, size_t size) {
  static auto* const real = next(&::write, "write");
  if (size > 0 && OWN && can_fail(fd) && hits(kWrite)) {
    if (g_how == 0) return real(fd, from, 1);
    errno = g_how;
    return -1;
  }
  return real(fd, from, size);
}

ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at,
                        size_t size, unsigned flags) {
  static auto* const real = next(&::copy_file_range, "copy_file_range");
  if (size > 0 && OWN && hits(kWrite)) {
    if (g_how == 0) return real(from, from_at, to, to_at, 1, flags);
    errno = g_how;
    return -1;
  }
  return real(from, from_at, to, to_at, size, flags);
}

int open(const char* path, int flags, ...) {
  static auto* const real = next(&::open, "open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (OWN && fails(kOpen)) return -1;
  return real(path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  static auto* const real = next(&::openat, "openat");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (OWN && fails(kOpen)) return -1;
  return real(directory, path, flags, mode);
}

int renameat(int a, const char* from, int b, const char* to) noexcept {
  static auto* const real = next(&::renameat, "renameat");
  return OWN && fails(kRename) ? -1 : real(a, from, b, to);
}

int linkat(int a, const char* from, int b, const char* to, int f) noexcept {
  static auto* const real = next(&::linkat, "linkat");
  return OWN && fails(kRename) ? -1 : real(a, from, b, to, f);
}

int fsync(int fd) {
  static auto* const real = next(&::fsync, "fsync");
  return OWN && fails(kSync) ? -1 : real(fd);
}

ssize_t getrandom(void* to, size_t size, unsigned flags) {
  static auto* const real = next(&::getrandom, "getrandom");
  return OWN && fails(kRandom) ? -1 : real(to, size, flags);
}

int socket(int domain, int type, int protocol) noexcept {
  static auto* const real = next(&::socket, "socket");
  return fails(kSocket) ? -1 : real(domain, type, protocol);
}

int eventfd(unsigned count, int flags) noexcept {
  static auto* const real = next(&::eventfd, "eventfd");
  return fails(kSocket) ? -1 : real(count, flags);
}

int epoll_create1(int flags) noexcept {
  static auto* const real = next(&::epoll_create1, "epoll_create1");
  return fails(kSocket) ? -1 : real(flags);
}

int memfd_create(const char* name, unsigned flags) noexcept {
  static auto* const real = next(&::memfd_create, "memfd_create");
  return fails(kSocket) ? -1 : real(name, flags);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                   void* (*start)(void*), void* argument) noexcept {
  static auto* const real = next(&::pthread_create, "pthread_create");
  if (!is_of_zmq(__builtin_return_address(0))) {
    return hits(kThread) ? g_how : real(thread, attributes, start, argument);
  }
  auto* foreign = static_cast<Foreign*>(__libc_malloc(sizeof(Foreign)));
  *foreign = {start, argument};
  return real(thread, attributes, run_foreign, foreign);
}

// libzmq calls this as it starts (OpenPGM does). If there is no memory for it,
// glibc 2.36 follows a null pointer (nss_database.c).
int getprotobyname_r(const char* name, protoent* entry, char* buffer,
                     size_t size, protoent** result) {
  static auto* const real = next(&::getprotobyname_r, "getprotobyname_r");
  g_is_foreign = true;
  const int status = real(name, entry, buffer, size, result);
  g_is_foreign = false;
  return status;
}

void* mmap(void* at, size_t size, int protection, int flags, int fd,
           off_t offset) noexcept {
  static auto* const real = next(&::mmap, "mmap");
  if (OWN && fails(kMap)) return MAP_FAILED;
  return real(at, size, protection, flags, fd, offset);
}

void* malloc(size_t size) noexcept {
  return fails(kMemory) ? nullptr : __libc_malloc(size);
}

void* calloc(size_t count, size_t size) noexcept {
  return fails(kMemory) ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) noexcept {
  return fails(kMemory) ? nullptr : __libc_realloc(old, size);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return fails(kMemory) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** to, size_t alignment, size_t size) noexcept {
  if (fails(kMemory)) return g_how;  // the kernel has set errno
  *to = __libc_memalign(alignment, size);
  return *to == nullptr ? ENOMEM : 0;
}

}  // extern "C"

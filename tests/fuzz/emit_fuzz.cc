// Takes any bytes as a program for gt-emit: it answers each line, prints its
// own stream unchanged, and writes the same with replay and without. The first
// byte says how often the rest comes, as the rounds of a loop do, and the
// options.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/writer.h"
#include "emit/emitter.h"
#include "target.h"

namespace {

struct Emitted {
  std::string stream;
  gt::Exit status;
};

Emitted emit(const std::string& program, gt::emit::EmitOptions options,
             bool replay) {
  static const int fd = ::memfd_create("stream", MFD_CLOEXEC);
  if (::ftruncate(fd, 0) != 0 || ::lseek(fd, 0, SEEK_SET) != 0) std::abort();
  gt::emit::EmitJob job;
  job.session = std::move(options);
  job.inputs.push_back({gt::emit::EmitInput::Kind::kText, program, 1});
  job.replay = replay;
  gt::Writer writer(fd);
  Emitted done;
  done.status = gt::emit::emit(job, writer, [](std::string_view) {});
  writer.flush();
  const off_t size = ::lseek(fd, 0, SEEK_CUR);
  done.stream.resize(static_cast<size_t>(size));
  if (::pread(fd, done.stream.data(), done.stream.size(), 0) != size) {
    std::abort();
  }
  return done;
}

void same(const Emitted& a, const Emitted& b, const char* what) {
  if (a.stream == b.stream && a.status == b.status) return;
  std::fprintf(stderr, "%s\n-- status %d\n%s\n-- status %d\n%s\n", what,
               static_cast<int>(a.status), a.stream.c_str(),
               static_cast<int>(b.status), b.stream.c_str());
  std::abort();
}

}  // namespace

GT_FUZZ_TARGET(emit) {
  if (size == 0) return 0;
  const unsigned choice = data[0];
  std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
  body += '\n';
  std::string program;
  for (unsigned round = 0; round <= choice % 8; ++round) program += body;
  gt::emit::EmitOptions options;
  if ((choice & 8) != 0) options.history = 3;
  options.fail_fast = (choice & 16) != 0;
  options.tape = (choice & 32) != 0;
  const bool replays = (choice & 64) != 0;
  const Emitted once = emit(program, options, replays);
  if (options.tape) return 0;
  if (replays) {
    same(once, emit(program, options, false), "replay makes a difference");
    return 0;
  }
  options.fail_fast = false;  // that stream has nothing to reject
  same(once, emit(once.stream, options, false), "its own output is changed");
  return 0;
}

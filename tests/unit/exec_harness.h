// A worker that is fed with text, and all that it prints and says.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "exec/backend/registry.h"
#include "exec/worker/worker.h"

namespace gt::exec {

// A file in memory.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("gt-test", MFD_CLOEXEC)) {}
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int fd() const { return fd_; }
  std::string text() const {
    std::string out(static_cast<size_t>(::lseek(fd_, 0, SEEK_END)), '\0');
    const ssize_t n = ::pread(fd_, out.data(), out.size(), 0);
    EXPECT_EQ(n, static_cast<ssize_t>(out.size()));
    return out;
  }

 private:
  int fd_;
};

struct Outcome {
  std::string out;
  std::string messages;
  Exit status = Exit::kDone;
  WorkerStats stats;
};

// Runs the lines of `text` as if they were in a file called "t".
inline Outcome run_text(Backend& backend, const std::string& text,
                        const WorkerOptions& options = {},
                        const std::vector<std::string>& roots = {}) {
  Outcome outcome;
  MemoryFile file;
  const std::string name = "t";
  {
    Writer writer(file.fd());
    auto files = Files::make(roots);
    EXPECT_TRUE(files.ok());
    Worker worker(
        backend, files.value(), writer,
        [&outcome](const Report& r) { outcome.messages += r.text; }, options);
    uint64_t number = 0;
    for (size_t at = 0; at < text.size() && !worker.stopped();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      worker.line(std::string_view(text).substr(at, end - at), &name, ++number);
      at = end + 1;
    }
    outcome.status = worker.finish();
    outcome.stats = worker.stats();
  }
  outcome.out = file.text();
  return outcome;
}

inline Outcome run_text(const std::string& text,
                        const WorkerOptions& options = {},
                        const std::vector<std::string>& roots = {}) {
  const auto backend = make_backend("ref", {});
  EXPECT_TRUE(backend.ok());
  return run_text(*backend.value(), text, options, roots);
}

}  // namespace gt::exec

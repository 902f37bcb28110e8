// Takes any bytes as a program: a worker answers each print with one line, and
// says the same with its tables and without them.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "exec/backend/registry.h"
#include "exec/worker/worker.h"
#include "target.h"

namespace {

struct Outcome {
  std::string out;
  std::string messages;
  gt::Exit status;
};

Outcome run(gt::exec::Backend& backend, std::string_view text, bool caches) {
  Outcome outcome;
  static const std::string kName = "fuzz";
  // No file can be made below this root, and none in it is a .npy file.
  static const gt::Files kFiles = gt::Files::make({"/proc/self/task"}).value();
  const int fd = ::memfd_create("out", MFD_CLOEXEC);
  {
    gt::Writer writer(fd);
    gt::exec::WorkerOptions options;
    options.memory = size_t{64} << 10;
    options.caches = caches;
    gt::exec::Worker worker(
        backend, kFiles, writer,
        [&outcome](const gt::exec::Report& r) { outcome.messages += r.text; },
        options);
    uint64_t number = 0;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      worker.line(text.substr(0, end), &kName, ++number);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    outcome.status = worker.finish();
  }
  outcome.out.resize(static_cast<size_t>(::lseek(fd, 0, SEEK_END)));
  if (::pread(fd, outcome.out.data(), outcome.out.size(), 0) < 0) std::abort();
  ::close(fd);
  return outcome;
}

}  // namespace

GT_FUZZ_TARGET(worker) {
  static const auto backend =
      std::move(gt::exec::make_backend("ref", {}).value());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Outcome with = run(*backend, text, true);
  const Outcome without = run(*backend, text, false);
  if (with.out != without.out || with.messages != without.messages ||
      with.status != without.status) {
    std::abort();
  }
  return 0;
}

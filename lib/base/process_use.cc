#include "base/process_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/io.h"
#include "base/text.h"

namespace gt {
namespace {

uint64_t ns_of(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_usec) * 1000;
}

// Returns the second number of /proc/self/statm, which counts pages.
uint64_t resident_pages() {
  std::string text;
  if (read_whole("/proc/self/statm", text) != 0) return 0;
  std::string_view rest = text;
  (void)take_word(rest);
  uint64_t pages = 0;
  return read_number(take_word(rest), pages) ? pages : 0;
}

}  // namespace

ProcessUse process_use() {
  rusage used{};
  (void)::getrusage(RUSAGE_SELF, &used);
  return {ns_of(used.ru_utime) + ns_of(used.ru_stime),
          resident_pages() * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE))};
}

}  // namespace gt

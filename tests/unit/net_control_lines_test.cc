// Lines that control a worker are read as they were written.
#include "net/control_lines.h"

#include <gtest/gtest.h>

namespace gt::net {
namespace {

// The parsed line as text, or the error.
std::string again(std::string_view line) {
  if (is_file_line(line)) return file_line(parse_file_line(line));
  if (is_ranks_line(line)) {
    const auto ranks = parse_ranks_line(line);
    return ranks.ok() ? text_of(ranks.value()) : ranks.error().message;
  }
  if (!is_fence_line(line)) return "neither";
  const auto fence = parse_fence_line(line);
  return fence.ok() ? text_of(fence.value()) : fence.error().message;
}

TEST(ControlLines, AreReadAsTheyWereWritten) {
  for (const char* line :
       {"#file \"a b.gt\"", "#ranks - 0-3=1 4-4=2", "#ranks c1 0-0=2",
        "#ranks c1", "#fence 0 1 \"x.npy\"", "#fence 2 0,1 \"a\\\"b\""}) {
    EXPECT_EQ(again(line), line);
  }
}

TEST(ControlLines, AreReadInShorterForms) {
  EXPECT_EQ(again("#ranks - 0=1"), "#ranks - 0-0=1");
  EXPECT_EQ(again("#fence 0 1"), "#fence 0 1 \"\"");
}

TEST(ControlLines, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(again("#ranks "), "#ranks: usage: #ranks SPACE RANKS=WORKER...");
  for (const char* block :
       {"x", "0", "3-1=0", "-1=0", "0-65536=0", "0-=1", "1=", "=1", "0=-1"}) {
    EXPECT_EQ(again("#ranks - " + std::string(block)),
              "#ranks: '" + std::string(block) +
                  "' is not RANK=WORKER or FIRST-LAST=WORKER");
  }
  EXPECT_EQ(again("#fence 0"), "usage: #fence FROM TO,... FILE");
  EXPECT_EQ(again("#fence 0 a \"f\""), "#fence: 'a' is no worker");
}

}  // namespace
}  // namespace gt::net

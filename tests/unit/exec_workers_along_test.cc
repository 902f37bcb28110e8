#include "exec/decode/workers_along.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "exec/decode/hosting.h"
#include "spmd/mesh.h"
#include "stream/line.h"

namespace gt::exec {
namespace {

using Sets = std::vector<comm::Workers>;

// The sets of workers along the axes of these lines, with these words of
// "#ranks".
Sets sets_of(std::initializer_list<const char*> lines, unsigned workers,
             const std::string& ranks) {
  Meshes meshes;
  for (const char* text : lines) {
    Line line;
    EXPECT_TRUE(parse_line(text, line).ok()) << text;
    EXPECT_TRUE(meshes.take(line).ok()) << text;
  }
  Hosting hosting(0, workers);
  const auto line = net::parse_ranks_line("#ranks " + ranks);
  EXPECT_TRUE(line.ok() && hosting.take(line.value()).ok()) << ranks;
  return workers_along(*meshes.of("x"), hosting, "x");
}

TEST(WorkersAlong, AreThoseOfEachAxisAndOfEachPair) {
  EXPECT_EQ(sets_of({"mesh dp=2 tp=2"}, 4, "- 0-0=0 1-1=1 2-2=2 3-3=3"),
            (Sets{{0, 2}, {1, 3}, {0, 1}, {2, 3}}));
  EXPECT_EQ(sets_of({"mesh d=2"}, 2, "- 0-0=1 1-1=0"), (Sets{{0, 1}}));
  EXPECT_EQ(sets_of({"mesh a=2 b=2 c=2"}, 8,
                    "- 0-0=0 1-1=1 2-2=2 3-3=3 4-4=4 5-5=5 6-6=6 7-7=7"),
            (Sets{{0, 4},
                  {1, 5},
                  {2, 6},
                  {3, 7},
                  {0, 2},
                  {1, 3},
                  {4, 6},
                  {5, 7},
                  {0, 1},
                  {2, 3},
                  {4, 5},
                  {6, 7},
                  {0, 2, 4, 6},
                  {1, 3, 5, 7},
                  {0, 1, 4, 5},
                  {2, 3, 6, 7},
                  {0, 1, 2, 3},
                  {4, 5, 6, 7}}));
}

TEST(WorkersAlong, AreThoseOfFlattenedAxes) {
  EXPECT_EQ(sets_of({"mesh dp=2 tp=1", "axis all=dp*tp"}, 2, "- 0-0=0 1-1=1"),
            (Sets{{0, 1}}));
  const Sets four =
      sets_of({"mesh a=2 b=2 c=2 d=2", "axis e=a*b*c"}, 2, "- 0-7=0 8-15=1");
  EXPECT_EQ(four, (Sets{{0, 1}}));
}

TEST(WorkersAlong, AreOneForSeveralRanksOfAWorker) {
  // Ranks 0 and 1 belong to one worker, ranks 2 and 3 to another, and so on.
  EXPECT_EQ(sets_of({"mesh dp=2 tp=4"}, 4, "- 0-1=0 2-3=1 4-5=2 6-7=3"),
            (Sets{{0, 2}, {1, 3}, {0, 1}, {2, 3}}));
  EXPECT_EQ(sets_of({"mesh dp=2 tp=2"}, 1, "- 0-3=0"), Sets{});
}

TEST(WorkersAlong, AreNoneWhereARankHasNoWorker) {
  EXPECT_EQ(sets_of({"mesh dp=2 tp=2"}, 4, "- 0-0=0 1-1=1 2-2=2"), Sets{});
}

}  // namespace
}  // namespace gt::exec

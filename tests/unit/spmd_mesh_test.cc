// Meshes, sets of ranks within them, and how split= cuts.
#include "spmd/mesh.h"

#include <gtest/gtest.h>

#include <numeric>

#include "spmd/split.h"
#include "stream/ranks.h"

namespace gt {
namespace {

Status take(Meshes& meshes, std::string_view text) {
  Line line;
  EXPECT_TRUE(parse_line(text, line).ok());
  return meshes.take(line);
}

const Mesh* mesh_for(const Meshes& meshes, std::string_view text) {
  static Line line;
  EXPECT_TRUE(parse_line(text, line).ok());
  return meshes.of(line);
}

std::vector<int64_t> all_of(int64_t n) {
  std::vector<int64_t> ranks(static_cast<size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::string message_of(const Status& s) {
  return s.ok() ? "" : s.error().message;
}

using Groups = std::vector<std::vector<uint32_t>>;

TEST(Meshes, StandUntilTheirEnd) {
  Meshes meshes;
  EXPECT_EQ(mesh_for(meshes, "x@0 = ones f32[]"), nullptr);
  ASSERT_TRUE(take(meshes, "mesh dp=2 tp=4").ok());
  ASSERT_TRUE(take(meshes, "mesh pp=8").ok());
  EXPECT_EQ(mesh_for(meshes, "x@0 = ones f32[]")->describe(), "pp=8");
  ASSERT_TRUE(take(meshes, "endmesh").ok());
  EXPECT_EQ(mesh_for(meshes, "x@0 = ones f32[]")->describe(), "dp=2 tp=4");
  ASSERT_TRUE(take(meshes, "endmesh").ok());
  EXPECT_EQ(message_of(take(meshes, "endmesh")),
            "endmesh: no mesh stands here");
}

TEST(Meshes, BelongToNameSpaces) {
  Meshes meshes;
  ASSERT_TRUE(take(meshes, "mesh dp=2").ok());
  ASSERT_TRUE(take(meshes, "mesh tp=3 space=c1").ok());
  EXPECT_EQ(mesh_for(meshes, "c1/x@0 = ones f32[]")->describe(), "tp=3");
  EXPECT_EQ(mesh_for(meshes, "act/x@0 = ones f32[]")->describe(), "dp=2");
  EXPECT_EQ(mesh_for(meshes, "print c1/x@0")->describe(), "tp=3");
}

TEST(Meshes, ALoopThatDeclaresItsMeshChangesNothing) {
  Meshes meshes;
  ASSERT_TRUE(take(meshes, "mesh dp=2").ok());
  const uint64_t version = meshes.version();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(take(meshes, "mesh dp=2").ok());
  EXPECT_EQ(meshes.version(), version);
}

TEST(Meshes, SayWhatIsWrong) {
  Meshes meshes;
  EXPECT_EQ(message_of(take(meshes, "mesh")),
            "mesh: usage: mesh axis=size... [space=name]");
  EXPECT_EQ(message_of(take(meshes, "mesh dp=0")),
            "mesh: axis dp needs a size from 1 to 65536, got 0");
  EXPECT_EQ(message_of(take(meshes, "mesh dp=65536 tp=2")),
            "mesh: more than 65536 ranks or 32 axes");
  EXPECT_EQ(message_of(take(meshes, "axis w=dp*tp")),
            "axis: no mesh stands here");
  ASSERT_TRUE(take(meshes, "mesh dp=2 tp=2").ok());
  EXPECT_EQ(message_of(take(meshes, "axis w=dp*pp")),
            "axis: no axis 'pp' in mesh dp=2 tp=2; did you mean 'dp'?");
  EXPECT_EQ(message_of(take(meshes, "axis dp=tp")),
            "axis: the mesh has an axis dp already");
}

TEST(Grid, GroupsAreInCoordinateOrder) {
  Meshes meshes;
  ASSERT_TRUE(take(meshes, "mesh dp=2 tp=2").ok());
  ASSERT_TRUE(take(meshes, "axis world=dp*tp").ok());
  const Mesh* mesh = mesh_for(meshes, "x@0 = ones f32[]");
  const auto grid = Grid::make(mesh, {3, 1, 2, 0});
  ASSERT_TRUE(grid.ok());
  EXPECT_EQ(grid.value().groups("tp").value(), (Groups{{3, 1}, {2, 0}}));
  EXPECT_EQ(grid.value().groups("dp").value(), (Groups{{3, 2}, {1, 0}}));
  EXPECT_EQ(grid.value().groups("dp+tp").value(), (Groups{{3, 1, 2, 0}}));
  EXPECT_EQ(grid.value().groups("tp+dp").value(), (Groups{{3, 2, 1, 0}}));
  EXPECT_EQ(grid.value().groups("world").value(), (Groups{{3, 1, 2, 0}}));
  // Without over= the order is as given.
  EXPECT_EQ(grid.value().groups("").value(), (Groups{{0, 1, 2, 3}}));
}

TEST(Meshes, EqualOnesNest) {
  Meshes meshes;
  const std::string_view name = "x";
  for (const char* line :
       {"mesh tp=2", "mesh tp=2", "mesh dp=3", "mesh dp=3"}) {
    ASSERT_TRUE(take(meshes, line).ok());
  }
  for (const char* left : {"dp=3", "tp=2", "tp=2"}) {
    ASSERT_TRUE(take(meshes, "endmesh").ok());
    ASSERT_NE(meshes.of(name), nullptr);
    EXPECT_EQ(meshes.of(name)->describe(), left);
  }
  ASSERT_TRUE(take(meshes, "endmesh").ok());
  EXPECT_EQ(meshes.of(name), nullptr);
  EXPECT_FALSE(take(meshes, "endmesh").ok());
}

// A loop that declares its mesh in each round comes back to one state.
TEST(Meshes, DeclaredInALoopSettle) {
  Meshes meshes;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(take(meshes, "mesh tp=2").ok());
  const std::string state = meshes.describe();
  const uint64_t version = meshes.version();
  ASSERT_TRUE(take(meshes, "mesh tp=2").ok());
  EXPECT_EQ(meshes.describe(), state);
  EXPECT_EQ(meshes.version(), version);
}

TEST(Grid, ARankSetRestrictsTheMesh) {
  Meshes meshes;
  ASSERT_TRUE(take(meshes, "mesh pp=2 dp=2").ok());
  const Mesh* mesh = mesh_for(meshes, "x@0 = ones f32[]");
  const auto stage = Grid::make(mesh, {2, 3});
  EXPECT_EQ(stage.value().along("pp").value().count, 1U);
  EXPECT_EQ(stage.value().groups("dp").value(), (Groups{{0, 1}}));
  EXPECT_EQ(stage.value().groups("pp").value(), (Groups{{0}, {1}}));
  EXPECT_EQ(Grid::make(mesh, {4}).error().message,
            "rank 4 is outside mesh pp=2 dp=2, whose ranks are 0 to 3");
  const auto ragged = Grid::make(mesh, {0, 1, 2});
  EXPECT_EQ(ragged.value().groups("dp").error().message,
            "the ranks are no whole groups over dp of mesh pp=2 dp=2");
}

TEST(Split, TheFirstPartsAreOneLonger) {
  for (int64_t n = 0; n < 20; ++n) {
    for (int64_t k = 1; k < 6; ++k) {
      int64_t next = 0;
      int64_t before = n;
      for (int64_t i = 0; i < k; ++i) {
        const Extent part = extent_of(n, 1, k, i);
        EXPECT_EQ(part.start, next);
        EXPECT_LE(part.count, before);
        EXPECT_EQ(part.count, n / k + (i < n % k ? 1 : 0));
        before = part.count;
        next += part.count;
      }
      EXPECT_EQ(next, n);
    }
  }
}

TEST(Split, CutsAndPutsTogetherAgain) {
  Meshes meshes;
  ASSERT_TRUE(take(meshes, "mesh dp=2 tp=3").ok());
  const Mesh* mesh = mesh_for(meshes, "x@0 = ones f32[]");
  const Grid grid = Grid::make(mesh, all_of(6)).value();
  for (const char* text : {"dp:0", "tp:0", "dp:0,tp:1", "tp:1,dp:0",
                           "dp:0,tp:0", "tp:-1*2", "dp+tp:1"}) {
    const auto split = parse_split(text);
    ASSERT_TRUE(split.ok()) << text;
    for (int64_t m = 0; m < 8; ++m) {
      const Shape whole{m, 8};
      const auto regions = cut(split.value(), whole, grid);
      ASSERT_TRUE(regions.ok()) << text;
      std::vector<Shape> pieces;
      int64_t elements = 0;
      for (const Region& region : regions.value()) {
        pieces.push_back(region.count);
        elements += region.count.elements();
      }
      const std::string_view cuts = text;
      const bool by_dp = cuts.find("dp") != std::string_view::npos;
      const bool by_tp = cuts.find("tp") != std::string_view::npos;
      const int64_t copies = (by_dp ? 1 : 2) * (by_tp ? 1 : 3);
      EXPECT_EQ(elements, whole.elements() * copies) << text;
      const auto again = whole_of(split.value(), pieces, grid);
      ASSERT_TRUE(again.ok()) << text << again.error().message;
      EXPECT_EQ(again.value(), whole) << text;
    }
  }
}

TEST(Split, SaysWhatIsWrong) {
  Meshes meshes;
  ASSERT_TRUE(take(meshes, "mesh dp=2 tp=2").ok());
  const Grid grid =
      Grid::make(mesh_for(meshes, "x@0 = ones f32[]"), all_of(4)).value();
  const auto error_of = [&](const char* text, const Shape& whole) {
    const auto split = parse_split(text);
    if (!split.ok()) return split.error().message;
    const auto regions = cut(split.value(), whole, grid);
    return regions.ok() ? std::string("none") : regions.error().message;
  };
  for (const char* text : {"", "dp", "dp:", ":0", "dp:x", "dp:0*", "dp:0*0",
                           "dp:0,", "dp:0,,tp:1", "dp:0*-1"}) {
    EXPECT_NE(error_of(text, {4}).find("is no list of axis:dimension"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(error_of("dp:1", {4}), "split= names dimension 1 of [4]");
  EXPECT_EQ(error_of("dp:0,dp:1", {4, 4}), "axis dp is named twice");
  EXPECT_EQ(error_of("dp:0*3", {4}),
            "split= cuts size 4 of dimension 0 in units of 3, which do not "
            "divide it");
  EXPECT_EQ(error_of("xp:0", {4}),
            "no axis 'xp' in mesh dp=2 tp=2; did you mean 'dp'?");
  const Grid alone = Grid::make(nullptr, all_of(2)).value();
  const auto regions = cut(parse_split("tp:0").value(), {4}, alone);
  EXPECT_EQ(regions.error().message,
            "axis 'tp' has no mesh; declare one before, as in: mesh dp=2 tp=2");
}

}  // namespace
}  // namespace gt

// Seeds that a program leaves out are numbered by gt-emit.
#include "emit_harness.h"

namespace gt::emit {
namespace {

TEST(EmitSeeds, ASeedCountsTheUsesOfAllRanks) {
  FedSession fed;
  EXPECT_EQ(fed.feed("x@0-1 = randn f32[2]"),
            "_eseed@0-1 = tensor i64[] 0\nx@0-1 = randn f32[2] _eseed@0-1\n"
            "_eseed@0-1 = add _eseed@0-1 1\n");
  EXPECT_EQ(fed.feed("y@1-2 = randn f32[2]"),
            "_eseed@2 = copy _eseed@0\ny@1-2 = randn f32[2] _eseed@1-2\n"
            "_eseed@0-2 = add _eseed@0-2 1\n");
  EXPECT_EQ(fed.feed("x@0 = randn f32[2]"),
            "x@0 = randn f32[2] _eseed@0\n_eseed@0-2 = add _eseed@0-2 1\n");
}

// The registers with and without ranks cannot count together, as no line reads
// both.
TEST(EmitSeeds, SeedsWithAndWithoutRanksNeverMeet) {
  const std::string far = "4611686018427387904";  // 2^62
  FedSession plain_first;
  plain_first.feed("w = randn f32[2]");
  EXPECT_EQ(from(plain_first.feed("v@0-1 = randn f32[2]"), "_eseed"),
            "_eseed@0-1 = tensor i64[] " + far +
                "\nv@0-1 = randn f32[2] _eseed@0-1\n"
                "_eseed@0-1 = add _eseed@0-1 1\n");
  // Another rank joins the count of its set.
  EXPECT_EQ(plain_first.feed("u@2 = randn f32[2]"),
            "_eseed@2 = copy _eseed@0\nu@2 = randn f32[2] _eseed@2\n"
            "_eseed@0-2 = add _eseed@0-2 1\n");
  EXPECT_EQ(plain_first.feed("w = randn f32[2]"),
            "w = randn f32[2] _eseed\n_eseed = add _eseed 1\n");
  FedSession placed_first;
  placed_first.feed("v@0-1 = randn f32[2]");
  EXPECT_EQ(placed_first.feed("w = randn f32[2]"),
            "_eseed = tensor i64[] " + far +
                "\nw = randn f32[2] _eseed\n_eseed = add _eseed 1\n");
}

TEST(EmitSeeds, AGradientHasTheSeedOfItsForwardLine) {
  FedSession fed;
  fed.feed("mesh tp=2\nx@0-1 = ones f32[2] #type=I\n");
  EXPECT_EQ(fed.feed("y@0-1 = dropout x@0-1 0.5"),
            "_eseed@0-1 = tensor i64[] 0\n"
            "y@0-1 = dropout x@0-1 0.5 _eseed@0-1\n"
            "_e0@0-1 = copy _eseed@0-1\n"
            "_eseed@0-1 = add _eseed@0-1 1\n");
  fed.feed("l@0-1 = sum y@0-1");
  // The seed is R, so an I stays an I.
  EXPECT_EQ(from(fed.feed("g@0-1 = grad l@0-1 x@0-1"), "g@0-1"),
            "g@0-1 = dropout _e2@0-1 0.5 _e0@0-1 #bwd #grad=x\n"
            "free _e2@0-1 _e0@0-1\n");
  EXPECT_EQ(fed.said, "");
}

TEST(EmitSeeds, SeedsOfAnEmittedStreamAreCountedOn) {
  for (const std::string at : {"", "@0-1"}) {
    FedSession fed;
    fed.session.set_emitted(true);
    fed.feed("_eseed" + at + " = tensor i64[] 5");
    fed.session.set_emitted(false);
    const std::string seed = "_eseed" + at;
    EXPECT_EQ(fed.feed("x" + at + " = rand f32[1]"),
              "x" + at + " = rand f32[1] " + seed + "\n" + seed + " = add " +
                  seed + " 1\n");
  }
}

}  // namespace
}  // namespace gt::emit

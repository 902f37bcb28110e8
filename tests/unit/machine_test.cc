// The figures of a machine, as users write them on a command line.
#include "spmd/machine.h"

#include <gtest/gtest.h>

namespace gt {
namespace {

TEST(Machine, FiguresAreReadByName) {
  const auto machine = parse_machine("flops=1e12,latency=3e-6");
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(machine.value().flops, 1e12);
  EXPECT_EQ(machine.value().latency, 3e-6);
  EXPECT_EQ(machine.value().bandwidth, Machine().bandwidth);
}

TEST(Machine, WhatIsNoFigureIsRefused) {
  for (const char* text :
       {"", "flops", "flops=", "flops=0", "flops=-1", "flops=inf", "speed=1e12",
        "flops=1e12,", "flops=1e12,,latency=1", "flops =1"}) {
    EXPECT_FALSE(parse_machine(text).ok()) << text;
  }
  EXPECT_EQ(parse_machine("flops=x").error().message,
            "flops: expected operations a second, such as 1e12, not 'x'");
}

TEST(Machine, LevelsHaveLinksOfTheirOwn) {
  const auto read = parse_machine(
      "rack.ranks=64,rack.latency=5e-6,node.bandwidth=4e11,node.ranks=8,"
      "bandwidth=5e10");
  ASSERT_TRUE(read.ok());
  const Machine& machine = read.value();
  ASSERT_EQ(machine.levels.size(), 2U);
  EXPECT_EQ(machine.levels[0].name, "node");
  const auto among = [&](int64_t ranks) {
    return link_of(machine, [&](int64_t n) { return n % ranks == 0; });
  };
  EXPECT_EQ(among(8).bandwidth, 4e11);
  EXPECT_EQ(among(16).latency, 5e-6);
  EXPECT_EQ(among(16).bandwidth, Link().bandwidth);
  EXPECT_EQ(among(128).bandwidth, 5e10);
}

TEST(Machine, ALevelWithoutRanksIsWhatIsBeyond) {
  const auto read =
      parse_machine("node.ranks=8,net.bandwidth=5e10,net.latency=1e-5");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().levels.size(), 1U);
  EXPECT_EQ(read.value().bandwidth, 5e10);
  EXPECT_EQ(read.value().latency, 1e-5);
}

TEST(Machine, LevelsThatDoNotFitAreRefused) {
  const auto message = [](std::string_view text) {
    const auto read = parse_machine(text);
    return read.ok() ? "" : read.error().message;
  };
  EXPECT_EQ(message("node.ranks=8,rack.ranks=12"),
            "rack: 12 ranks are no multiple of the 8 of node");
  EXPECT_EQ(message("node.ranks=1"), "node: a level of one rank has no link");
  EXPECT_EQ(message("a.latency=1,b.latency=1"),
            "b: how many ranks has it, as in ranks: 8? Only one level can be "
            "what is beyond the others");
  EXPECT_EQ(message("node.ranks=x"),
            "ranks: expected a number of ranks, such as 8, not 'x'");
  EXPECT_EQ(message("node.speed=1"),
            "'speed' is no figure of a level: there are ranks, bandwidth and "
            "latency");
}

}  // namespace
}  // namespace gt

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

}  // namespace
}  // namespace gt

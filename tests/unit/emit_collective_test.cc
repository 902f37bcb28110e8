// The ends, dimensions and sizes of a collective must agree.
#include "emit_harness.h"

namespace gt::emit {
namespace {

// What is said of the line over x f32[4,6] on two ranks; "" if it is right.
std::string said_of(const std::string& line) {
  FedSession fed;
  fed.feed("mesh tp=2\nx@0-1 = ones f32[4,6]\ny@0-1 = " + line);
  return fed.said.substr(0, fed.said.find('\n'));
}

TEST(EmitCollective, SplitSizesNeedADimension) {
  EXPECT_EQ(said_of("all_gather x@0-1 over=tp src=V split_sizes=4+4"),
            "gt-emit: p:3: all_gather: split_sizes= are lengths along a "
            "dimension, and src=V dst=R names none; say which, as S0 in place "
            "of V");
  EXPECT_NE(said_of("reduce_scatter x@0-1 over=tp dst=V split_sizes=2+2"), "");
  EXPECT_NE(said_of("convert x@0-1 over=tp src=I dst=V split_sizes=2+2"), "");
  EXPECT_EQ(said_of("all_gather x@0-1 over=tp src=S0 split_sizes=4+4"), "");
  EXPECT_EQ(said_of("reduce_scatter x@0-1 over=tp dst=S0 split_sizes=1+3"), "");
}

TEST(EmitCollective, NoKeyContradictsAnEnd) {
  EXPECT_EQ(said_of("all_gather x@0-1 over=tp src=S1 gather_dim=0"),
            "gt-emit: p:3: all_gather: gather_dim=0 contradicts src=S1 dst=R; "
            "leave it out");
  EXPECT_NE(said_of("reduce_scatter x@0-1 over=tp dst=S0 scatter_dim=1"), "");
  EXPECT_NE(said_of("all_to_all x@0-1 over=tp src=S0 dst=S1 concat_dim=1"), "");
  EXPECT_NE(said_of("all_to_all x@0-1 over=tp src=S0 dst=S1 split_dim=0"), "");
  EXPECT_EQ(said_of("all_gather x@0-1 over=tp src=S1 gather_dim=-1"), "");
  EXPECT_EQ(said_of("all_gather x@0-1 over=tp src=V gather_dim=1"), "");
}

TEST(EmitCollective, AnEndsDimensionIsThere) {
  EXPECT_EQ(said_of("redistribute x@0-1 over=tp src=S2 dst=S2"),
            "gt-emit: p:3: redistribute: dimension 2 is not one of 2");
  EXPECT_NE(said_of("redistribute x@0-1 over=tp src=S-3 dst=S-3"), "");
  EXPECT_NE(said_of("convert x@0-1 over=tp src=R dst=S2"), "");
  EXPECT_EQ(said_of("redistribute x@0-1 over=tp src=S1 dst=S-1"), "");
}

}  // namespace
}  // namespace gt::emit

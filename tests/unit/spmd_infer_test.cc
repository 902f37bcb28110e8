// The engine that types lines where shards are followed: it gives results, and
// faults as values. The conformance vectors test what gt-check makes of them.
#include "spmd/infer.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "spmd/claim.h"
#include "stream/line.h"

namespace gt {
namespace {

class InferTest : public ::testing::Test {
 protected:
  InferTest() { declare("mesh dp=2 tp=2"); }

  void declare(const std::string& text) {
    Line line;
    ASSERT_TRUE(parse_line(text, line).ok());
    ASSERT_TRUE(meshes_.take(line).ok());
  }

  // The type of the first result of a line, after the lines before it.
  std::string infer(const std::string& text) {
    Line line;
    EXPECT_TRUE(parse_line(text, line).ok()) << text;
    const auto where = line_ranks(line);
    EXPECT_TRUE(where.ok()) << text;
    std::vector<const ShardedValue*> operands;
    for (const Operand& o : line.operands) {
      const bool name = o.kind == Operand::Kind::kName;
      operands.push_back(name ? &values_.at(std::string(o.text)) : nullptr);
    }
    const AxisNames names(meshes_.all_of(""));
    made_ = gt::infer({line, &where.value(), names, operands, nullptr, mode_});
    for (size_t r = 0; r < line.results.size(); ++r) {
      values_[std::string(line.results[r].text)] = made_.results[r];
    }
    return names.describe(made_.results[0].type);
  }

  const TypeFault& fault() const { return *made_.faults.begin(); }

  Meshes meshes_;
  TypingMode mode_;
  std::map<std::string, ShardedValue> values_;
  Inferred made_;
};

TEST_F(InferTest, FollowsShards) {
  EXPECT_EQ(infer("x@0-3 = ones f32[8,4] split=dp:0,tp:1"), "{dp:S0,tp:S1}");
  EXPECT_EQ(infer("w@0-3 = ones f32[4,6] split=tp:0"), "{dp:R,tp:S0}");
  EXPECT_EQ(infer("t@0-3 = transpose x@0-3"), "{dp:S1,tp:S0}");
  EXPECT_EQ(infer("w@0-3 = convert w@0-3 over=dp src=R dst=R"), "{dp:R,tp:S0}");
  EXPECT_EQ(infer("y@0-3 = matmul x@0-3 w@0-3"), "{dp:S0,tp:P}");
  ASSERT_FALSE(made_.faults.any());
  // In local mode, which does not follow shards, it is V on tp.
  EXPECT_EQ(made_.summed[0], (std::vector<Axis>{{2, 1}}));
  EXPECT_EQ(infer("z@0-3 = all_reduce y@0-3 over=tp"), "{dp:S0,tp:R}");
  EXPECT_TRUE(made_.summed[0].empty());
}

TEST_F(InferTest, SaysWhichRuleIsBrokenWhereAndByWhat) {
  infer("x@0-3 = ones f32[8,4] split=tp:1");
  infer("b@0-3 = ones f32[8,4]");
  infer("y@0-3 = add x@0-3 b@0-3");
  ASSERT_TRUE(made_.faults.any());
  EXPECT_EQ(fault().rule, Rule::kReadWhole);
  EXPECT_EQ(fault().axes, (std::vector<Axis>{{2, 1}}));
  EXPECT_EQ(fault().operand, 1);
  EXPECT_EQ(fault().dim, 1);
  EXPECT_EQ(made_.results[0].state, ShardedValue::State::kUnknown);
  infer("y@0-3 = softmax x@0-3");
  EXPECT_EQ(fault().rule, Rule::kMustBeWhole);
  infer("y@0-3 = all_gather x@0-3 over=tp src=S0 dst=R");
  EXPECT_EQ(fault().rule, Rule::kSourceOtherDim);
  EXPECT_EQ(fault().dim, 1);
}

TEST_F(InferTest, PassesOverWhatIsWrong) {
  infer("x@0-3 = ones f32[8,4] #type=dp:P,tp:R");
  EXPECT_EQ(infer("y@0-3 = exp x@0-3"), "{}");
  EXPECT_EQ(fault().rule, Rule::kSumNonlinear);
  mode_ = {.local = true, .passes_over = true};
  EXPECT_EQ(infer("y@0-3 = exp x@0-3"), "{tp:R}");
  EXPECT_EQ(fault().rule, Rule::kSumNonlinear);
  EXPECT_EQ(infer("y@0-3 = all_gather x@0-3 over=dp dst=I"), "{dp:I,tp:R}");
  EXPECT_EQ(fault().rule, Rule::kSourceUnlike);
  // A copy in another order keeps the letters; if there are none, a note's
  // letters hold.
  EXPECT_EQ(infer("y@3,2,1,0 = copy x@0,2,1,3"), "{dp:P,tp:R}");
  values_.at("x").type = {};
  EXPECT_EQ(infer("y@0-3 = neg x@0-3 #partial=dp+tp"), "{dp:P,tp:P}");
}

TEST(TypeItems, AreReadInOnePlace) {
  const auto items = type_items("dp:S0,world:R");
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].axis, "dp");
  EXPECT_EQ(items[0].end, "S0");
  EXPECT_EQ(items[1].axis, "world");
  EXPECT_EQ(type_items("R")[0].axis, "");
  EXPECT_TRUE(type_items("").empty());
  const auto spec = spec_items("dp+tp,-,");
  ASSERT_EQ(spec.size(), 3U);
  EXPECT_EQ(spec[0].size(), 2U);
  EXPECT_EQ(spec[0][1], "tp");
  EXPECT_TRUE(spec[1].empty());
}

}  // namespace
}  // namespace gt

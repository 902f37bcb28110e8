#include "ops/index_rule.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops_samples.h"
#include "stream/line.h"

namespace gt {
namespace {

// "8: a.0 b.1 -> r0.0" for each label. "+" marks labels that are summed, "?"
// those that are looked up, and "!" others that need split=; "*3" follows a
// place in units of 3.
std::string rule_of(const std::string& text,
                    const std::vector<std::string>& types) {
  Line line;
  EXPECT_TRUE(parse_line(text, line).ok());
  std::vector<Type> parsed;
  for (const std::string& type : types) {
    parsed.push_back(parse_type(type).value());
  }
  std::vector<const Type*> operands;
  size_t next = 0;
  for (const Operand& o : line.operands) {
    const bool name = o.kind == Operand::Kind::kName;
    operands.push_back(name ? &parsed.at(next++) : nullptr);
  }
  Call call;
  const Status bound = gt::bind(line, operands, call);
  EXPECT_TRUE(bound.ok()) << (bound.ok() ? "" : bound.error().message);
  std::string out;
  const auto place = [&](const std::string& name, const LabelDim& p) {
    if (!p.is_there()) return;
    out += " " + name + "." + std::to_string(p.dim);
    if (p.unit != 1) out += "*" + std::to_string(p.unit);
  };
  for (const Label& label : index_rule(call)) {
    if (!out.empty()) out += "; ";
    if (label.is_summed) out += "+";
    if (label.is_looked_up) out += "?";
    if (label.needs_split && !label.is_looked_up) out += "!";
    out += std::to_string(label.size) + ":";
    for (size_t i = 0; i < label.arguments.size(); ++i) {
      place(std::string(call.arguments[i].text), label.arguments[i]);
      if (!label.added.empty() && label.added[i]) {
        out += " " + std::string(call.arguments[i].text) + "+";
      }
    }
    out += " ->";
    for (size_t r = 0; r < label.results.size(); ++r) {
      place("r" + std::to_string(r), label.results[r]);
    }
  }
  return out;
}

TEST(IndexRule, ProductsContract) {
  EXPECT_EQ(rule_of("y = matmul a b", {"f32[2,3]", "f32[3,5]"}),
            "+3: a.1 b.0 ->; 2: a.0 -> r0.0; 5: b.1 -> r0.1");
  EXPECT_EQ(rule_of("y = matmul a b ta=1 tb=1", {"f32[3,2]", "f32[5,3]"}),
            "+3: a.0 b.1 ->; 2: a.1 -> r0.0; 5: b.0 -> r0.1");
}

TEST(IndexRule, ABiasIsAddedToTheSum) {
  EXPECT_EQ(rule_of("y = linear x w b", {"f32[2,3]", "f32[3,5]", "f32[5]"}),
            "2: x.0 -> r0.0; +3: x.1 w.0 b+ ->; 5: w.1 b.0 -> r0.1");
}

TEST(IndexRule, SizesOfOneAreReadWhole) {
  EXPECT_EQ(rule_of("y = add a b", {"f32[4,1]", "f32[3]"}),
            "4: a.0 -> r0.0; 3: b.0 -> r0.1");
}

TEST(IndexRule, ReductionsDropDimensions) {
  EXPECT_EQ(rule_of("y = sum x axis=1", {"f32[2,3,4]"}),
            "2: x.0 -> r0.0; +3: x.1 ->; 4: x.2 -> r0.1");
  EXPECT_EQ(rule_of("y = argmax x axis=1", {"f32[2,3,4]"}),
            "2: x.0 -> r0.0; 4: x.2 -> r0.1");
  // Each part has its own largest element, and the largest of these is taken.
  EXPECT_EQ(rule_of("y = max x axis=1", {"f32[2,3,4]"}),
            "2: x.0 -> r0.0; 3: x.1 ->; 4: x.2 -> r0.1");
  EXPECT_EQ(rule_of("y = softmax x axis=0", {"f32[2,3]"}), "3: x.1 -> r0.1");
}

TEST(IndexRule, ReshapeCutsWhereBothShapesCan) {
  EXPECT_EQ(rule_of("y = reshape x shape=2,3,4", {"f32[2,12]"}),
            "2: x.0 -> r0.0; 3: x.1*4 -> r0.1");
  EXPECT_EQ(rule_of("y = reshape x shape=6,4", {"f32[2,3,4]"}),
            "2: x.0 -> r0.0*3; 4: x.2 -> r0.1");
  EXPECT_EQ(rule_of("y = reshape x shape=6,1,4", {"f32[6,4]"}),
            "6: x.0 -> r0.0; 4: x.1 -> r0.2");
}

TEST(IndexRule, TablesAreLookedUp) {
  EXPECT_EQ(rule_of("y = embedding t i", {"f32[9,4]", "i64[2,3]"}),
            "2: i.0 -> r0.0; 3: i.1 -> r0.1; 4: t.1 -> r0.2; +?9: t.0 ->");
  EXPECT_EQ(rule_of("y = scatter_add x i s axis=0",
                    {"f32[9,4]", "i64[3,4]", "f32[3,4]"}),
            "+3: x+ i.0 s.0 ->; 4: x.1 i.1 s.1 -> r0.1; ?9: x.0 -> r0.0");
}

TEST(IndexRule, RowsThatAreTakenAreLookedUpAlongTheirAxis) {
  EXPECT_EQ(rule_of("y = take x i axis=1", {"f32[2,9,4]", "i64[3,5]"}),
            "2: x.0 -> r0.0; 3: i.0 -> r0.1; 5: i.1 -> r0.2; "
            "4: x.2 -> r0.3; +?9: x.1 ->");
  EXPECT_EQ(rule_of("y = take x i", {"f32[2,9]", "i64[3]"}), "3: i.0 -> r0.0");
  EXPECT_EQ(
      rule_of("z = take_grad g i rows=9 axis=1", {"f32[2,3,4]", "i64[3]"}),
      "2: g.0 -> r0.0; +3: g.1 i.0 ->; 4: g.2 -> r0.2; ?9: -> r0.1");
}

// Of two indices to one place the later one counts, so they must be on one
// rank.
TEST(IndexRule, WritesAlongTheAxisStayTogether) {
  EXPECT_EQ(
      rule_of("y = scatter x i s axis=0", {"f32[9,4]", "i64[3,4]", "f32[3,4]"}),
      "4: x.1 i.1 s.1 -> r0.1; ?9: x.0 -> r0.0");
}

TEST(IndexRule, HeadsAreUnitsOfTheLastDimension) {
  EXPECT_EQ(rule_of("o = attention q k v heads=4",
                    {"f32[2,5,8]", "f32[2,5,8]", "f32[2,5,8]"}),
            "2: q.0 k.0 v.0 -> r0.0; 5: q.1 -> r0.1; "
            "!4: q.2*2 k.2*2 v.2*2 -> r0.2*2");
  EXPECT_EQ(rule_of("o = attention q k v heads=2",
                    {"f32[4,0]", "f32[0,0]", "f32[0,0]"}),
            "4: q.0 -> r0.0");
  EXPECT_EQ(rule_of("a b c = attention_grad q k v o l g",
                    {"f32[5,8]", "f32[6,8]", "f32[6,8]", "f32[5,8]", "f32[5]",
                     "f32[5,8]"}),
            "+5: q.0 o.0 l.0 g.0 -> r0.0");
}

// Heads in a dimension of their own are cut as heads that share one.
TEST(IndexRule, HeadsApartAreCutAsHeadsSideBySide) {
  EXPECT_EQ(rule_of("y = split_heads x heads=2", {"f32[5,3,4]"}),
            "5: x.0 -> r0.0; 3: x.1 -> r0.2; !2: x.2*2 -> r0.1");
  EXPECT_EQ(rule_of("y = merge_heads x heads=2", {"f32[5,2,3,2]"}),
            "5: x.0 -> r0.0; 3: x.2 -> r0.1; !2: x.1 -> r0.2*2");
  EXPECT_EQ(rule_of("y = split_heads x", {"f32[3,4]"}),
            "3: x.0 -> r0.0; 4: x.1 -> r0.1");
}

TEST(IndexRule, GroupedHeadsStayTogether) {
  EXPECT_EQ(rule_of("o = attention q k v m heads=4 enable_gqa=1",
                    {"f32[5,8]", "f32[6,4]", "f32[6,4]", "f32[4,1,6]"}),
            "5: q.0 -> r0.0; !2: q.1*4 k.1*2 v.1*2 m.0*2 -> r0.1*4");
  EXPECT_EQ(rule_of("o = attention q k v m enable_gqa=1",
                    {"f32[4,5,8]", "f32[2,6,8]", "f32[2,6,8]", "bool[5,6]"}),
            "2: q.0*2 k.0 v.0 -> r0.0*2; 5: q.1 m.0 -> r0.1");
}

TEST(IndexRule, WhatDependsOnItsPlaceNeedsSplit) {
  EXPECT_EQ(rule_of("y = dropout x 0.5 1", {"f32[2,3]"}),
            "!2: x.0 -> r0.0; !3: x.1 -> r0.1");
  EXPECT_EQ(rule_of("y = rope x heads=2", {"f32[2,5,8]"}),
            "2: x.0 -> r0.0; !5: x.1 -> r0.1; !2: x.2*4 -> r0.2*4");
  EXPECT_EQ(rule_of("o = attention q k v causal=1",
                    {"f32[2,5,8]", "f32[2,5,8]", "f32[2,5,8]"}),
            "2: q.0 k.0 v.0 -> r0.0; !5: q.1 -> r0.1");
}

TEST(IndexRule, WeightsOfNormsAreSummedOverRows) {
  EXPECT_EQ(
      rule_of("a b = rms_norm_grad g x w", {"f32[2,3]", "f32[2,3]", "f32[3]"}),
      "+2: g.0 x.0 -> r0.0");
}

TEST(IndexRule, WindowsAreWholeWhereTheySlide) {
  EXPECT_EQ(
      rule_of("y = conv2d x w b", {"f32[2,3,9,9]", "f32[5,3,2,2]", "f32[5]"}),
      "+3: x.1 w.1 b+ ->; 2: x.0 -> r0.0; 5: w.0 b.0 -> r0.1");
  EXPECT_EQ(
      rule_of("y = conv2d x w groups=2", {"f32[2,4,9,9]", "f32[6,2,2,2]"}),
      "2: x.0 -> r0.0");
  EXPECT_EQ(rule_of("z = conv2d_weight_grad g x kernel_size=2",
                    {"f32[2,5,8,8]", "f32[2,3,9,9]"}),
            "3: x.1 -> r0.1; +2: g.0 x.0 ->; 5: g.1 -> r0.0");
  EXPECT_EQ(rule_of("y = max_pool2d x kernel_size=2", {"f32[2,3,9,9]"}),
            "3: x.1 -> r0.1; 2: x.0 -> r0.0");
  EXPECT_EQ(rule_of("y = windows x axis=-1 size=2", {"f32[4,9]"}),
            "4: x.0 -> r0.0");
}

TEST(IndexRule, AProductForEachElementOfAWindowIsCounted) {
  const auto flops_of = [](const char* text, const char* types) {
    Bound bound(text, parse_types(types));
    EXPECT_EQ(bound.message(), "") << text;
    return flops(bound.call());
  };
  const double wanted = 2.0 * 2 * 5 * 3 * 81 * 9;
  EXPECT_EQ(
      flops_of("y = conv2d x w padding=1", "x f32[2,3,9,9] w f32[5,3,3,3]"),
      wanted);
  EXPECT_EQ(flops_of("z = conv2d_input_grad g w output_size=9 padding=1",
                     "g f32[2,5,9,9] w f32[5,3,3,3]"),
            wanted);
  EXPECT_EQ(flops_of("z = conv2d_weight_grad g x kernel_size=3 padding=1",
                     "g f32[2,5,9,9] x f32[2,3,9,9]"),
            wanted);
}

TEST(IndexRule, AMeanIsNoSum) {
  EXPECT_EQ(rule_of("l = cross_entropy x t", {"f32[2,3]", "i64[2]"}), "");
  EXPECT_EQ(
      rule_of("l = cross_entropy x t reduction=sum", {"f32[2,3]", "i64[2]"}),
      "+2: x.0 t.0 ->");
}

}  // namespace
}  // namespace gt

// What gt-shard --plan is made of: stages against all other ways to cut a chain
// of layers, the layers of a program, the two steps that are priced, their
// prices, and the clocks of ranks that compute and receive at the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "shard/layer_chain.h"
#include "shard/stage_cuts.h"
#include "shard/step_clock.h"
#include "shard/step_form.h"
#include "shard/step_price.h"

namespace gt::shard {
namespace {

// ---- stages -----------------------------------------------------------------

// The most bytes too many of a part, the seconds of the slowest, and the most
// bytes of a part.
using Worst = std::tuple<double, double, double>;

Worst worst_of(const std::vector<LayerCost>& layers,
               const std::vector<StagePart>& parts,
               const std::vector<size_t>& of) {
  double excess = 0, slowest = 0, largest = 0;
  for (size_t part = 0; part < parts.size(); ++part) {
    double seconds = 0, bytes = 0;
    for (size_t i = 0; i < layers.size(); ++i) {
      if (of[i] != part) continue;
      seconds += layers[i].seconds;
      bytes += layers[i].kept +
               static_cast<double>(parts[part].open) * layers[i].open;
    }
    if (parts[part].memory > 0) {
      excess = std::max(excess, bytes - parts[part].memory);
    }
    slowest = std::max(slowest, seconds);
    largest = std::max(largest, bytes);
  }
  return {excess, slowest, largest};
}

// Returns the best of all cuts: layer i + 1 is of the part of layer i, or of
// the next one.
Worst best_of_all(const std::vector<LayerCost>& layers,
                  const std::vector<StagePart>& parts) {
  Worst best{1e300, 0, 0};
  const size_t n = layers.size();
  for (uint32_t ends = 0; ends < 1U << (n - 1); ++ends) {
    std::vector<size_t> of(n, 0);
    for (size_t i = 1; i < n; ++i) of[i] = of[i - 1] + (ends >> (i - 1) & 1);
    if (of.back() + 1 != parts.size()) continue;
    best = std::min(best, worst_of(layers, parts, of));
  }
  return best;
}

TEST(StageCuts, NoOtherCutIsBetter) {
  std::mt19937 random(7);
  const auto number = [&](int most) {
    return static_cast<double>(random() % static_cast<unsigned>(most));
  };
  for (int round = 0; round < 400; ++round) {
    std::vector<LayerCost> layers(1 + random() % 9);
    for (LayerCost& layer : layers) {
      layer = {1 + number(9), number(20), number(6)};
    }
    std::vector<StagePart> parts(1 + random() % layers.size());
    for (StagePart& part : parts) {
      part.open = 1 + static_cast<int64_t>(number(4));
      part.memory = round % 3 == 0 ? 0 : 10 + number(60);
    }
    const std::vector<size_t> of = cut_into_parts(layers, parts);
    ASSERT_TRUE(std::ranges::is_sorted(of));
    EXPECT_EQ(of.front(), 0U);
    EXPECT_EQ(of.back(), parts.size() - 1);
    EXPECT_EQ(worst_of(layers, parts, of), best_of_all(layers, parts))
        << "round " << round;
  }
}

TEST(StageCuts, PartsGoRoundOrThereAndBack) {
  const auto stages = [](const std::vector<StagePart>& parts) {
    std::vector<int64_t> out;
    for (const StagePart& part : parts) out.push_back(part.stage);
    return out;
  };
  EXPECT_EQ(stages(parts_of(3, 6, false)),
            (std::vector<int64_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(stages(parts_of(3, 6, true)),
            (std::vector<int64_t>{0, 1, 2, 2, 1, 0}));
}

// ---- layers -----------------------------------------------------------------

TEST(LayerChain, LayersStandBehindWhatTheyRead) {
  const std::vector<LayerScopes> layers = layers_of(
      {"w = ones f32[4,4]", "d = ones f32[8,4]",
       "y = slice d 4: #signal=last/batch", "x = slice d :4 #signal=first",
       "x = matmul x w #signal=one/product", "h = neg x",
       "h = matmul h w #signal=two", "l = mse h y #signal=last/loss",
       "g = neg l #bwd #signal=first"});
  EXPECT_EQ(layers,
            (std::vector<LayerScopes>{{"first"}, {"one"}, {"two"}, {"last"}}));
}

TEST(LayerChain, ScopesThatReadFromEachOtherAreOneLayer) {
  EXPECT_EQ(layers_of({"x = ones f32[4] #signal=in", "y = neg x #signal=a",
                       "y = neg y #signal=b", "y = neg y #signal=a",
                       "y = neg y #signal=out"}),
            (std::vector<LayerScopes>{{"in"}, {"a", "b"}, {"out"}}));
}

TEST(LayerChain, AnInnerScopeOfTheSameNameAllowsNoStages) {
  EXPECT_TRUE(layers_of({"x = ones f32[4] #signal=norm",
                         "y = neg x #signal=layer/norm"})
                  .empty());
}

TEST(LayerChain, CostsAreThoseOfTheLinesOfALayer) {
  const Machine machine{.flops = 1, .memory_bandwidth = 1e30};
  LayerCosts costs({{"a"}, {"b"}}, machine);
  // The product takes 2 * 2 * 4 * 3 operations, and reads w, which is then of
  // layer b and held for as long as the program goes. h is held for the
  // backward.
  costs.take(
      "w@0 = ones f32[4,3]\nx@0 = ones f32[2,4] #signal=a\n"
      "h@0 = neg x@0 #signal=a\ny@0 = matmul h@0 w@0 #signal=b\n"
      "g@0 = matmul h@0 y@0 ta=1 #bwd #signal=b #grad=w\nfree x@0 h@0 y@0\n"
      "w@0 = sgd w@0 g@0 0.1\nfree g@0\n",
      3);
  costs.end_step();
  EXPECT_EQ(costs.costs()[0].kept, 0);
  EXPECT_EQ(costs.costs()[0].open, 4 * (8 + 8));    // x and h
  EXPECT_EQ(costs.costs()[1].kept, 4 * (12 + 12));  // w, and its gradient
  EXPECT_EQ(costs.costs()[1].open, 4 * 6);
  EXPECT_GE(costs.costs()[1].seconds, 3 * 2 * 48);
  EXPECT_LE(costs.costs()[0].seconds, 3 * 8 * 2);
}

// ---- two steps --------------------------------------------------------------

std::vector<std::string> texts(const TwoSteps& steps, bool is_second) {
  std::vector<std::string> out;
  for (size_t i = is_second ? steps.second : 0;
       i < (is_second ? steps.lines.size() : steps.second); ++i) {
    out.push_back(steps.lines[i].text);
  }
  return out;
}

const std::vector<std::string> kStep{
    "w = ones f32[4]",          "x = ones f32[4]", "y = mul w x",
    "g = mul x 2 #bwd #grad=w", "w = sgd w g 0.1", "free g y"};

TEST(StepForm, TheSecondStepKeepsWhatTheFirstUpdates) {
  const TwoSteps steps = StepForm(kStep).whole();
  EXPECT_EQ(texts(steps, false), kStep);
  EXPECT_EQ(texts(steps, true),
            std::vector<std::string>(kStep.begin() + 1, kStep.end()));
}

TEST(StepForm, ABriefStepCountsEachLineOnce) {
  const TwoSteps steps = StepForm(kStep).brief(2);
  EXPECT_EQ(texts(steps, false), kStep);
  EXPECT_EQ(texts(steps, true),
            (std::vector<std::string>{"x = ones f32[4]", "y = mul w x"}));
  std::vector<double> times;
  for (const StepLine& line : steps.lines) times.push_back(line.times);
  EXPECT_EQ(times, (std::vector<double>{0, 0, 0, 1, 1, 1, 1, 1}));
}

TEST(StepForm, TheLastMicrobatchThatRemainsCountsForAllOthers) {
  std::vector<std::string> lines{"w = ones f32[4]", "g = zeros f32[4]"};
  for (const std::string k : {"0", "1", "2", "3"}) {
    lines.push_back("x = ones f32[4] #mb=" + k);
    lines.push_back("d" + k + " = mul x w #bwd #grad=w #mb=" + k);
    lines.push_back("g = add g d" + k + " #mb=" + k);
    lines.push_back("free x d" + k);
  }
  lines.emplace_back("w = sgd w g 0.1");
  const StepForm form(lines);
  EXPECT_EQ(form.microbatches(), 4U);
  double products = 0;
  for (const StepLine& line : form.brief(2).lines) {
    EXPECT_EQ(line.text.find("d2"), std::string::npos) << line.text;
    if (line.text.starts_with("d")) products += line.times;
  }
  EXPECT_EQ(products, 4);
}

// ---- prices -----------------------------------------------------------------

const std::vector<std::string> kTraining{"x = ones f32[64,8]",
                                         "w = ones f32[8,8]",
                                         "m = zeros f32[8,8]",
                                         "y = matmul x w",
                                         "y = relu y",
                                         "d = matmul x y ta=1 #bwd #grad=w",
                                         "w m = sgd w d m 0.1 momentum=0.9",
                                         "free y d"};

StepPrice price_of(const std::vector<std::string>& lines,
                   const std::string& cuts) {
  const std::string machine =
      "machine: {flops: 1e3, memory_bandwidth: 1e30, bandwidth: 1e30, latency: "
      "100}\n";
  const auto config = Config::parse(
      "mesh: {dp: 2}\n" + machine + "tensors: {" + cuts + "}\n", "", 0);
  EXPECT_TRUE(config.ok());
  StepPricer pricer(StepForm(lines), config.value().machine());
  const auto price = pricer.in_order(config.value());
  EXPECT_TRUE(price.has_value());
  return *price;
}

TEST(StepPricer, TheNextStepGathersWhatWasUpdatedInParts) {
  const std::string batch = "x: {shard: {dp: 0}}";
  const StepPrice whole = price_of(kTraining, batch);
  const StepPrice parts = price_of(kTraining, batch + ", m: {shard: {dp: 0}}");
  EXPECT_GT(parts.seconds, whole.seconds + 90);
}

TEST(StepPricer, WhatAProgramDoesOnceDoesNotCount) {
  std::vector<std::string> longer = kTraining;
  longer[1] = "w = randn f32[8,8] 1";
  const std::string batch = "x: {shard: {dp: 0}}";
  EXPECT_EQ(price_of(longer, batch).seconds,
            price_of(kTraining, batch).seconds);
}

TEST(StepPricer, ABriefPriceStopsWhereItIsEnough) {
  const auto config = Config::parse("mesh: {dp: 2}\n", "", 0);
  StepPricer pricer(StepForm(kTraining), config.value().machine());
  PlanCache plans;
  const auto all = pricer.brief(config.value(), plans,
                                [](const StepPrice&) { return true; });
  ASSERT_TRUE(all.has_value());
  EXPECT_GT(all->seconds, 0);
  EXPECT_GT(all->bytes, 0);
  const size_t before = pricer.lines_taken();
  EXPECT_FALSE(pricer
                   .brief(config.value(), plans,
                          [&](const StepPrice& so_far) {
                            return so_far.seconds < all->seconds / 2;
                          })
                   .has_value());
  EXPECT_LT(pricer.lines_taken() - before, kTraining.size() + 4);
}

// ---- clocks -----------------------------------------------------------------

// A second for an operation, and a second for a move of one value.
double end_of(const std::string& lines) {
  StepClock clock({.flops = 1,
                   .memory_bandwidth = 1e30,
                   .bandwidth = 1e30,
                   .latency = 100});
  clock.take(lines);
  return clock.end();
}

TEST(StepClock, RanksComputeSideBySide) {
  const double one = end_of("x@0 = ones f32[40]\ny@0 = neg x@0\n");
  EXPECT_EQ(end_of("x@0-7 = ones f32[40]\ny@0-7 = neg x@0-7\n"), one);
  EXPECT_EQ(end_of("x@0-7 = ones f32[40]\ny@0 = neg x@0\ny@1 = neg x@1\n"),
            one);
  EXPECT_GT(end_of("x@0-7 = ones f32[40]\ny@0 = neg x@0\ny@0 = neg x@0\n"),
            one);
}

TEST(StepClock, WhatIsComputedMeanwhileHidesAMove) {
  const std::string begin = "x@0-1 = ones f32[40]\n";
  const std::string move = "z@1 = copy x@0\n";
  const std::string work = "y@1 = neg x@1\n";
  const double made = end_of(begin);
  EXPECT_EQ(end_of(begin + move), made + 100);
  EXPECT_EQ(end_of(begin + move + work), made + 100);
  // What waits for the move comes behind it, and so does what is behind that.
  EXPECT_GT(end_of(begin + move + "y@1 = neg z@1\n"), made + 100);
  // A rank receives one value after the other, and two ranks at once.
  EXPECT_EQ(end_of(begin + move + "v@1 = copy x@0\n"), made + 200);
  EXPECT_EQ(end_of(begin + move + "v@0 = copy x@1\n"), made + 100);
}

TEST(StepClock, AValueIsThereWhereItWasMade) {
  // Rank 1 computes for longer. Only what moves from there waits for it.
  const std::string begin =
      "x@0-1 = ones f32[40]\ny@1 = neg x@1\ny@0 = ones f32[1]\n";
  const double one = end_of(begin + "v@0 = neg y@0\n");
  EXPECT_EQ(one, end_of(begin));
  EXPECT_EQ(end_of(begin + "z@0 = copy y@1\n"), one + 100);
}

}  // namespace
}  // namespace gt::shard

// Gradients and expansions of calls: some texts are pinned, and for every
// sample each step must bind and give the types that are promised.
#include "ops/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ops/table.h"
#include "ops_samples.h"

namespace gt {
namespace {

// o, r: operands and results of the call; g, h: their gradients; t: other
// values.
std::string name_of(const Ref& ref) {
  constexpr char kLetters[] = {'o', 'r', 'g', 'h', 't'};
  return kLetters[static_cast<size_t>(ref.kind)] + std::to_string(ref.index);
}

std::string shown(const Step& step) {
  std::string line;
  for (const Ref& ref : step.results) line += name_of(ref) + " ";
  line += "= " + step.op->name;
  for (const StepOperand& operand : step.operands) {
    line += " " + (operand.is_ref ? name_of(operand.ref) : operand.text);
  }
  for (const auto& [key, value] : step.keys) line += " " + key + "=" + value;
  return line;
}

std::string shown(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += shown(step) + "\n";
  return text;
}

bool is_float_tensor(const Argument& a) {
  return a.role == Role::kTensor && !a.absent && !a.literal &&
         is_float(a.type.dtype);
}

// The steps that gradients of float operands need, as gt-emit picks them.
std::vector<Step> needed_steps(const Call& call) {
  std::set<std::string> wanted;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (is_float_tensor(call.arguments[i])) {
      wanted.insert("g" + std::to_string(i));
    }
  }
  std::vector<Step> steps = gradient_steps(call);
  std::vector<Step> kept;
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    bool needed = false;
    for (const Ref& r : it->results) needed |= wanted.contains(name_of(r));
    if (!needed) continue;
    for (const StepOperand& operand : it->operands) {
      if (operand.is_ref) wanted.insert(name_of(operand.ref));
    }
    kept.insert(kept.begin(), *it);
  }
  return kept;
}

// Binds the steps of a call, the steps of those steps, and so on.
class Checker {
 public:
  void check(const std::string& text, const TypeMap& types, int depth) {
    std::string key = text;
    for (const auto& [name, type] : types) key += " " + to_string(type);
    if (!seen_.insert(key).second) return;
    Bound bound(text, types);
    ASSERT_EQ(bound.message(), "") << text << where_;
    const std::string saved = where_;
    where_ += "\n  in " + text;
    TypeMap names;
    Call& call = bound.call();
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      names["o" + std::to_string(i)] = call.type(i);
    }
    check_expansion(call, names, depth);
    for (size_t i = 0; i < call.results.size(); ++i) {
      names["r" + std::to_string(i)] = call.results[i];
      names["h" + std::to_string(i)] = call.results[i];
    }
    if (depth > 0) check_gradient(call, names, depth);
    where_ = saved;
  }
  size_t size() const { return seen_.size(); }

 private:
  void check_expansion(const Call& call, TypeMap names, int depth) {
    const std::vector<Step> steps = expansion_steps(call);
    if (steps.empty()) return;
    run(steps, names, depth);
    for (size_t i = 0; i < call.results.size(); ++i) {
      const std::string name = "r" + std::to_string(i);
      ASSERT_TRUE(names.contains(name)) << "no " << name << where_;
      EXPECT_EQ(to_string(names[name]), to_string(call.results[i])) << where_;
    }
  }

  void check_gradient(const Call& call, TypeMap names, int depth) {
    // A call without floats has no history.
    if (std::none_of(call.results.begin(), call.results.end(),
                     [](const Type& t) { return is_float(t.dtype); })) {
      return;
    }
    run(needed_steps(call), names, depth - 1);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const auto it = names.find("g" + std::to_string(i));
      if (!is_float_tensor(call.arguments[i]) || it == names.end()) continue;
      EXPECT_TRUE(is_float(it->second.dtype)) << where_;
      // It must be possible to sum it to the operand's shape.
      const auto joined = broadcast(it->second.shape, call.type(i).shape);
      ASSERT_TRUE(joined.has_value()) << to_string(it->second) << where_;
      EXPECT_EQ(to_string(*joined), to_string(it->second.shape)) << where_;
    }
  }

  // A step must bind to the same call as the line that it would be written as.
  void check_direct(const Step& step, const Call& line, const TypeMap& names) {
    std::vector<const Type*> types;
    for (const StepOperand& o : step.operands) {
      types.push_back(o.is_ref ? &names.find(name_of(o.ref))->second : nullptr);
    }
    Call call;
    const Status bound = bind_step(step, types, call);
    ASSERT_TRUE(bound.ok()) << bound.error().message << where_;
    EXPECT_EQ(call.op, line.op);
    EXPECT_EQ(call.results, line.results) << where_;
    EXPECT_EQ(call.key_values, line.key_values) << where_;
    ASSERT_EQ(call.arguments.size(), line.arguments.size()) << where_;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Argument& a = call.arguments[i];
      const Argument& b = line.arguments[i];
      EXPECT_EQ(std::tuple(a.role, a.absent, a.literal, a.operand, a.type),
                std::tuple(b.role, b.absent, b.literal, b.operand, b.type))
          << where_;
      if (!a.literal && a.role == Role::kTensor) continue;
      EXPECT_EQ(a.text, b.text) << where_;
    }
  }

  void run(const std::vector<Step>& steps, TypeMap& names, int depth) {
    for (const Step& step : steps) {
      const std::string line = shown(step);
      Bound bound(line, names);
      ASSERT_EQ(bound.message(), "") << line << where_;
      check_direct(step, bound.call(), names);
      TypeMap own;
      for (const Operand& operand : bound.line().operands) {
        if (operand.kind != Operand::Kind::kName) continue;
        own[std::string(operand.text)] = names.find(operand.text)->second;
      }
      for (size_t i = 0; i < step.results.size(); ++i) {
        names[name_of(step.results[i])] = bound.call().results[i];
      }
      check(line, own, depth);
    }
  }

  std::set<std::string> seen_;
  std::string where_;
};

TEST(Text, EveryStepOfEverySampleBinds) {
  Checker checker;
  for (const Sample& sample : samples()) {
    checker.check(sample.line, parse_types(sample.types), 3);
  }
  EXPECT_GT(checker.size(), 2 * samples().size());
}

std::string gradient(const char* line, const char* types) {
  Bound bound(line, parse_types(types));
  EXPECT_EQ(bound.message(), "") << line;
  return shown(needed_steps(bound.call()));
}

std::string expansion(const char* line, const char* types) {
  Bound bound(line, parse_types(types));
  EXPECT_EQ(bound.message(), "") << line;
  return shown(expansion_steps(bound.call()));
}

TEST(Text, GuardsFollowKeys) {
  EXPECT_EQ(gradient("y = matmul a b", "a f32[2,3] b f32[3,4]"),
            "g0 = matmul h0 o1 tb=1\n"
            "g1 = matmul o0 h0 ta=1\n");
  EXPECT_EQ(gradient("y = matmul a b ta=1 tb=1", "a f32[3,2] b f32[4,3]"),
            "g0 = matmul o1 h0 ta=1 tb=1\n"
            "g1 = matmul h0 o0 ta=1 tb=1\n");
}

TEST(Text, BatchesOfOneMatrixFoldIntoOneProduct) {
  EXPECT_EQ(gradient("y = matmul a b out=f32", "a f16[2,3] b f16[3,4]"),
            "t0 = cast h0 f16\n"
            "g0 = matmul t0 o1 tb=1\n"
            "g1 = matmul o0 t0 ta=1\n");
  EXPECT_EQ(gradient("y = matmul a b", "a f32[8,2,3] b f32[3,4]"),
            "g0 = matmul h0 o1 tb=1\n"
            "t0 = reshape o0 shape=16,3\n"
            "t1 = reshape h0 shape=16,4\n"
            "g1 = matmul t0 t1 ta=1\n");
}

TEST(Text, NumbersStandAsWritten) {
  EXPECT_EQ(gradient("y = mul 2.50 b", "b f32[2]"), "g1 = mul h0 2.50\n");
  EXPECT_EQ(gradient("y = pow a 3", "a f32[2]"),
            "t0 = pow o0 2\n"
            "t1 = mul t0 3\n"
            "g0 = mul h0 t1\n");
  EXPECT_EQ(gradient("y = pow 2 b", "b f64[2]"),
            "t0 = mul r0 0.6931471805599453\n"
            "g1 = mul h0 t0\n");
}

TEST(Text, OptionalOperandsGuard) {
  EXPECT_EQ(expansion("y = linear x w b", "x f32[2,3] w f32[3,4] b f32[4]"),
            "t0 = matmul o0 o1\n"
            "r0 = add t0 o2\n");
  EXPECT_EQ(expansion("y = linear x w", "x f32[2,3] w f32[3,4]"),
            "r0 = matmul o0 o1\n");
  EXPECT_EQ(expansion("w = sgd w g 0.1", "w f32[2] g f32[2]"),
            "t0 = mul o1 0.1\n"
            "r0 = sub o0 t0\n");
  EXPECT_EQ(expansion("w v = sgd w g v lr momentum=0.9",
                      "w f32[2] g f32[2] v f32[2] lr f32[]"),
            "t0 = mul o2 0.9\n"
            "r1 = add t0 o1\n"
            "t1 = mul r1 o3\n"
            "r0 = sub o0 t1\n");
}

TEST(Text, HalvesAreComputedInF32AndRoundedOnce) {
  EXPECT_EQ(expansion("y = sigmoid x", "x f16[2]"),
            "t0 = cast o0 f32\n"
            "t1 = sigmoid t0\n"
            "r0 = cast t1 f16\n");
  // Values of other dtypes stay as they are, and so do numbers and keys.
  EXPECT_EQ(expansion("y = layer_norm x w eps=0.1", "x bf16[2,3] w f32[3]"),
            "t0 = cast o0 f32\n"
            "r0 = layer_norm t0 o1 eps=0.1\n");
  EXPECT_EQ(expansion("w v = sgd w g v 0.5 momentum=0.9",
                      "w f16[2] g f16[2] v f16[2]"),
            "t0 = cast o0 f32\n"
            "t1 = cast o1 f32\n"
            "t2 = cast o2 f32\n"
            "t3 t4 = sgd t0 t1 t2 0.5 momentum=0.9\n"
            "r0 = cast t3 f16\n"
            "r1 = cast t4 f16\n");
  // Numbers that are only chosen need no rounding.
  EXPECT_EQ(expansion("y = relu x", "x f16[2]"), "r0 = maximum o0 0\n");
}

TEST(Text, EachRunsOverAVariadic) {
  EXPECT_EQ(expansion("a b = clip a b 1.0", "a f32[2] b f32[3]"),
            "t0 = square_sum o0\n"
            "t1 = square_sum o1\n"
            "t2 = stack t0 t1\n"
            "t3 = sum t2\n"
            "t4 = sqrt t3\n"
            "t5 = add t4 1e-6\n"
            "t6 = cast 1.0 f64\n"
            "t7 = div t6 t5\n"
            "t8 = minimum t7 1\n"
            "r0 = mul o0 t8\n"
            "r1 = mul o1 t8\n");
  EXPECT_EQ(gradient("y = concat a b axis=1", "a f32[2,3] b f32[2,1]"),
            "g0 = slice h0 0 axis=1 size=3\n"
            "g1 = slice h0 3 axis=1 size=1\n");
  EXPECT_EQ(gradient("a b = split x", "x f32[4]"), "g0 = concat h0 h1\n");
}

TEST(Text, DefaultKeysAreLeftOut) {
  EXPECT_EQ(expansion("y = mean x", "x f32[2,3]"),
            "r0 = part_mean o0 divisor=6\n");
  EXPECT_EQ(expansion("y = mean x axis=0 keepdims=1", "x f32[2,3]"),
            "r0 = part_mean o0 divisor=2 axis=0 keepdims=1\n");
}

TEST(Text, ReducedAxesComeBackOnlyWhereNeeded) {
  EXPECT_EQ(gradient("y = sum x axis=0", "x f32[2,3]"),
            "g0 = expand h0 shape=2,3\n");
  EXPECT_EQ(gradient("y = sum x axis=1", "x f32[2,3]"),
            "t0 = unsqueeze h0 axis=1\n"
            "g0 = expand t0 shape=2,3\n");
  EXPECT_EQ(gradient("y = sum x", "x f32[]"), "g0 = expand h0 shape=\"\"\n");
}

TEST(Text, CopiesOfTemporariesMakeNoStep) {
  EXPECT_EQ(gradient("y = norm x ord=1", "x f32[3]"),
            "t0 = sign o0\n"
            "g0 = mul t0 h0\n");
}

TEST(Text, SlicesGoBackByPadWhereTheyCan) {
  EXPECT_EQ(gradient("y = slice x 1 1:3", "x f32[2,4]"),
            "t0 = reshape h0 shape=1,2\n"
            "g0 = pad t0 width=1,0,1,1\n");
  EXPECT_EQ(gradient("y = slice x i axis=1 size=2", "x f32[2,4] i i64[]"),
            "t0 = arange i64[2] o1\n"
            "t1 = mod t0 4\n"
            "t2 = reshape t1 shape=1,2\n"
            "t3 = expand t2 shape=2,2\n"
            "t4 = zeros f32[2,4]\n"
            "g0 = scatter_add t4 t3 h0 axis=1\n");
}

TEST(Text, KeysArePassedOnAsFarAsTheLineTakesThem) {
  EXPECT_EQ(gradient("y = dropout x 0.1 7 part=1,0/4,3", "x f32[2,3]"),
            "g0 = dropout h0 0.1 7 part=1,0/4,3\n");
  EXPECT_EQ(gradient("y = embedding t i part=5,0/9,2", "t f32[4,2] i i64[3]"),
            "g0 = embedding_grad h0 o1 rows=4 part=5,0/9,2\n");
  EXPECT_EQ(gradient("y = rope x s heads=2 base=10000", "x f32[3,4] s i64[]"),
            "g0 = rope_grad h0 o1 heads=2\n");
}

TEST(Text, AttentionIsComputedAgainWhereItsLseWasNotKept) {
  constexpr const char* kTypes = "q f32[3,4] k f32[3,4] v f32[3,4]";
  EXPECT_EQ(gradient("o = attention q k v causal=1", kTypes),
            "t0 t1 = attention o0 o1 o2 causal=1\n"
            "g0 g1 g2 = attention_grad o0 o1 o2 t0 t1 h0 causal=1\n");
  EXPECT_EQ(gradient("o lse = attention q k v heads=2", kTypes),
            "g0 g1 g2 = attention_grad o0 o1 o2 r0 r1 h0 h1 heads=2\n");
  Bound bound("o lse = attention q k v heads=2", parse_types(kTypes));
  const std::vector<bool> only_o = {true, false};
  EXPECT_EQ(shown(gradient_steps(bound.call(), &only_o)),
            "g0 g1 g2 = attention_grad o0 o1 o2 r0 r1 h0 heads=2\n");
}

TEST(Text, FusedGradientsAreOneLine) {
  EXPECT_EQ(gradient("y = relu x", "x f32[2]"), "g0 = relu_grad h0 r0\n");
  EXPECT_EQ(gradient("y = cross_entropy x t", "x f32[2,3] t i64[2]"),
            "g0 = cross_entropy_grad h0 o0 o1\n");
  EXPECT_EQ(gradient("y = gelu x approximate=tanh", "x f32[2]"),
            "g0 = gelu_grad h0 o0 approximate=tanh\n");
  EXPECT_EQ(gradient("y = embedding t i", "t f32[5,2] i i64[3]"),
            "g0 = embedding_grad h0 o1 rows=5\n");
}

}  // namespace
}  // namespace gt

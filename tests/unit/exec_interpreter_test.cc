// The faults of a recipe stay in the values that have them.
#include "exec/queue/interpreter.h"

#include <gtest/gtest.h>

#include <array>

#include "exec/memory/host_device.h"

namespace gt::exec {
namespace {

// Adds one to its operand, and fails if that is negative.
class Increment final : public Kernel {
 public:
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const double x = *static_cast<const double*>(in[0]);
    if (x < 0) return Error{"negative"};
    *static_cast<double*>(out[0]) = x + 1;
    return ok_status();
  }
};

// A recipe of steps with one operand and one result each.
Recipe recipe_of(uint32_t arguments,
                 const std::vector<std::pair<int32_t, int32_t>>& steps) {
  Recipe recipe;
  recipe.arguments = arguments;
  for (const auto& [in, out] : steps) {
    recipe.steps.push_back({std::make_unique<Increment>(), {in}, {out}});
    recipe.blocks.emplace_back();
  }
  recipe.is_simple = steps.size() == 1;
  return recipe;
}

class InterpreterTest : public testing::Test {
 protected:
  void run(const Recipe& recipe, std::span<Value* const> values) {
    interpreter_.run(recipe, values, [this](const Error& error) {
      ++reports_;
      return std::make_shared<const std::string>(error.message);
    });
  }

  std::array<double, 3> memory_{};
  Value a_{&memory_[0], nullptr};
  Value b_{&memory_[1], nullptr};
  Value c_{&memory_[2], nullptr};
  HostDevice device_{nullptr};
  Interpreter interpreter_{device_};
  int reports_ = 0;
};

TEST_F(InterpreterTest, AFaultSpreadsAndIsReportedOnce) {
  const Recipe chain = recipe_of(1, {{0, 1}, {1, 2}});
  memory_[0] = -1;
  run(chain, std::array{&a_, &b_, &c_});
  EXPECT_EQ(a_.fault, nullptr);
  ASSERT_NE(b_.fault, nullptr);
  EXPECT_EQ(*b_.fault, "negative");
  EXPECT_EQ(c_.fault, b_.fault);
  EXPECT_EQ(reports_, 1);
}

TEST_F(InterpreterTest, AValueMadeAgainHasNoFault) {
  const Recipe one = recipe_of(1, {{0, 1}});
  memory_[0] = -1;
  run(one, std::array{&a_, &b_});
  ASSERT_NE(b_.fault, nullptr);
  run(one, std::array{&b_, &c_});  // the operand is poisoned
  EXPECT_EQ(c_.fault, b_.fault);
  memory_[0] = 4;
  run(one, std::array{&a_, &b_});
  EXPECT_EQ(b_.fault, nullptr);
  EXPECT_EQ(memory_[1], 5);
  EXPECT_NE(c_.fault, nullptr);
  EXPECT_EQ(reports_, 1);
}

TEST_F(InterpreterTest, ValuesOfOneAddressAreApart) {
  Value other{&memory_[1], nullptr};  // a backend without data may give that
  const Recipe one = recipe_of(1, {{0, 1}});
  memory_[0] = -1;
  run(one, std::array{&a_, &b_});
  ASSERT_NE(b_.fault, nullptr);
  memory_[1] = 7;
  run(one, std::array{&other, &c_});
  EXPECT_EQ(other.fault, nullptr);
  EXPECT_EQ(c_.fault, nullptr);
  EXPECT_EQ(memory_[2], 8);
}

TEST_F(InterpreterTest, StepsReadConstantsToo) {
  Recipe recipe = recipe_of(0, {{1, 0}});
  recipe.constants.push_back(std::bit_cast<uint64_t>(2.5));
  recipe.is_simple = false;
  run(recipe, std::array{&a_});
  EXPECT_EQ(memory_[0], 3.5);
}

}  // namespace
}  // namespace gt::exec

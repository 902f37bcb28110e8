#include "exec/decode/registers.h"

#include <gtest/gtest.h>

#include "exec/backend/null/null.h"

namespace gt::exec {
namespace {

class RegistersTest : public ::testing::Test, public Pool::Owner {
 protected:
  void release_later(std::unique_ptr<Value> /*value*/,
                     size_t /*bytes*/) override {}
  void drain() override {}

  Buffer* buffer() {
    Buffer* b = pool.allocate(0);
    Pool::retain(b);
    return b;
  }
  RegisterId bind(const std::string& name) {
    registers.begin_line();
    const RegisterId id = registers.obtain(name);
    registers.bind(id, buffer(), types.id({Dtype::kF32, {}}));
    return id;
  }

  std::unique_ptr<Backend> backend = make_null_backend({});
  Pool pool{backend->device(), *this, 0};
  TypeIds types;
  Registers registers{pool};
};

TEST_F(RegistersTest, ANameIsFoundWhileItIsLive) {
  EXPECT_EQ(registers.value_of("x"), nullptr);
  const RegisterId id = bind("x");
  ASSERT_NE(registers.value_of("x"), nullptr);
  EXPECT_EQ(registers.id_of(*registers.value_of("x")), id);
  registers.release(id);
  EXPECT_EQ(registers.value_of("x"), nullptr);
  EXPECT_EQ(pool.used(), 0U);
}

TEST_F(RegistersTest, BindingAgainReleasesTheOldValue) {
  bind("x");
  const size_t one = pool.used();
  EXPECT_EQ(bind("x"), bind("x"));
  EXPECT_EQ(pool.used(), one);
}

TEST_F(RegistersTest, AFailureIsKeptAndReplaced) {
  const RegisterId id = bind("x");
  registers.fail(id, std::make_shared<const std::string>("why"));
  EXPECT_TRUE(registers[id].has_failed());
  EXPECT_EQ(*registers.failure_of(id), "why");
  // The message may be the same object that is replaced.
  registers.fail(id, registers.failure_of(id));
  EXPECT_EQ(*registers.failure_of(id), "why");
  bind("x");
  EXPECT_FALSE(registers[id].has_failed());
}

TEST_F(RegistersTest, NumbersOfDeadNamesAreUsedAgain) {
  const RegisterId first = bind("first");
  const uint32_t generation = registers[first].stamp.generation;
  registers.release(first);
  constexpr int kNames = 100'000;
  for (int i = 0; i < kNames; ++i) {
    registers.release(bind("n" + std::to_string(i)));
  }
  EXPECT_LT(registers.size(), size_t{kNames} / 2);
  EXPECT_NE(registers[first].stamp.generation, generation);
}

TEST_F(RegistersTest, ANumberThatALineObtainsStaysItsOwn) {
  for (int i = 0; i < 40'000; ++i) {
    registers.release(bind("n" + std::to_string(i)));
  }
  // In the end "dead" is the name that has been dead for longest, and a line
  // obtains it first.
  const RegisterId dead = bind("dead");
  registers.release(dead);
  for (int i = 0; i < 30'000; ++i) {
    registers.release(bind("m" + std::to_string(i)));
    registers.begin_line();
    const RegisterId again = registers.obtain("dead");
    const RegisterId other = registers.obtain("o" + std::to_string(i));
    ASSERT_NE(again, other);
    ASSERT_EQ(registers.name_of(again), "dead");
  }
}

TEST_F(RegistersTest, TypesAreNumberedAnew) {
  const RegisterId x = bind("x");
  for (int64_t n = 0; n < 100; ++n) types.id({Dtype::kF32, {n}});
  registers.renumber_types(types);
  EXPECT_EQ(types.size(), 1U);
  EXPECT_EQ(types[registers[x].stamp.type], (Type{Dtype::kF32, {}}));
}

}  // namespace
}  // namespace gt::exec

#include "emit/symbols.h"

#include <gtest/gtest.h>

#include <string>

namespace gt {
namespace {

TEST(Numbers, TheSmallestFreeOneComesFirst) {
  Numbers numbers;
  for (uint32_t n = 0; n < 5; ++n) EXPECT_EQ(numbers.take(), n);
  numbers.give_back(3);
  numbers.give_back(0);
  numbers.give_back(4);
  EXPECT_EQ(numbers.take(), 0U);
  EXPECT_EQ(numbers.take(), 3U);
  EXPECT_EQ(numbers.take(), 4U);
  EXPECT_EQ(numbers.take(), 5U);
}

TEST(Symbols, ANameKeepsItsIdWhileItIsBound) {
  Symbols symbols;
  const SymbolId x = symbols.intern("x");
  symbols[x].value = 7;
  for (int i = 0; i < 100'000; ++i) {
    const std::string name = "n" + std::to_string(i);
    const SymbolId id = symbols.intern(name);
    EXPECT_EQ(symbols.find(name), id);
    symbols[id].value = 1;
    symbols[id].value = kNil;
    symbols.note_unbound(1);
  }
  EXPECT_EQ(symbols.find("x"), x);
  EXPECT_EQ(symbols[x].value, 7U);
  EXPECT_LT(symbols.all().size(), 50'000U);  // slots are used again
}

TEST(Symbols, ASlotThatChangesHandsSaysSo) {
  Symbols symbols;
  uint64_t serial = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const SymbolId id = symbols.intern("n" + std::to_string(i));
    ++serial;
    if (id + 1 < serial) {
      EXPECT_GT(symbols[id].since, id + 1);  // a value of its first name's
      EXPECT_LE(symbols[id].since, serial);
      EXPECT_EQ(symbols.find("n" + std::to_string(id)), kNil);
      return;
    }
    symbols.note_unbound(serial + 1);
  }
  FAIL() << "no slot was used again";
}

TEST(Symbols, SuggestsBoundNamesOfUsersAlone) {
  Symbols symbols;
  symbols[symbols.intern("bound")].value = 1;
  symbols[symbols.intern("failed")].failed = true;
  symbols.intern("unbound");
  const SymbolId ours = symbols.intern("_e0");
  symbols[ours].value = 2;
  const std::vector<std::string_view> names = symbols.bound_names();
  EXPECT_EQ(names.size(), 2U);
  for (const std::string_view name : names) {
    EXPECT_TRUE(name == "bound" || name == "failed") << name;
  }
}

TEST(Symbols, KnowsWhoseANameIs) {
  for (const char* name : {"_e0", "_", "c1/_e0", "a/b/_x"}) {
    EXPECT_TRUE(is_internal_name(name)) << name;
  }
  for (const char* name : {"e0", "c_1/e0", "a_", "_c/x", "a._b"}) {
    EXPECT_FALSE(is_internal_name(name)) << name;
  }
}

}  // namespace
}  // namespace gt

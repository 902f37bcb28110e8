#include "emit/symbols.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace gt::emit {
namespace {

TEST(Symbols, ListsLiveNamesOfUsersAlone) {
  Symbols symbols;
  symbols[symbols.obtain("bound")].value = 1;
  symbols[symbols.obtain("failed")].failed = true;
  symbols.obtain("unbound");
  symbols[symbols.obtain("_e0")].value = 2;
  EXPECT_EQ(symbols.names_of_users(),
            (std::vector<std::string_view>{"bound", "failed"}));
}

TEST(Symbols, LooksForNamesSpeltAlikeAThousandTimes) {
  Symbols symbols;
  symbols[symbols.obtain("other")].value = 1;
  const SymbolId part = symbols.obtain_part("x", {0, 1});
  symbols[part].value = 2;
  symbols.add_part(part);
  using Names = std::vector<std::string_view>;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(symbols.names_like("x"), (Names{"other", "x@0-1", "x@0-1"})) << i;
  }
  EXPECT_EQ(symbols.names_like("x"), Names{"x@0-1"});
  EXPECT_EQ(symbols.names_like("other"), Names{"other"});
  EXPECT_EQ(symbols.names_like("y"), Names{});
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
}  // namespace gt::emit

#include "program/symbol_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gt {
namespace {

struct HeldPart : StampedValue {
  Shared<Ranks> ranks;
  void take_over() {
    StampedValue::take_over();
    ranks.reset();
  }
};

// Binds names, and takes ranks from names that had them, as a program would.
class LiveNames : public PlacedSymbolTable<HeldPart> {
 public:
  SymbolId bind(const std::string& name) {
    begin_line();
    const SymbolId id = obtain(name);
    (*this)[id].stamp.type = 2;
    return id;
  }
  void drop(SymbolId id) {
    (*this)[id].stamp.type = kNoType;
    if ((*this)[id].ranks) drop_part(id);
    retire(id);
  }
  SymbolId bind(const std::string& base, const Ranks& ranks) {
    begin_line();
    carve(base, ranks, [&](SymbolId id, const Ranks& rest) {
      drop(id);
      if (!rest.empty()) hold(base, rest);
    });
    return hold(base, ranks);
  }
  // The ranks of each part of the name, "0-1 3", in the order in which the
  // parts came.
  std::string live(const std::string& base) const {
    std::string out;
    for (const SymbolId id : parts(base)) {
      EXPECT_EQ(name_of(id), base + "@" + to_string(*(*this)[id].ranks));
      out += (out.empty() ? "" : " ") + to_string(*(*this)[id].ranks);
    }
    return out;
  }

 private:
  SymbolId hold(const std::string& base, const Ranks& ranks) {
    const SymbolId id = obtain_part(base, ranks);
    (*this)[id].stamp.type = 2;
    add_part(id);
    return id;
  }
};

TEST(SymbolTable, ANameKeepsItsNumberWhileItLives) {
  LiveNames names;
  const SymbolId x = names.bind("x");
  EXPECT_EQ(names.find("y"), kNoSymbol);
  for (int i = 0; i < 100'000; ++i) {
    const std::string name = "n" + std::to_string(i);
    const SymbolId id = names.bind(name);
    EXPECT_EQ(names.find(name), id);
    names.drop(id);
    EXPECT_EQ(names.find(name), kNoSymbol);
  }
  EXPECT_EQ(names.find("x"), x);
  EXPECT_LT(names.size(), 50'000U);  // numbers are used again
}

TEST(SymbolTable, ANumberThatChangesHandsSaysSo) {
  LiveNames names;
  const SymbolId first = names.bind("first");
  const Stamp stamp = names[first].stamp;
  names.drop(first);
  for (int i = 0; names.name_of(first) == "first"; ++i) {
    ASSERT_LT(i, 100'000) << "no number was used again";
    names.drop(names.bind("n" + std::to_string(i)));
  }
  EXPECT_NE(names[first].stamp.generation, stamp.generation);
  EXPECT_EQ(names.find("first"), kNoSymbol);
}

TEST(SymbolTable, FailuresAreOfOneNumber) {
  LiveNames names;
  const SymbolId x = names.bind("x");
  EXPECT_EQ(names.failure_of(x), nullptr);
  names.note_failure(x, std::make_shared<const std::string>("why"));
  EXPECT_EQ(*names.failure_of(x), "why");
  names.forget_failure(x);
  EXPECT_FALSE(names.has_failures());
}

TEST(PlacedSymbolTable, PartsHaveNoRankInCommon) {
  LiveNames names;
  names.bind("x", {0, 1, 2, 3});
  EXPECT_EQ(names.live("x"), "0-3");
  const SymbolId middle = names.bind("x", {1, 2});
  EXPECT_EQ(names.live("x"), "0,3 1-2");
  EXPECT_EQ(names.find("x@1-2"), middle);
  EXPECT_EQ(names.find("x@0-3"), kNoSymbol);
  names.bind("x", {2, 3, 4});
  EXPECT_EQ(names.live("x"), "0 1 2-4");
  names.bind("x", {0, 1, 2, 3, 4});
  EXPECT_EQ(names.live("x"), "0-4");
  EXPECT_TRUE(names.has_parts_under("x"));
  names.drop(names.find("x@0-4"));
  EXPECT_EQ(names.live("x"), "");
  EXPECT_FALSE(names.has_parts_under("x"));
}

}  // namespace
}  // namespace gt

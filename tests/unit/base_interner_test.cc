#include "base/interner.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>

#include "base/hash.h"
#include "base/id_table.h"

namespace gt {
namespace {

TEST(IdTable, IsAMapUnderManyRandomChanges) {
  // There are few hashes, so runs are long and most removals leave a gap in
  // one.
  const auto hash_of = [](uint32_t id) { return uint64_t{id % 37} << 40; };
  IdTable table;
  std::unordered_map<uint32_t, bool> is_in;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto id = static_cast<uint32_t>(random() % 300);
    const IdTable::Id found =
        table.find(hash_of(id), [&](IdTable::Id other) { return other == id; });
    ASSERT_EQ(found, is_in[id] ? id : IdTable::kNone);
    if (is_in[id]) {
      table.remove(hash_of(id), id);
    } else {
      table.add(hash_of(id), id);
    }
    is_in[id] = !is_in[id];
  }
  size_t size = 0;
  for (const auto& [id, in] : is_in) size += in;
  EXPECT_EQ(table.size(), size);
}

TEST(Interner, EqualValuesHaveOneNumber) {
  Interner<std::string, TextHash> texts(2);
  EXPECT_EQ(texts.id("a"), 2U);
  EXPECT_EQ(texts.id("b"), 3U);
  EXPECT_EQ(texts.id("a"), 2U);
  EXPECT_EQ(texts[3], "b");
  EXPECT_EQ(texts.size(), 2U);
  texts.clear();
  EXPECT_EQ(texts.size(), 0U);
  EXPECT_EQ(texts.id("b"), 2U);
}

TEST(Interner, NumbersThatNobodyUsesAreGivenAgain) {
  Interner<std::string, TextHash> texts;
  for (int i = 0; i < 1000; ++i) texts.id(std::to_string(i));
  texts.keep_only([](uint32_t id) { return id % 2 == 0; });
  EXPECT_EQ(texts.size(), 500U);
  EXPECT_EQ(texts.id("500"), 500U);
  EXPECT_EQ(texts[500], "500");
  for (int i = 0; i < 500; ++i) {
    EXPECT_LT(texts.id("new" + std::to_string(i)), 1000U);
  }
  EXPECT_EQ(texts.id("one more"), 1000U);
}

}  // namespace
}  // namespace gt

// Decoded lines by their text: variants of a line, and which of them are kept.
#include "program/line_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"

namespace gt {
namespace {

struct Entry {
  std::string text;
  int type = 0;
};

class LineCacheTest : public testing::Test {
 protected:
  // Whether the line has been decoded for values of that type.
  bool knows(const std::string& text, int type) {
    const Entry* entry =
        cache_.find(hash_bytes(text), text,
                    [type](const Entry& each) { return each.type == type; });
    return entry != nullptr && entry->text == text && entry->type == type;
  }
  std::unique_ptr<Entry> keep(const std::string& text, int type) {
    return cache_.insert(
        hash_bytes(text), std::make_unique<Entry>(Entry{text, type}),
        [this](const Entry& each) { return each.type < first_type_; });
  }
  LineCache<Entry> cache_{64};
  int first_type_ = 0;  // earlier types have ended
};

TEST_F(LineCacheTest, ALineIsWantedWhenItComesAgain) {
  EXPECT_FALSE(cache_.wants(hash_bytes("h = relu h"), "h = relu h"));
  EXPECT_TRUE(cache_.wants(hash_bytes("h = relu h"), "h = relu h"));
  EXPECT_FALSE(cache_.wants(1, std::string(10'000, 'x')));
  EXPECT_FALSE(cache_.wants(1, std::string(10'000, 'x')));
}

TEST_F(LineCacheTest, ALineHasAnEntryForEachTypeThatItComesWith) {
  EXPECT_FALSE(knows("h = relu h", 1));
  for (int type = 0; type < 8; ++type) {
    EXPECT_EQ(keep("h = relu h", type), nullptr);
  }
  EXPECT_EQ(keep("h = tanh h", 3), nullptr);
  for (int type = 0; type < 8; ++type) EXPECT_TRUE(knows("h = relu h", type));
  EXPECT_FALSE(knows("h = relu h", 8));
  EXPECT_TRUE(knows("h = tanh h", 3));
  EXPECT_FALSE(knows("h = tanh h", 1));
}

TEST_F(LineCacheTest, ADeadEntryIsReplacedFirst) {
  for (int type = 0; type < 5; ++type) keep("h = relu h", type);
  first_type_ = 3;
  for (int type = 5; type < 8; ++type) {
    const auto old = keep("h = relu h", type);
    ASSERT_NE(old, nullptr);
    EXPECT_EQ(old->type, type - 5);
  }
  for (int type = 0; type < 8; ++type) {
    EXPECT_EQ(knows("h = relu h", type), type >= 3) << type;
  }
}

TEST_F(LineCacheTest, OneTypeTooManyInALoopIsNotTheLossOfAll) {
  int found = 0;
  for (int round = 0; round < 100; ++round) {
    for (int type = 0; type < 9; ++type) {
      if (knows("h = relu h", type)) {
        ++found;
      } else {
        keep("h = relu h", type);
      }
    }
  }
  EXPECT_GT(found, 400);
}

TEST_F(LineCacheTest, TypesWithoutEndTakeEachOthersPlaces) {
  keep("y = neg x", 1);
  for (int type = 0; type < 1000; ++type) {
    keep("h = relu h", type);
    ASSERT_TRUE(knows("h = relu h", type)) << type;
  }
  int known = 0;
  for (int type = 0; type < 1000; ++type) known += knows("h = relu h", type);
  EXPECT_EQ(known, 8);
  EXPECT_TRUE(knows("y = neg x", 1));
}

}  // namespace
}  // namespace gt

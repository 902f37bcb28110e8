#include "base/cache.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"

namespace gt::exec {
namespace {

struct Word {
  std::string text;
  int value = 0;
};

std::unique_ptr<Word> word(const std::string& text, int value) {
  return std::make_unique<Word>(Word{text, value});
}

TEST(Cache, FindsWhatWasPutIn) {
  Cache<Word> cache(64);
  EXPECT_EQ(cache.find(hash_bytes("a"), "a"), nullptr);
  EXPECT_EQ(cache.insert(hash_bytes("a"), word("a", 1)), nullptr);
  ASSERT_NE(cache.find(hash_bytes("a"), "a"), nullptr);
  EXPECT_EQ(cache.find(hash_bytes("a"), "a")->value, 1);
}

TEST(Cache, TheSameTextTakesItsOwnPlace) {
  Cache<Word> cache(64);
  cache.insert(1, word("a", 1));
  const auto old = cache.insert(1, word("a", 2));
  ASSERT_NE(old, nullptr);
  EXPECT_EQ(old->value, 1);
  EXPECT_EQ(cache.find(1, "a")->value, 2);
}

TEST(Cache, TextsOfOneHashAreTwoEntries) {
  Cache<Word> cache(64);
  cache.insert(1, word("a", 1));
  cache.insert(1, word("b", 2));
  EXPECT_EQ(cache.find(1, "a")->value, 1);
  EXPECT_EQ(cache.find(1, "b")->value, 2);
}

TEST(Cache, AScanDoesNotPushOutWhatIsUsed) {
  Cache<Word> cache(1);
  cache.insert(0, word("used", 1));
  for (int i = 0; i < 100; ++i) {
    ASSERT_NE(cache.find(0, "used"), nullptr) << i;
    cache.insert(0, word("new" + std::to_string(i), i));
  }
}

TEST(Cache, IsBounded) {
  Cache<Word> cache(4);
  for (uint64_t i = 0; i < 1000; ++i) {
    const std::string text = std::to_string(i);
    cache.insert(hash_bytes(text), word(text, 0));
  }
  size_t entries = 0;
  cache.for_each([&entries](Word*) { ++entries; });
  EXPECT_LE(entries, 16U);
}

}  // namespace
}  // namespace gt::exec

#include "stream/pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace gt {
namespace {

std::string key_of(std::string_view line) {
  Pattern pattern;
  return pattern.scan(line, false) ? std::string(pattern.key()) : "none";
}

TEST(Pattern, LeavesNamesOutAndKeepsTheirRanks) {
  EXPECT_EQ(key_of("a = add b 2"), key_of("x/y = add zz 2"));
  EXPECT_NE(key_of("a = add b 2"), key_of("a = add b c"));
  EXPECT_NE(key_of("a = add b 2"), key_of("a = add b 3"));
  EXPECT_EQ(key_of("a@0-1 = add b@0-1 2"), key_of("c@0-1 = add d@0-1 2"));
  EXPECT_NE(key_of("a@0-1 = add b@0-1 2"), key_of("a@0-3 = add b@0-3 2"));
  EXPECT_NE(key_of("a b = split x 2"), key_of("a = split b x 2"));
}

TEST(Pattern, TellsResultsAndPieces) {
  Pattern pattern;
  ASSERT_TRUE(pattern.scan("a@0-1 b@0-1 = split x@0-1 2 axis=0", false));
  EXPECT_EQ(pattern.results(), 2U);
  ASSERT_EQ(pattern.names().size(), 3U);
  EXPECT_EQ(pattern.names()[2].text, "x@0-1");
  EXPECT_EQ(pattern.names()[2].base, "x");
  EXPECT_TRUE(pattern.is_placed());
  EXPECT_FALSE(pattern.is_free());
}

TEST(Pattern, LeavesPlacesOut) {
  Pattern pattern;
  ASSERT_TRUE(pattern.scan("a = neg b #mb=1 #at=p.gt:3", false));
  EXPECT_TRUE(pattern.has_at());
  EXPECT_EQ(key_of("a = neg b #mb=1 #at=p.gt:3"), key_of("a = neg b #mb=1"));
  EXPECT_NE(key_of("a = neg b #mb=1"), key_of("a = neg b #mb=2"));
}

TEST(Pattern, TakesFreesOfNames) {
  Pattern pattern;
  ASSERT_TRUE(pattern.scan("free a b@0", false));
  EXPECT_TRUE(pattern.is_free());
  EXPECT_EQ(pattern.names().size(), 2U);
  EXPECT_EQ(key_of("free a/*"), "none");
  EXPECT_EQ(key_of("free"), "none");
}

TEST(Pattern, RefusesWhatIsNotPlain) {
  for (const char* line :
       {"", "print a", "a = ", "= add b c", "a =  add b c", "a = add b c ",
        "a = load \"p\"", "a = add b c # why", "_a = add b c", "a = add _b c",
        "a = add s/_b c", "f32 = add b c", "a\t= add b c", "a = add b c\r"}) {
    EXPECT_EQ(key_of(line), "none") << line;
  }
  EXPECT_EQ(key_of("a = neg " + std::string(600, 'b')), "none");
  Pattern pattern;
  EXPECT_TRUE(pattern.scan("_a = add _b 1", true));
}

}  // namespace
}  // namespace gt

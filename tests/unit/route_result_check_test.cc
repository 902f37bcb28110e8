// The answer of a worker must be what it was asked for, however its bytes come.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/reader.h"
#include "route/result_order.h"

namespace gt::route {
namespace {

// What is wrong with `bytes` as the answer to a print with that head, in pieces
// of `step` bytes; "" if they are one whole line.
std::string wrong(std::string_view head, std::string_view bytes, size_t step) {
  ResultCheck check;
  check.begin(head);
  while (!bytes.empty()) {
    if (!check.is_open()) return "more than a line";
    const auto size = check.take(bytes.substr(0, step));
    if (!size.ok()) return size.error().message;
    bytes.remove_prefix(size.value());
  }
  return check.is_open() ? "less than a line" : "";
}

void expect_good(std::string_view head, std::string_view line) {
  for (size_t step = 1; step <= line.size() + 1; ++step) {
    EXPECT_EQ(wrong(head, line, step), "") << line << " in steps of " << step;
  }
}

void expect_bad(std::string_view head, std::string_view line) {
  for (size_t step = 1; step <= line.size() + 1; ++step) {
    EXPECT_NE(wrong(head, line, step), "") << line << " in steps of " << step;
  }
}

TEST(ResultCheck, TakesWhatFitsItsPrint) {
  expect_good("x = tensor f32[]", "x = tensor f32[] 0.5\n");
  expect_good("x = tensor f32[0]", "x = tensor f32[0]\n");
  expect_good("x = tensor f32[2,2]", "x = tensor f32[2,2] 1 -inf nan 1e-08\n");
  expect_good("x@3 = tensor f64[1]", "x@3 = tensor f64[1] -0\n");
  expect_good("x = tensor bool[2]", "x = tensor bool[2] 0 1\n");
  expect_good("x = tensor u8[2]", "x = tensor u8[2] 0 255\n");
  expect_good("x = tensor i32[2]",
              "x = tensor i32[2] -2147483648 2147483647\n");
  expect_good("x = tensor i64[1]", "x = tensor i64[1] -9223372036854775808\n");
  expect_good("x = tensor f32[2]", "x = fail \"p.gt:3: no \\x23\"\n");
  expect_good("x = fail", "x = fail \"\"\n");
}

TEST(ResultCheck, RefusesAllElse) {
  for (const char* line : {
           "\n",
           "y = tensor f32[2] 1 2\n",
           "xx = tensor f32[2] 1 2\n",
           "x = tensor f64[2] 1 2\n",
           "x = tensor f32[3] 1 2 3\n",
           "x = tensor f32[2,1] 1 2\n",
           "x = tensor f32[2]] 1 2\n",
           "x = tensor f32[2] 1\n",
           "x = tensor f32[2] 1 2 3\n",
           "x = tensor f32[2]\n",
           "x = tensor f32[2] 1 2 \n",
           "x = tensor f32[2]  1 2\n",
           "x = tensor f32[2] 1 y\n",
           "x = tensor f32[2] 1 true\n",
           "x = tensor f32[2] 1 \x1b[31m\n",
           "x = tensor f32[2] 1 2 # remark\n",
           "x = garbage\n",
           "#end 0\n",
           "x = fail\n",
           "x = fail \"a\n",
           "x = fail \"a\" \"b\"\n",
           "x = fail \"a\" #note\n",
           "x = fail \"\x1b]0;x\x07\"\n",
           "y = fail \"a\"\n",
           "x  = fail \"a\"\n",
           "x y = fail \"a\"\n",
       }) {
    expect_bad("x = tensor f32[2]", line);
  }
  expect_bad("x = fail", "x = tensor f32[2] 1 2\n");
  expect_bad("x = tensor u8[1]", "x = tensor u8[1] 256\n");
  expect_bad("x = tensor i32[1]", "x = tensor i32[1] 1.5\n");
  expect_bad("x = tensor bool[1]", "x = tensor bool[1] 2\n");
}

TEST(ResultCheck, KeepsLittleOfWhatHasNoEnd) {
  EXPECT_NE(wrong("x = tensor f32[2]",
                  "x = tensor f32[2] " + std::string(1000, '1'), 7),
            "less than a line");
  const std::string much(Reader::kMaxLine + (size_t{1} << 20), 'a');
  EXPECT_NE(wrong("x = tensor f32[2]", "x = fail \"" + much, 1 << 20),
            "less than a line");
}

TEST(ResultOrder, TakesNoMoreThanItAskedFor) {
  ResultSources sources(2);
  ResultOrder results(sources);
  results.owe(0, "x = tensor f32[1]\ny = fail\n", 10, 1);
  results.owe(1, "z = tensor i64[1]\n", 10, 2);
  EXPECT_TRUE(sources.owes(0));
  EXPECT_TRUE(sources.take(1, "z = tensor i64[1] 7\n").ok());
  EXPECT_FALSE(sources.owes(1));
  EXPECT_FALSE(sources.take(1, "z = tensor i64[1] 7\n").ok());
  EXPECT_TRUE(sources.take(0, "x = tensor f32[1] 1\ny = fail \"a\"\n").ok());
  EXPECT_FALSE(sources.has_failed(0));  // that was known
  std::string out;
  results.emit(out, SIZE_MAX, {});
  EXPECT_EQ(out, "x = tensor f32[1] 1\ny = fail \"a\"\nz = tensor i64[1] 7\n");
  EXPECT_TRUE(results.empty());
}

TEST(ResultOrder, WhatIsOwedBecomesFailuresUnderTheSameNames) {
  ResultSources sources(1);
  ResultOrder results(sources);
  results.owe(0, "x = tensor f32[1]\ny@2 = tensor f32[1]\n", 10, 1);
  EXPECT_TRUE(sources.take(0, "x = fail \"a\"\ny@2 = ten").ok());
  EXPECT_TRUE(sources.has_failed(0));
  results.fail("it is gone");
  std::string out;
  results.emit(out, SIZE_MAX, {});
  EXPECT_EQ(out, "x = fail \"a\"\ny@2 = fail \"it is gone\"\n");
}

TEST(ResultOrder, WhatALostWorkerOwesFailsInItsPlace) {
  ResultSources sources(2);
  ResultOrder results(sources);
  results.owe(0, "a = tensor f32[1]\n", 10, 1);
  results.owe(1, "b = tensor f32[1]\nc = tensor f32[1]\n", 10, 2);
  results.owe(0, "d = tensor f32[1]\n", 10, 3);
  EXPECT_TRUE(sources.take(1, "b = tensor f32[1] 2\nc = ten").ok());
  sources.lose(1, "it is gone");
  results.fail(1);
  results.owe(1, "e = tensor f32[1]\nf = tensor f32[1]\n", 10, 4);
  EXPECT_FALSE(sources.owes(1));
  EXPECT_TRUE(
      sources.take(0, "a = tensor f32[1] 1\nd = tensor f32[1] 4\n").ok());
  std::string out;
  results.emit(out, SIZE_MAX, {});
  EXPECT_EQ(out,
            "a = tensor f32[1] 1\nb = tensor f32[1] 2\n"
            "c = fail \"it is gone\"\nd = tensor f32[1] 4\n"
            "e = fail \"it is gone\"\nf = fail \"it is gone\"\n");
  EXPECT_TRUE(results.empty());
}

TEST(ResultOrder, TwoClientsOfOneWorkerEachGetTheirOwn) {
  ResultSources sources(1);
  ResultOrder a(sources);
  ResultOrder b(sources);
  a.owe(0, "x = tensor f32[1]\n", 10, 1);
  b.owe(0, "y = tensor f32[1]\n", 10, 2);
  a.owe(0, "z = tensor f32[1]\n", 10, 3);
  EXPECT_TRUE(
      sources.take(0, "x = tensor f32[1] 1\ny = tensor f32[1] 2\nz = ").ok());
  std::string of_a;
  std::string of_b;
  b.emit(of_b, SIZE_MAX, {});
  EXPECT_EQ(of_b, "y = tensor f32[1] 2\n");
  EXPECT_TRUE(b.empty());
  EXPECT_TRUE(sources.take(0, "tensor f32[1] 3\n").ok());
  a.emit(of_a, SIZE_MAX, {});
  EXPECT_EQ(of_a, "x = tensor f32[1] 1\nz = tensor f32[1] 3\n");
  EXPECT_FALSE(sources.owes(0));
}

}  // namespace
}  // namespace gt::route

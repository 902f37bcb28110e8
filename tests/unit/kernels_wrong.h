// Lines whose data is wrong, and the message that every backend gives.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels_harness.h"

namespace gt::exec {

struct Wrong {
  const char* line;
  const char* operands;
  double value;  // of the first element of the last named operand
  const char* message;
};

inline constexpr Wrong kWrong[] = {
    {"y = floordiv a b", "a i64[3] b i64[3]>0", 0, "integer division by zero"},
    {"y = mod a b", "a u8[3] b u8[3]>0", 0, "integer division by zero"},
    {"y = pow a b", "a i32[3] b i32[3]>0", -1, "integer to a negative power"},
    {"y = embedding a b", "a f32[10,2] b i64[3]<10", 12,
     "index 12 is out of range, which is 0 to 9"},
    {"y = embedding a b", "a f32[10,2] b i64[3]<10", -1,
     "index -1 is out of range, which is 0 to 9"},
    {"z = embedding_grad a b rows=4", "a f32[3,2] b i64[3]<4", 4,
     "index 4 is out of range, which is 0 to 3"},
    {"y = gather a b axis=0", "a f32[1,2] b i64[3,2]<1", 1,
     "index 1 is out of range, which is 0 to 0"},
    {"y = scatter_add a b a axis=0", "a f32[4,2] b i64[4,2]<4", 9,
     "index 9 is out of range, which is 0 to 3"},
    {"y = scatter a b a axis=0", "a f32[4,2] b i64[4,2]<4", -1,
     "index -1 is out of range, which is 0 to 3"},
    {"y = take a b axis=0", "a f32[4,2] b i64[3]<4", -5,
     "index -5 is out of range, which is 0 to 3"},
    {"y = take a b axis=0", "a f32[4,2] b i64[3]<4", 4,
     "index 4 is out of range, which is 0 to 3"},
    {"y = one_hot b num_classes=4", "a f32[1] b i64[3]<4", 4,
     "index 4 is out of range, which is 0 to 3"},
    {"y = cross_entropy a b", "a f32[3,10] b i64[3]<10", 10,
     "index 10 is out of range, which is 0 to 9"},
    {"y = slice a b axis=0 size=3", "a f32[7,2] b i64[]", 5,
     "size 3 from 5 is out of range for 7 rows"},
};

inline void check_wrong(Backend& backend, const std::string& name) {
  for (const Wrong& w : kWrong) {
    const Names names{"f32", {{'M', 1}, {'N', 1}, {'K', 1}}};
    Tensors tensors = random_tensors(w.operands, names, 1);
    Tensor& b = tensors.at("b");
    b.set(b.type.elements() - 1, w.value);
    const auto result = evaluate(backend, w.line, tensors);
    ASSERT_FALSE(result.ok()) << w.line;
    EXPECT_EQ(result.error().message, w.message) << w.line << " on " << name;
  }
}

}  // namespace gt::exec

// Short forms for the tests that generate/op_examples.cc makes from the op
// table.
#pragma once

#include <gt/gt.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace gt_test {

// The examples of these ops have lines that are no calls: files, failures and
// declarations.
inline constexpr char kUntested[] = " load mesh endmesh axis save fail";

// A tensor with these values, of that type.
inline gt::Tensor made(const gt::Type& type,
                       const std::vector<double>& values) {
  return gt::tensor(values, type.shape).cast(type.dtype);
}

inline gt::Range range(std::string_view text) {
  const size_t first = text.find(':');
  const size_t second = text.find(':', first + 1);
  const auto part = [](std::string_view word) {
    return std::strtoll(std::string(word).c_str(), nullptr, 10);
  };
  const std::string_view start = text.substr(0, first);
  const std::string_view stop = text.substr(
      first + 1,
      second == std::string_view::npos ? second : second - first - 1);
  const int64_t step =
      second == std::string_view::npos ? 1 : part(text.substr(second + 1));
  if (start.empty() && stop.empty()) return gt::Range::every(step);
  if (start.empty()) return gt::Range::to(part(stop), step);
  if (stop.empty()) return gt::Range::from(part(start), step);
  return {part(start), part(stop), step};
}

// Checks that the tensor is the one of a line such as "tensor f32[2] 1 2".
inline void expect(const gt::Tensor& tensor, const std::string& text) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  ASSERT_EQ(word, "tensor");
  words >> word;
  EXPECT_EQ(tensor.type().text(), word);
  const std::vector<double> values = tensor.to_vector<double>();
  for (const double value : values) {
    ASSERT_TRUE(words >> word) << text;
    const double expected = std::strtod(word.c_str(), nullptr);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << text;
    } else if (tensor.dtype() == gt::f64 || !tensor.dtype().is_float()) {
      EXPECT_EQ(value, expected) << text;
    } else if (tensor.dtype() == gt::f32) {
      EXPECT_EQ(static_cast<float>(value), static_cast<float>(expected))
          << text;
    } else {
      EXPECT_NEAR(value, expected, std::abs(expected) / 128) << text;
    }
  }
  EXPECT_FALSE(words >> word) << text;
}

}  // namespace gt_test

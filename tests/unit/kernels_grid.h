// The grid: every op of the table in every dtype, with sizes 0, 1, odd and
// random, with broadcasts and with negative axes.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "exec/backend/philox.h"
#include "kernels_harness.h"

namespace gt::exec {

inline constexpr int64_t kSizes[] = {1, 2, 3, 5, 8, 16, 17, 33, 40};

inline Names names_of_round(const std::string& dtype, uint64_t round) {
  Names names{dtype, {}};
  for (const char c : {'M', 'N', 'K'}) {
    const uint64_t word = philox::word(round, static_cast<uint64_t>(c));
    int64_t size = kSizes[word % std::size(kSizes)];
    if (round == 0) size = 1;
    if (round <= 2 && round > 0 && word % 2 == 0) size = 0;
    names.sizes[c] = size;
  }
  return names;
}

// A case with sizes has several rounds, each with other sizes.
inline uint64_t rounds_of(const KernelCase& c) {
  const std::string text = c.line + c.operands;
  const bool sized = text.find("$M") != std::string::npos ||
                     text.find("$N") != std::string::npos ||
                     text.find("$K") != std::string::npos;
  return sized ? 6 : 1;
}

// Compares a backend with the reference over the rounds of a case. At least one
// round must bind.
inline void check_case(const KernelCase& c, const std::string& dtype,
                       Backend& backend, Backend& ref) {
  int bound = 0;
  for (uint64_t round = 0; round < rounds_of(c); ++round) {
    const Names names = names_of_round(dtype, round);
    const Tensors tensors = random_tensors(c.operands, names, round * 100);
    const std::string line = fill_in(c.line, names);
    const auto results = evaluate(backend, line, tensors);
    const bool exact = c.ulps == 0 || !is_float(*parse_dtype(dtype));
    const auto wanted =
        evaluate(ref, exact ? line : fill_in(c.line, {"f64", names.sizes}),
                 exact ? tensors : widened(tensors));
    const std::string where = line + " over " + fill_in(c.operands, names);
    if (!results.ok() || !wanted.ok()) {
      // A round may be refused only for its sizes, and then by both.
      EXPECT_FALSE(results.ok()) << where << ": " << wanted.error().message;
      EXPECT_FALSE(wanted.ok()) << where << ": " << results.error().message;
      continue;
    }
    ++bound;
    for (size_t r = 0; r < results.value().size(); ++r) {
      const Tensor& y = results.value()[r];
      const Tensor& w = wanted.value()[r];
      if (!exact) {
        EXPECT_LE(distance(y, w, c.norm), c.ulps) << where << ", result " << r;
      } else if (is_float(y.type.dtype) && !is_float(*parse_dtype(dtype))) {
        EXPECT_LE(distance(y, w, c.norm), c.ulps) << where << ", result " << r;
      } else {
        EXPECT_TRUE(same_bits(y, w)) << where << ", result " << r
                                     << ", distance " << distance(y, w, false);
      }
    }
  }
  EXPECT_GT(bound, 0) << c.line << " never bound for " << dtype;
}

// Calls use(case, dtype) for each of the cases, of which there is one for each
// row of tests/ops.tsv, and each of its dtypes.
template <typename Use>
void for_each_case(const Use& use,
                   const std::vector<KernelCase>& cases = kernel_cases()) {
  for (const KernelCase& c : cases) {
    for (const std::string& dtype : dtypes_of(c)) use(c, dtype);
  }
}

// A line of the grid with its operands.
struct GridLine {
  std::string line;
  Tensors tensors;
};
template <typename Use>
void for_each_grid_line(const Use& use,
                        const std::vector<KernelCase>& cases = kernel_cases()) {
  for_each_case(
      [&](const KernelCase& c, const std::string& dtype) {
        for (uint64_t round = 0; round < rounds_of(c); ++round) {
          const Names names = names_of_round(dtype, round);
          use(GridLine{fill_in(c.line, names),
                       random_tensors(c.operands, names, round * 100)});
        }
      },
      cases);
}

}  // namespace gt::exec

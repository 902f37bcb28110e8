// Runs a line on a backend, by its kernel or, where there is none, by the op's
// expansion; and what tests of kernels need to make and compare values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend/backend.h"
#include "ops_samples.h"

namespace gt::exec {

struct Tensor {
  Type type;
  std::vector<char> data;

  Tensor() = default;
  explicit Tensor(const Type& t) : type(t), data(t.bytes() + 1) {}
  double real(int64_t i) const;
  void set(int64_t i, double value);
};
using Tensors = std::map<std::string, Tensor, std::less<>>;

// The line's results, in order. Errors: binding's, and the kernels' own.
Result<std::vector<Tensor>> evaluate(Backend& backend, const std::string& line,
                                     const Tensors& names);

// How many results a kernel of the line wrote over operands, as it says it may;
// each must have the bits that it has otherwise.
int check_in_place(Backend& backend, const std::string& line,
                   const Tensors& names);

// Same type and bytes; any nan equals any other.
bool same_bits(const Tensor& a, const Tensor& b);

// Largest distance of `y` from `wanted` (of f64, or of y's type), in units in
// the last place that y's dtype has at the larger of |wanted| and, if `norm`,
// the largest |wanted| there is. Infinite where only one is finite.
double distance(const Tensor& y, const Tensor& wanted, bool norm);

// A case's text: "$T" is the dtype under test, "$L" that of sums of it (f64 of
// f64, else f32), other "$X" are sizes.
struct Names {
  std::string dtype;
  std::map<char, int64_t> sizes;
};
std::string fill_in(std::string_view text, const Names& names);

// Tensors for "a $T[$M,$N]>0 t i64[$M]<$N": random values (normal, with a few
// zeros; small integers), made positive by >0, inside 0 and 1 by <1, integers
// below K by <K.
Tensors random_tensors(std::string_view operands, const Names& names,
                       uint64_t seed);
// The same values in f64 where they are of a float dtype.
Tensors widened(const Tensors& tensors);

// By name; a failure to make it is a test's failure.
std::unique_ptr<Backend> backend_for_test(std::string_view name,
                                          const BackendOptions& options);

// Each backend option that this machine has: "", "avx2", "avx512", "sse2".
std::vector<std::string> isas_for_test();

// A line over random operands, and how near the result must come: a row of
// tests/ops.tsv, which says what stands where.
struct KernelCase {
  std::string line;
  std::string operands;
  std::string dtypes;
  double ulps = 0;
  bool norm = false;  // units are those of the largest value
};
const std::vector<KernelCase>& kernel_cases();
std::vector<std::string> dtypes_of(const KernelCase& c);
// The word behind the line's "=".
std::string op_of(std::string_view line);

}  // namespace gt::exec

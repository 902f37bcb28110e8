// Runs a line on a backend by its kernel or, if there is none, by the op's
// expansion. Helps tests of kernels to make and compare values.
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

// The line's results, in order. Errors are those of binding and of the kernels.
Result<std::vector<Tensor>> evaluate(Backend& backend, const std::string& line,
                                     const Tensors& names);

// Runs a kernel of the line with results in place of operands, where the kernel
// allows that, and returns how many there were. The results must have the same
// bits.
int check_in_place(Backend& backend, const std::string& line,
                   const Tensors& names);

// Whether type and bytes are the same; any nan equals any other.
bool same_bits(const Tensor& a, const Tensor& b);

// The largest distance of `y` from `wanted` (in f64 or in y's type), in units
// in the last place that y's dtype has at the larger of |wanted| and, with
// `norm`, the largest
// wanted|. It is infinite where only one of the two is finite.
double distance(const Tensor& y, const Tensor& wanted, bool norm);

// In the text of a case, "$T" is the dtype under test, "$L" that of sums of it
// (f64 for f64, else f32), and other "$X" are sizes.
struct Names {
  std::string dtype;
  std::map<char, int64_t> sizes;
};
std::string fill_in(std::string_view text, const Names& names);

// Tensors for "a $T[$M,$N]>0 t i64[$M]<$N". Values are random: normal with a
// few zeros, or small integers; >0 makes them positive, <1 puts them inside 0
// and 1, and <K makes integers below K.
Tensors random_tensors(std::string_view operands, const Names& names,
                       uint64_t seed);
// The same values, in f64 if they are floats.
Tensors widened(const Tensors& tensors);

// The backend of that name; the test fails if it cannot be made.
std::unique_ptr<Backend> backend_for_test(std::string_view name,
                                          const BackendOptions& options);

// The instruction sets of this machine, by option: "", "avx2", "avx512",
// "sse2".
std::vector<std::string> isas_for_test();

// A line over random operands, and how near its result must come: a row of
// tests/ops.tsv, whose head explains the columns.
struct KernelCase {
  std::string line;
  std::string operands;
  std::string dtypes;
  double ulps = 0;
  bool norm = false;  // units are those of the largest value
};
const std::vector<KernelCase>& kernel_cases();
std::vector<std::string> dtypes_of(const KernelCase& c);
// The word after the "=" of the line.
std::string op_of(std::string_view line);

}  // namespace gt::exec

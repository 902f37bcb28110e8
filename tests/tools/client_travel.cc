// Values of more than 1,000 elements go to where a program runs, and come back.
// Prints "same", or what went wrong, with status 1. tests/client-cluster.bats
// runs it.
//
//   client_travel [ROUNDS]
//
// With 0 rounds the value is x, which is not read before the end.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <vector>

#include <gt/gt.h>

namespace {

// A value of 5,000 elements fails.
bool fails() {
  const gt::Tensor broken =
      gt::floordiv(gt::ones(gt::i32(5000)), gt::zeros(gt::i32(5000)));
  try {
    broken.to_vector<int>();
  } catch (const gt::Failed&) {
    return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  std::vector<float> values(5000);
  std::iota(values.begin(), values.end(), 0.0F);
  try {
    if (argc > 1 && rounds == 0) {
      const gt::Tensor x =
          gt::from_blob(values.data(), gt::f32(50, 100)).name("x");
      return gt::close();
    }
    bool is_same = true;
    for (int i = 0; i < rounds; ++i) {
      const gt::Tensor x = gt::from_blob(values.data(), gt::f32(50, 100));
      gt::sync();  // gt-shard may not have written the load of x yet
      const std::vector<float> twice = (x * 2).to_vector();
      for (size_t j = 0; j < values.size(); ++j) {
        is_same = is_same && twice[j] == 2 * values[j];
      }
    }
    is_same = is_same && (argc > 1 || fails());
    std::puts(is_same ? "same" : "other values");
    return is_same ? 0 : 1;
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
}

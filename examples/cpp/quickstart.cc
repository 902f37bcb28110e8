// The quick start: two random matrices, their product, a corner of it. The
// program starts what runs it.
#include <gt/gt.h>

#include <iostream>

int main() {
  const gt::Tensor a = gt::randn({1000, 1000});
  const gt::Tensor b = gt::randn({1000, 1000});
  const gt::Tensor c = gt::matmul(a, b);
  std::cout << c({0, 4}, {0, 4}) << '\n';
}

// A user's program. The function in namespace gt has the name of one of libgt's
// own, which must not be taken for it.
#include <gt/gt.h>

#include <cstdio>

namespace gt {
struct Error3 {};
void use_or_fail() {}
}  // namespace gt

void stop_here(const gt::Tensor& tensor) {  // where gdb looks at it
  std::printf("%s\n", tensor.type().text().c_str());
}

int main() {
  const gt::Tensor a = gt::tensor({1.0F, 2.0F, 3.0F});
  gt::Tensor sum = a + a;
  sum.name("total");
  stop_here(sum);
  for (const float value : sum.to_vector()) std::printf("%g\n", value);
}

// A program of a user. One of its functions has the name of a function of
// libgt, and the two must not be confused.
#include <gt/gt.h>

#include <cstdio>
#include <string_view>

namespace gt {
int columns_of(std::string_view text) { return static_cast<int>(text.size()); }
}  // namespace gt

void look_at(const gt::Tensor& tensor) {  // gdb stops here
  std::printf("%s %d\n", tensor.type().text().c_str(), gt::columns_of("four"));
}

int main() {
  const gt::Tensor a = gt::tensor({1.0F, 2.0F, 3.0F});
  gt::Tensor sum = a + a;
  sum.name("total");
  look_at(sum);
  for (const float value : sum.to_vector()) std::printf("%g\n", value);
}

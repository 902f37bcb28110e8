// A program at which tests/cpp-examples.bats types Ctrl-C. Until then it goes
// on, and with the word "handles" it then ends in order.
#include <signal.h>

#include <cstdio>
#include <string_view>

#include <gt/gt.h>

namespace {

volatile sig_atomic_t interrupted = 0;

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "handles") {
    ::signal(SIGINT, [](int) { interrupted = 1; });
  }
  gt::Tensor sum = gt::zeros({});
  bool is_told = false;
  while (interrupted == 0) {
    sum += 1;
    if (!is_told) std::printf("begun with %g\n", sum.item<double>());
    std::fflush(stdout);
    is_told = true;
  }
  const bool goes_on = sum.item() > 0;
  std::puts(goes_on ? "goes on" : "does not go on");
  return gt::close();
}

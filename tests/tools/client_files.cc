// Files of a cluster have the names of files here; prints what load finds.
// tests/client-cluster.bats runs it.
#include <unistd.h>

#include <exception>
#include <iostream>

#include <gt/data.h>
#include <gt/gt.h>

namespace {

constexpr char kPath[] = "w.npy";

void show() {
  try {
    std::cout << gt::load(kPath) << '\n';
  } catch (const std::exception& error) {
    std::cout << error.what() << '\n';
  }
}

}  // namespace

int main() {
  show();
  std::cout << gt::load(kPath, gt::f32(2)) << '\n';
  gt::send(kPath);
  show();
  gt::save(gt::full({4}, 7), kPath);
  show();
  gt::fetch(kPath);
  if (::chdir("/") != 0) return 1;
  std::cout << gt::stored_type(kPath).text() << '\n';
  show();
  return gt::close();
}

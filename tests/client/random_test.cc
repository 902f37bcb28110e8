// Random programs are made of calls and of lines written by hand. Both give the
// same values, and a register is freed when its last handle goes.
#include <random>

#include "client/helper.h"

using namespace gt_test;

namespace {

// A program that is made twice: in C++, with handles that come and go, and as
// text, in which each value has a name of its own that is never freed.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    for (int i = 0; i < 3; ++i) start();
  }

  void step() {
    switch (below(12)) {
      case 0:
        return start();
      case 1:  // handles go in any order
        if (held_.size() > 3) held_.erase(held_.begin() + below(held_.size()));
        return;
      case 2: {  // handles are copied
        const Held copy = any();
        held_.push_back(copy);
        return;
      }
      case 3: {
        const Held x = any();
        return keep(
            x.tensor.sum({.axis = 0, .keepdims = true}) + x.tensor,
            {"sum " + x.name + " axis=0 keepdims=1", "add $ " + x.name});
      }
      case 4: {
        const Held x = any();
        return keep(gt::matmul(x.tensor, any_again_.tensor, {.tb = true}) * 0.1,
                    {"matmul " + x.name + " " + any_again_.name + " tb=1",
                     "mul $ 0.1"});
      }
      case 5: {
        const Held x = any();
        return keep(x.tensor.flip({.axis = 0}), {"flip " + x.name + " axis=0"});
      }
      case 6: {
        const Held x = any();
        return keep(2 - x.tensor, {"sub 2 " + x.name});
      }
      case 7: {
        const Held x = any();
        return keep(x.tensor.softmax({.axis = 0}),
                    {"softmax " + x.name + " axis=0"});
      }
      case 8: {  // in place, where other handles see the change
        const size_t i = below(held_.size());
        const std::string name = held_[i].name;
        held_[i].tensor.mul_(0.5);
        lines_ += name + " = mul " + name + " 0.5\n";
        return;
      }
      default: {
        const Held a = any();
        const Held b = any();
        return keep(a.tensor * b.tensor + a.tensor,
                    {"mul " + a.name + " " + b.name, "add $ " + a.name});
      }
    }
  }

  // Compares the values that are still held with those that the text prints.
  void check(const Folder& folder) {
    for (const Held& held : held_) lines_ += "print " + held.name + "\n";
    std::ofstream(folder / "by-hand.gt") << lines_;
    const std::string bin = std::getenv("GT_BIN");
    const std::string command = bin + "/gt-emit " + (folder / "by-hand.gt") +
                                " | " + bin + "/gt-work > " + (folder / "out");
    ASSERT_EQ(std::system(command.c_str()), 0);
    const std::vector<std::string> expected = lines_of(read(folder / "out"));
    ASSERT_EQ(expected.size(), held_.size());
    for (size_t i = 0; i < held_.size(); ++i) {
      std::istringstream words(expected[i]);
      std::string word;
      for (int skip = 0; skip < 4; ++skip) words >> word;
      EXPECT_EQ(held_[i].tensor.type().text(), word);
      for (const float value : held_[i].tensor.to_vector()) {
        words >> word;
        const float wanted = std::strtof(word.c_str(), nullptr);
        EXPECT_TRUE(value == wanted || (value != value && wanted != wanted))
            << held_[i].name << ": " << value << " and " << word;
      }
    }
  }

 private:
  struct Held {
    gt::Tensor tensor;
    std::string name;
  };

  size_t below(size_t n) { return random_() % n; }
  Held any() {
    any_again_ = held_[below(held_.size())];
    return any_again_;
  }
  void start() {
    const int seed = static_cast<int>(below(1000));
    keep(gt::randn({3, 3}, seed, {.scale = 0.5}),
         {"randn f32[3,3] " + std::to_string(seed) + " scale=0.5"});
  }
  // Keeps the tensor, and the lines that make it; "$" is the result of the line
  // before.
  void keep(const gt::Tensor& tensor, const std::vector<std::string>& lines) {
    std::string name;
    for (std::string line : lines) {
      const size_t before = line.find('$');
      if (before != std::string::npos) line.replace(before, 1, name);
      name = "v" + std::to_string(count_++);
      lines_ += name + " = " + line + "\n";
    }
    held_.push_back({tensor, name});
  }

  std::mt19937 random_;
  std::vector<Held> held_;
  Held any_again_;
  std::string lines_;
  int count_ = 0;
};

}  // namespace

TEST(Random, CallsAreTheLinesThatOneWouldWrite) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Folder folder;
    Program program(seed);
    for (int i = 0; i < 60; ++i) program.step();
    program.check(folder);
  }
}

TEST(Random, AMillionTemporariesLeaveThreeNames) {
  const gt::Tensor one = gt::ones({2});
  gt::Tensor x = one;
  for (int i = 0; i < 1'000'000; ++i) {
    x = (x + one) * 0.5;
    if (i % 1000 == 0) x = x.detach();
  }
  EXPECT_LT(x.name().size(), 6U);
  EXPECT_EQ(x.to_vector(), (std::vector<float>{1, 1}));
}

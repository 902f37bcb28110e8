// Gradients of a session: backward, grad, and what both refuse.
#include "client/helper.h"

using namespace gt_test;

TEST(Gradients, BackwardAddsToGradients) {
  gt::Tensor w = gt::tensor({3.0F}).requires_grad_();
  const gt::Tensor unused = gt::tensor({3.0F}).requires_grad_();
  EXPECT_FALSE(w.grad().defined());
  (w * w).sum().backward();
  EXPECT_EQ(w.grad().item(), 6);
  (w * w).sum().backward();
  EXPECT_EQ(w.grad().item(), 12);
  w.zero_grad();
  EXPECT_FALSE(w.grad().defined());
  EXPECT_FALSE(unused.grad().defined());
  const gt::Tensor loss = (w * w * w).sum();
  loss.backward(true);
  loss.backward();
  EXPECT_EQ(w.grad().item(), 54);
  EXPECT_NE(thrown([&] { loss.backward(); }).find("history is gone"),
            std::string::npos);
  EXPECT_NE(thrown([&] { (w * gt::ones({2})).backward(); }).find("scalar"),
            std::string::npos);
  EXPECT_NE(thrown([&] { w += 1; }).find("no_grad"), std::string::npos);
  EXPECT_NE(thrown([] { gt::tensor({1}).requires_grad_(); }), "");
}

TEST(Gradients, GradOfAGradWorks) {
  const gt::Tensor x = gt::tensor(2.0F);
  const gt::Tensor y = x * x * x;
  const gt::Tensor dx = gt::grad(y, {x}, {.retain = true})[0];
  EXPECT_EQ(dx.item(), 12);
  EXPECT_EQ(gt::grad(dx, {x})[0].item(), 12);
}

TEST(Gradients, ANameThatWasUsedBeforeIsAnotherTensorsForGrad) {
  const gt::Tensor x = gt::tensor(2.0F);
  gt::Tensor loss;
  {
    const gt::Tensor once = x * x;
    loss = once * 3;
  }
  const gt::Tensor other = gt::tensor(1.0F);  // it takes the name that is free
  const gt::Tensor later = gt::tensor(1.0F);
  const std::vector<gt::Tensor> grads = gt::grad(loss, {x, other, later});
  EXPECT_EQ(grads[0].item(), 12);
  EXPECT_EQ(grads[1].item(), 0);
  EXPECT_EQ(grads[2].item(), 0);
  gt::Tensor late = gt::tensor(1.0F);
  late += 1;
  EXPECT_EQ(gt::grad(x * x, {x, late})[1].item(), 0);
  // If a tensor has changed since the loss, its former value may be meant.
  gt::Tensor changed = gt::tensor(1.0F);
  loss = changed * changed;
  changed += 1;
  EXPECT_NE(thrown<gt::Failed>([&] {
              gt::grad(loss, {changed})[0].item();
            }).find("depends on the value that"),
            std::string::npos);
}

TEST(Gradients, ATensorIsNamedBeforeTheLoss) {
  gt::Tensor x = gt::tensor(2.0F).requires_grad_();
  gt::Tensor loss = x * x;
  x.name("renamed.late");
  const auto late = [](const std::string& what) {
    return what.find("'renamed.late' was given that name after the loss") !=
           std::string::npos;
  };
  EXPECT_TRUE(late(thrown([&] { loss.backward(); })));
  EXPECT_TRUE(late(thrown([&] { gt::grad(loss, {x}); })));
  loss = x * x;
  loss.backward();
  EXPECT_EQ(x.grad().item(), 4);
}

TEST(Gradients, OperandsOfGradAreCheckedAtTheCall) {
  const gt::Tensor x = gt::ones({2}).name("x");
  EXPECT_NE(thrown([&] { gt::grad(x.sum(), {}); }).find("one target"),
            std::string::npos);
  EXPECT_NE(thrown([&] { gt::grad(x * x, {x}); }).find("must be a scalar"),
            std::string::npos);
  EXPECT_NE(
      thrown([&] { gt::grad(x.sum(), {gt::tensor({1})}); }).find("floats"),
      std::string::npos);
}

TEST(Gradients, AGradientHasItsTensorsType) {
  gt::Tensor w = gt::ones({2}).name("w").requires_grad_();
  EXPECT_NE(thrown([&] {
              w.set_grad(gt::ones({3}));
            }).find("'w' is f32[2], and its gradient cannot be f32[3]"),
            std::string::npos);
  w.set_grad(gt::full({2}, 5));
  EXPECT_EQ(w.grad().to_vector(), (std::vector<float>{5, 5}));
  w.set_grad({});
  EXPECT_FALSE(w.grad().defined());
}

// The program of a session: its scopes, lines of the user, and histories.
#include <memory>

#include "client/helper.h"

using namespace gt_test;

TEST(Program, TheHistoryBehindAValueIsTold) {
  const gt::Tensor w = gt::ones({2, 3}).name("w").requires_grad_();
  const gt::Tensor x = gt::ones({4, 2}).name("x");
  EXPECT_EQ(gt::tape(w), "");
  gt::Tensor h;
  {
    const gt::Signal up("up");
    h = gt::relu(gt::matmul(x, w));
  }
  h = h.mul(gt::rand(h.shape(), 7));  // these names are used again
  const gt::Tensor loss = h.mean().name("loss");
  EXPECT_EQ(gt::tape(loss),
            "v0 = matmul x w #signal=up  # f32[4,3]\n"
            "v1 = relu v0 #signal=up  # f32[4,3]\n" +
                h.name() +
                " = mul v1 v2  # f32[4,3]\n"
                "v3 = mean " +
                h.name() +
                "  # f32[]\n"
                "loss = copy v3  # f32[]\n");
  const std::string dot = gt::dot(loss);
  EXPECT_TRUE(dot.starts_with("digraph gt {")) << dot;
  EXPECT_NE(dot.find("loss = copy v3"), std::string::npos) << dot;
  loss.backward();
  EXPECT_EQ(gt::tape(loss), "");
  EXPECT_NE(thrown([] { (void)gt::tape(gt::Tensor()); }), "");
  // A long history comes in parts.
  gt::Tensor y = w;
  for (int i = 0; i < 100; ++i) y = y * 2;
  EXPECT_EQ(lines_of(gt::tape(y)).size(), 100U);
}

TEST(Program, ScopesEndInAnyOrder) {
  const std::string text = written([] {
    auto outer = std::make_unique<gt::Signal>("outer");
    auto inner = std::make_unique<gt::Signal>("inner");
    outer.reset();
    const gt::Tensor a = gt::ones({1});
    auto last = std::make_unique<gt::Signal>("last");
    inner.reset();
    const gt::Tensor b = gt::ones({1});
    last.reset();
    const gt::Tensor c = gt::ones({1});
  });
  const auto lines = lines_of(text);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0].find(" #signal=inner "), std::string::npos) << text;
  EXPECT_NE(lines[1].find(" #signal=last "), std::string::npos) << text;
  EXPECT_EQ(lines[2].find("#signal"), std::string::npos) << text;

  gt::Session one(""), two("");
  auto in_one = std::make_unique<gt::Use>(one);
  auto in_two = std::make_unique<gt::Use>(two);
  in_one.reset();
  EXPECT_EQ(gt::current_session(), two.raw());
  in_two.reset();
  EXPECT_NE(gt::current_session(), one.raw());
  EXPECT_NE(gt::current_session(), two.raw());
}

TEST(Program, ALineLeavesTensorsAlone) {
  const gt::Tensor w = gt::ones({2}).name("fc.w");
  for (const char* line :
       {"t3 = zeros f32[2]", "fc.w = zeros f32[2]", "free fc.w", "free t0",
        "free fc.*", "free *", "x t7 = sort fc.w"}) {
    EXPECT_NE(thrown([&] { gt::line(line); }).find("is a name of tensors"),
              std::string::npos)
        << line;
  }
  gt::line("mine = mul fc.w 2");
  gt::line("free min*");
  EXPECT_EQ(w.to_vector(), (std::vector<float>{1, 1}));
}

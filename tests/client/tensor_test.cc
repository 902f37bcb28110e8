// Tensors: types, values, operators, parts, and names.
#include <cmath>

#include "client/helper.h"

using namespace gt_test;

TEST(Tensor, KnowsItsTypeWithoutAnybodysAnswer) {
  const gt::Tensor x = gt::zeros({3, 4});
  EXPECT_EQ(gt::matmul(x, gt::zeros({4, 5})).type().text(), "f32[3,5]");
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.rank(), 2);
  EXPECT_NE(thrown([&] { x.size(-3); }).find("no axis -3"), std::string::npos);
  EXPECT_EQ(x.elements(), 12);
  EXPECT_EQ(gt::zeros(gt::i64(2, 3)).dtype(), gt::i64);
  EXPECT_EQ(gt::zeros({}).type().text(), "f32[]");
  EXPECT_EQ(gt::zeros({{16}, gt::bf16}).type().text(), "bf16[16]");
  EXPECT_EQ(gt::eq(x, 0).type().text(), "bool[3,4]");
}

TEST(Tensor, HasOperatorsWithNumbersOnEitherSide) {
  const gt::Tensor x = gt::tensor({1.0F, 2.0F, 4.0F});
  EXPECT_EQ((2 - x).to_vector(), (std::vector<float>{1, 0, -2}));
  EXPECT_EQ((x / 2).to_vector(), (std::vector<float>{0.5, 1, 2}));
  EXPECT_EQ((-x * x).to_vector(), (std::vector<float>{-1, -4, -16}));
  EXPECT_EQ((x >= 2).to_vector<bool>(), (std::vector<bool>{false, true, true}));
  EXPECT_EQ((!(x == 2)).to_vector<int>(), (std::vector<int>{1, 0, 1}));
}

TEST(Tensor, AFloatLiteralIsAFloatToIntegers) {
  const gt::Tensor n = gt::tensor({1, 2});
  EXPECT_EQ(n.dtype(), gt::i32);
  EXPECT_EQ((n * 2).dtype(), gt::i32);
  EXPECT_EQ((n * 2.0).dtype(), gt::f32);
  EXPECT_EQ((n * 0.1F).to_vector(), (std::vector<float>{0.1F, 0.2F}));
}

TEST(Tensor, HasPartsByIndexAndRange) {
  const gt::Tensor x = gt::arange(gt::i64(12)).reshape({3, 4});
  using Values = std::vector<int64_t>;
  EXPECT_EQ(x(gt::_, 0).to_vector<int64_t>(), (Values{0, 4, 8}));
  EXPECT_EQ(x({0, 2}, {1, 3}).to_vector<int64_t>(), (Values{1, 2, 5, 6}));
  EXPECT_EQ(x(-1).to_vector<int64_t>(), (Values{8, 9, 10, 11}));
  EXPECT_EQ(x(gt::Range::every(2), 3).to_vector<int64_t>(), (Values{3, 11}));
  EXPECT_EQ(x({0, 3, 2}, gt::Range::from(3)).to_vector<int64_t>(),
            (Values{3, 11}));
  const gt::Tensor i = gt::tensor(int64_t{1});
  EXPECT_EQ(x.slice(i, 2).to_vector<int64_t>(),
            (Values{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(x(i).to_vector<int64_t>(), (Values{4, 5, 6, 7}));
  EXPECT_EQ(x({0, 2}, i + 2).to_vector<int64_t>(), (Values{3, 7}));
  EXPECT_EQ(x(i, i).item<int>(), 5);
}

TEST(Tensor, FetchesEveryDtype) {
  EXPECT_EQ(gt::tensor({1.5, -2.25}).to_vector<double>(),
            (std::vector<double>{1.5, -2.25}));
  EXPECT_EQ(gt::tensor({int64_t{1} << 60, int64_t{-3}}).to_vector<int64_t>(),
            (std::vector<int64_t>{int64_t{1} << 60, -3}));
  EXPECT_EQ(gt::tensor<uint8_t>({0, 255}).to_vector<uint8_t>(),
            (std::vector<uint8_t>{0, 255}));
  EXPECT_EQ(gt::tensor({true, false}).to_vector<bool>(),
            (std::vector<bool>{true, false}));
  const gt::Tensor x = gt::tensor({1.0F, 0.333333F, 65504.0F});
  EXPECT_EQ(x.cast(gt::f16).to_vector<float>()[2], 65504.0F);
  EXPECT_NEAR(x.cast(gt::bf16).to_vector<float>()[1], 0.333333F, 0.002);
  EXPECT_TRUE(std::isinf((x / 0).to_vector()[0]));
  EXPECT_TRUE(std::isnan((x * 0 / 0).to_vector()[0]));
}

TEST(Tensor, AnIntegerIsOneThatItsTypeHolds) {
  const auto refused = [](const std::string& value,
                          const std::function<void()>& run) {
    const std::string what = thrown(run);
    EXPECT_TRUE(what.starts_with("tensor_test.cc:") ||
                what.find("/tensor_test.cc:") != std::string::npos)
        << what;
    EXPECT_NE(what.find(value), std::string::npos) << what;
  };
  refused("3000000000, a value of f64[], is no int32_t",
          [] { gt::tensor(3e9).item<int>(); });
  refused("1e+20, a value of f64[], is no int64_t",
          [] { gt::tensor(1e20).item<int64_t>(); });
  refused("nan, a value of f64[], is no int32_t",
          [] { gt::tensor(double{NAN}).item<int>(); });
  refused("inf, a value of f16[1], is no uint8_t",
          [] { gt::tensor({INFINITY}).cast(gt::f16).to_vector<uint8_t>(); });
  refused("4294967297, a value of i64[2], is no int32_t", [] {
    gt::tensor({int64_t{1}, (int64_t{1} << 32) + 1}).to_vector<int>();
  });
  refused("-1, a value of i64[], is no uint64_t",
          [] { gt::tensor(int64_t{-1}).item<uint64_t>(); });
  refused("-1, a value of i32[], is no uint8_t",
          [] { gt::tensor(-1).item<uint8_t>(); });
  // The ends of the types; fractions are cut off.
  EXPECT_EQ(gt::tensor({-2147483648.9, 2147483647.9, -0.5}).to_vector<int>(),
            (std::vector<int>{INT32_MIN, INT32_MAX, 0}));
  EXPECT_EQ(gt::tensor(-0x1p63).item<int64_t>(), INT64_MIN);
  EXPECT_EQ(gt::tensor(0x1p63).item<uint64_t>(), uint64_t{1} << 63);
  EXPECT_EQ(gt::tensor(255.9).item<uint8_t>(), 255);
  EXPECT_EQ(gt::tensor(1e20).item<bool>(), true);
  EXPECT_TRUE(std::isinf(gt::tensor(1e300).item()));
}

TEST(Tensor, ListsInBracesAreShapes) {
  EXPECT_EQ(gt::tensor(std::vector<float>{}, {0}).type().text(), "f32[0]");
  EXPECT_EQ(gt::tensor(std::vector<float>{}, {0, 3}).type().text(), "f32[0,3]");
  EXPECT_EQ(gt::tensor(std::vector<float>{7}, {}).type().text(), "f32[]");
  EXPECT_EQ(gt::tensor({1, 2}, {2, 1}).type().text(), "i32[2,1]");
}

TEST(Tensor, DtypesOfOptionsAreDtypes) {
  const gt::Tensor x = gt::ones({2, 2}).cast(gt::bf16);
  EXPECT_EQ(gt::matmul(x, x, {.tb = true, .out = gt::f32}).type().text(),
            "f32[2,2]");
  EXPECT_NE(written([] {
              const gt::Tensor a = gt::ones(gt::f16(2, 2));
              gt::matmul(a, a, {.out = gt::f32});
            }).find("matmul t0 t0 out=f32"),
            std::string::npos);
}

TEST(Tensor, WhatCannotBeShownWritesNothing) {
  const gt::Tensor bad = gt::floordiv(gt::tensor({1}), gt::tensor({0}));
  std::ostringstream out;
  const std::string what = thrown<gt::Failed>([&] { out << bad; });
  const std::string line = std::to_string(__LINE__ - 1);
  EXPECT_NE(what.find("tensor_test.cc:" + line + ": "), std::string::npos)
      << what;
  EXPECT_EQ(out.str(), "");
  out << gt::tensor({1, 2}) << '\n' << gt::Tensor();
  EXPECT_EQ(out.str(), "tensor i32[2] 1 2\ntensor (undefined)");
}

TEST(Tensor, LargeOnesTravelBesideTheText) {
  std::vector<float> values(5000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.1F * i;
  const std::string text = written([&] {
    const gt::Tensor x = gt::from_blob(values.data(), {50, 100});
    EXPECT_EQ((x * 1).to_vector(), values);
    EXPECT_EQ(x.cast(gt::bf16).cast(gt::f32).to_vector().size(), 5000U);
  });
  EXPECT_LT(text.size(), 2000U);
}

TEST(Tensor, AFileOfACallThatWasRefusedIsGone) {
  const std::vector<float> values(5000);
  const std::string text = written([&] {
    const gt::Tensor taken = gt::ones({1}).name("taken");
    for (int i = 0; i < 3; ++i) {
      EXPECT_NE(thrown([&] { gt::from_blob(values.data(), {5000}, "taken"); }),
                "");
    }
    const gt::Tensor made = gt::from_blob(values.data(), {5000});
  });
  EXPECT_NE(text.find("/0.npy\" f32[5000]"), std::string::npos) << text;
}

// The new text is shorter than the old file, longer, or as long; then it is
// copied to and from mapped memory.
TEST(Tensor, AFileIsWrittenOverOnceItsTensorIsThere) {
  const std::string text = written([] {
    int round = 0;
    for (const int size : {5000, 5000, 5000, 2000, 9000, 9000}) {
      ++round;
      std::vector<float> values(size);
      for (int i = 0; i < size; ++i) values[i] = static_cast<float>(i * round);
      EXPECT_EQ(gt::from_blob(values.data(), {size}).to_vector(), values);
    }
  });
  for (const char* size : {"5000", "2000", "9000"}) {
    EXPECT_NE(text.find(std::string("/0.npy\" f32[") + size + "]"),
              std::string::npos)
        << text;
  }
}

TEST(Tensor, ItsRegisterIsFreedWithItsLastHandle) {
  const std::string text = bare(written([] {
    gt::Tensor x = gt::ones({2});
    gt::Tensor copy = x;
    x = {};
    gt::Tensor y = copy + 1;
    copy = {};
    gt::sync();
  }));
  EXPECT_EQ(text,
            "t0 = ones f32[2]\n"
            "t1 = add t0 1\n"
            "free t0\n"
            "#sync gt\n");
}

TEST(Tensor, TheRoundsOfALoopAreTheSameBytes) {
  std::vector<std::string> rounds;
  const Folder folder;
  gt::Session session("");
  const gt::Use use(session);
  gt::Tensor w = gt::ones({4, 4}).name("w").requires_grad_();
  for (int round = 0; round < 5; ++round) {
    gt::log((folder / std::to_string(round)).c_str());
    const gt::Tensor h = gt::matmul(w, w).tanh();
    const gt::Tensor loss = (h * h + h).mean();
    w.zero_grad();
    loss.backward();
    gt::sgd_(w, w.grad(), 0.1);
  }
  session.close();
  EXPECT_EQ(read(folder / "2"), read(folder / "3"));
  EXPECT_EQ(read(folder / "3"), read(folder / "4"));
  EXPECT_NE(read(folder / "3"), "");
}

TEST(Tensor, HasTheNameThatItIsGiven) {
  EXPECT_EQ(bare(written([] {
              gt::Tensor x = gt::ones({2});
              x.name("fc1.w");
              EXPECT_EQ(x.name(), "fc1.w");
              x += 1;
              const gt::Tensor y = gt::zeros({2});
              EXPECT_EQ(y.name(), "t0");
            })),
            "t0 = ones f32[2]\n"
            "fc1.w = copy t0\n"
            "free t0\n"
            "fc1.w = add fc1.w 1\n"
            "t0 = zeros f32[2]\n");
}

TEST(Tensor, ANameIsTakenOnce) {
  gt::Tensor x = gt::ones({2}).name("once");
  gt::Tensor y = gt::ones({2});
  EXPECT_NE(thrown([&] { y.name("once"); }).find("there is a tensor 'once'"),
            std::string::npos);
  x = {};
  y.name("once");
  for (const char* bad : {"t5", "_x", "", "a b", "f32", "x@0", "nan"}) {
    EXPECT_NE(thrown([&] { y.name(bad); }), "") << bad;
  }
}

TEST(Tensor, AWrongCallThrowsWhereItStandsAndWritesNothing) {
  const std::string text = written([] {
    const gt::Tensor x = gt::ones({2, 3});
    const std::string what = thrown([&] { gt::matmul(x, x); });
    EXPECT_NE(what.find("tensor_test.cc:"), std::string::npos) << what;
    EXPECT_NE(what.find("matmul: "), std::string::npos) << what;
    EXPECT_NE(what.find("f32[2,3]"), std::string::npos) << what;
    EXPECT_NE(thrown([&] { x + gt::ones({5}); }).find("tensor_test.cc:"),
              std::string::npos);
    EXPECT_NE(thrown([&] { x(5, 0); }), "");
    EXPECT_NE(thrown([&] { x + gt::Tensor(); }).find("holds nothing"),
              std::string::npos);
    EXPECT_NE(thrown([] { gt::Tensor().shape(); }), "");
    EXPECT_NE(thrown([&] { x.item(); }).find("6 elements"), std::string::npos);
  });
  EXPECT_EQ(lines_of(text).size(), 2U) << text;  // two creations
}

TEST(Tensor, LinesSayWhereTheyComeFrom) {
  const int line = __LINE__ + 2;
  const std::string text =
      written([] { const gt::Tensor x = gt::ones({2}) + 1; });
  const std::string at = " #at=tensor_test.cc:" + std::to_string(line);
  EXPECT_EQ(text, "t0 = ones f32[2]" + at + "\nt1 = add t0 1" + at + "\n");
}

TEST(Tensor, AFailureIsThrownWithTheTextOfItsLine) {
  const gt::Tensor zero = gt::tensor({0, 0});
  const gt::Tensor bad = gt::floordiv(gt::tensor({1, 1}), zero);
  const std::string what = thrown<gt::Failed>([&] { (bad + 1).to_vector(); });
  EXPECT_NE(what.find("floordiv"), std::string::npos) << what;
  EXPECT_NE(what.find("tensor_test.cc:"), std::string::npos) << what;
  // The program goes on.
  EXPECT_EQ((zero + 1).to_vector<int>()[0], 1);
}

TEST(Tensor, InPlaceFormsBindTheNameAgain) {
  EXPECT_EQ(bare(written([] {
              gt::Tensor x = gt::ones({2});
              const gt::Tensor other = x;
              x += 2;
              x.relu_().mul_(3.0);
              EXPECT_EQ(other.to_vector(), (std::vector<float>{9, 9}));
              EXPECT_NE(thrown([&] { x.add_(gt::ones({3, 2})); }), "");
            })),
            "t0 = ones f32[2]\n"
            "t0 = add t0 2\n"
            "t0 = relu t0\n"
            "t0 = mul t0 3.0\n"
            "print t0\n"
            "t1 = ones f32[3,2]\n");
}

TEST(Tensor, ErrorsNameTheOperands) {
  const gt::Tensor w = gt::ones({2, 3}).name("fc.w");
  EXPECT_NE(thrown([&] { gt::matmul(w, w); }).find("fc.w f32[2,3]"),
            std::string::npos);
}

TEST(Tensor, ErrorsSayWhereAndWhatTheyGot) {
  const std::string nine = thrown([] {
    gt::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}, gt::At{"model.cc", 42});
  });
  EXPECT_TRUE(nine.starts_with("model.cc:42: ")) << nine;
  EXPECT_NE(nine.find("more than 8"), std::string::npos) << nine;
  EXPECT_EQ(gt::Type(gt::List{1, 1, 1, 1, 1, 1, 1, 1, 1}).text(),
            "f32[1,1,1,1,1,1,1,1,1]");
  EXPECT_NE(thrown([] {
              gt::ones({2, 3}).item();
            }).find("item: f32[2,3] has 6 elements, not one"),
            std::string::npos);
  EXPECT_NE(thrown([] {
              gt::tensor<float>({1, 2, 3}, gt::Shape{2});
            }).find("f32[2] has 2 elements, and got 3"),
            std::string::npos);
}

// A result for which a call has no room would be lost.
TEST(Tensor, ACallNeedsRoomForWhatItMakes) {
  const gt::Tensor x = gt::ones({2});
  gt_word word{};
  word.kind = GT_VALUE;
  word.value = x.raw();
  gt_instruction line{};
  line.op = "relu";
  line.operands = &word;
  line.operand_count = 1;
  line.result_count = 1;
  EXPECT_EQ(gt_call(gt::current_session(), &line, nullptr), -1);
  EXPECT_STREQ(gt_error(), "relu: no room for its results");
  gt_value* const into[] = {x.raw()};
  line.into = into;
  EXPECT_EQ(gt_call(gt::current_session(), &line, nullptr), 0) << gt_error();
}

// A call has room for eight operands at first; this one has more.
TEST(Tensor, ACallTakesManyOperands) {
  std::vector<gt::Tensor> parts;
  for (int i = 0; i < 40; ++i) parts.push_back(gt::tensor({i}));
  const std::vector<int> joined = gt::concat(parts).to_vector<int>();
  ASSERT_EQ(joined.size(), 40);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(joined[i], i);
}

TEST(Tensor, BytesOfNothingAreAnError) {
  EXPECT_NE(thrown([] { gt::from_blob(nullptr, {3}); }).find("null pointer"),
            std::string::npos);
  EXPECT_EQ(gt::from_blob(nullptr, {0}).elements(), 0);
}

TEST(Tensor, AnUnsignedNumberKeepsItsSign) {
  EXPECT_GT((gt::ones({}) * UINT64_MAX).item(), 1e19F);
}

TEST(Tensor, AnUnsignedNumberThatNoIntegerHoldsIsRefusedBesideThem) {
  const gt::Tensor x = gt::tensor({int64_t{1}});
  EXPECT_NE(thrown([&] {
              x + UINT64_MAX;
            }).find("number 18446744073709551615 does not fit into i64"),
            std::string::npos);
  EXPECT_EQ((x < UINT64_MAX).item<int>(), 1);
}

TEST(Tensor, BoolsAreZeroOrOne) {
  const std::vector<uint8_t> few = {0, 1, 2, 255};
  const gt::Tensor x = gt::from_blob(few.data(), gt::Type({4}, gt::boolean));
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{0, 1, 1, 1}));
  const std::vector<uint8_t> many(2000, 7);
  const gt::Tensor y =
      gt::from_blob(many.data(), gt::Type({2000}, gt::boolean));
  EXPECT_EQ(y.to_vector<int>(), std::vector<int>(2000, 1));
  EXPECT_EQ(y.cast(gt::i32).sum().item<int>(), 2000);
}

TEST(Tensor, HoldsOneResultOfACall) {
  gt::Tensor w = gt::ones({2}), v = gt::zeros({2});
  const gt::Tensor g = gt::ones({2});
  EXPECT_NE(thrown([&] {
              gt::sgd_(w, g, w, 0.1, {.momentum = 0.9});
            }).find("is to hold two of its results"),
            std::string::npos);
  gt::sgd_(w, g, v, 0.1, {.momentum = 0.9});
  EXPECT_EQ(v.to_vector(), (std::vector<float>{1, 1}));
}

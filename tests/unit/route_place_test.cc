// Where and when unplaced lines run: values without operands wait for a reader.
#include <algorithm>

#include "route_harness.h"

namespace gt::route {
namespace {

TEST(RoutePlace, AValueWithoutOperandsGoesWhereItIsRead) {
  RouteHarness route(2);
  route.feed(
      "a = zeros f32[256,256]\n"
      "a = matmul a a\n"
      "w = randn f32[256,256] 7\n"
      "v = load \"v.npy\" f32[256,256]\n");
  EXPECT_EQ(route.text(0), "a = zeros f32[256,256]\na = matmul a a\n");
  EXPECT_EQ(route.text(1), "");
  route.feed("a = matmul a v\nb = matmul w w\n");
  EXPECT_TRUE(route.text(0).ends_with(
      "v = load \"v.npy\" f32[256,256]\na = matmul a v\n"));
  EXPECT_EQ(route.text(1), "w = randn f32[256,256] 7\nb = matmul w w\n");
  EXPECT_EQ(route.sent(1)[1].line, 3);  // the place where it was written
  EXPECT_EQ(route.sent(1)[2].line, 6);
}

TEST(RoutePlace, AHeldLineIsIssuedBeforeItsNameOrFileChanges) {
  RouteHarness route(2);
  route.feed(
      "a = load \"./t/x.npy\" f32[4]\n"
      "b = ones f32[4]\n"
      "b = full f32[4] 2\n"
      "b = neg b\n"
      "save b \"t/x.npy\"\n"
      "c = ones f32[2]\n"
      "free c\n"
      "d = ones f32[8]\n");
  std::string order;
  for (const SentBody& line : route.issued()) {
    if (line.text[0] != '#') order += line.text.substr(0, 8) + ";";
  }
  EXPECT_EQ(
      order,
      "b = ones;b = full;free b;b = neg ;a = load;save b \";c = ones;free c;");
  route.dispatcher().flush();
  EXPECT_EQ(route.issued().back().text, "d = ones f32[8]");
}

TEST(RoutePlace, AHeldLoadIsIssuedBeforeAClientsOwnSync) {
  RouteHarness route(2);
  const auto loads = [&] {
    return std::ranges::count_if(route.issued(), [](const SentBody& line) {
      return line.text.starts_with("c1/a = load");
    });
  };
  route.feed(
      "#reports\nc1/a = load \"x.npy\" f32[4]\n#sync c1/7\n#sync c2/.a\n");
  EXPECT_EQ(loads(), 0);
  route.feed("#sync c1/.a\n");
  EXPECT_EQ(loads(), 1);
}

TEST(RoutePlace, HeldLinesAreBounded) {
  RouteHarness route(2);
  for (int i = 0; i < 10'000; ++i) {
    route.feed("x" + std::to_string(i) + " = zeros f32[4]\n");
  }
  EXPECT_GT(route.issued().size(), 5000U);
  EXPECT_EQ(route.issued()[0].text, "x0 = zeros f32[4]");
  const std::string literal = "v = tensor u8[30000]" + [] {
    std::string zeros;
    for (int i = 0; i < 30'000; ++i) zeros += " 0";
    return zeros;
  }();
  for (int i = 0; i < 30; ++i) {
    route.feed("v" + std::to_string(i) + literal.substr(1) + "\n");
  }
  EXPECT_GT(route.issued().size(), 10'000U);  // 1 MiB of text at most
}

TEST(RoutePlace, AConstantIsMadeTwiceRatherThanCopied) {
  RouteHarness route(2);
  route.feed(
      "a = zeros f32[512,512]\n"
      "b = ones f32[512,512]\n"
      "lr = tensor f32[] 0.1 #signal=rate\n"
      "a = matmul a a\n"
      "b = matmul b b\n"
      "a = mul a lr\n"
      "b = mul b lr\n"
      "free lr\n");
  const std::string lr = "lr = tensor f32[] 0.1 #signal=rate\n";
  EXPECT_TRUE(route.text(0).ends_with(lr + "a = mul a lr\nfree lr\n"));
  EXPECT_TRUE(route.text(1).ends_with(lr + "b = mul b lr\nfree lr\n"));
  EXPECT_EQ(route.sent(1)[3].line, 3);
  // A line of the input is one instruction of the log.
  size_t times = 0;
  for (const SentBody& line : route.issued()) times += line.text + "\n" == lr;
  EXPECT_EQ(times, 2U);
  EXPECT_EQ(route.instructions().find(lr), route.instructions().rfind(lr));
}

TEST(RoutePlace, ABranchThatJoinsSoonStays) {
  RouteHarness route(2);
  route.feed("w = randn f32[64,64] 1\nx = randn f32[64,64] 2\n");
  for (int i = 0; i < 200; ++i) {
    route.feed(
        "h = matmul x w\n"
        "_e0 = ones f32[64,64]\n"
        "_e1 = mul _e0 2\n"
        "free _e0\n"
        "g = sub h _e1\n"
        "s = sum x axis=0\n"
        "h = tanh h\n"
        "g = mul g h\n"
        "g = add g s\n"
        "w = sgd w g 0.1\n"
        "print s\n");
  }
  EXPECT_EQ(route.messages(), "");
  const size_t there = std::min(route.sent(0).size(), route.sent(1).size());
  EXPECT_LT(there, 20U);
}

TEST(RoutePlace, WorkThatWaitsMovesOnceItPaysForTheCopy) {
  RouteHarness route(2);
  route.feed("x = randn f32[64,64] 1\nx = exp x\n");
  for (int i = 0; i < 1000; ++i) {
    const std::string y = "y" + std::to_string(i);
    route.feed(y + " = tanh x\n" + y + " = sum " + y + "\n");
  }
  const std::string all = route.instructions();
  EXPECT_NE(all.find("x = copy x #from=0 #to=1 #pieces=f32[64,64]\n"),
            std::string::npos);
  EXPECT_EQ(all.find("copy"), all.rfind("copy"));
  EXPECT_GT(route.sent(1).size(), 800U);
  EXPECT_GT(route.sent(0).size(), 800U);
}

TEST(RoutePlace, AConstantIsMadeAgainForAPrintWhereItsOnlyHolderIsLost) {
  RouteHarness route(2);
  route.feed(
      "a = zeros f32[256,256]\na = matmul a a\n"
      "w = randn f32[256,256] 7\nb = matmul w w\n");
  ASSERT_EQ(route.text(1), "w = randn f32[256,256] 7\nb = matmul w w\n");
  route.dispatcher().lose(1);
  route.feed("print w\n");
  EXPECT_TRUE(route.text(0).ends_with("w = randn f32[256,256] 7\nprint w\n"));
  // The values that were computed there are lost.
  route.feed("print b\n");
  EXPECT_TRUE(route.text(1).ends_with("print b\n"));
}

}  // namespace
}  // namespace gt::route

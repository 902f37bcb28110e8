// What failed and nobody has seen: it is thrown once, or gives the process its
// status.
#include <gt/data.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "client/helper.h"

using namespace gt_test;

namespace {

void fail_unseen() { gt::floordiv(gt::tensor({1}), gt::tensor({0})).print(); }

// Prints a value and ends the process, where an environment variable makes that
// impossible. That the programs are gone may be seen as late as at the end, or
// at once; a program that does not catch it does not end with 0 either.
void print_with(const char* variable, const char* value) {
  ::setenv(variable, value, 1);
  try {
    gt::ones({2}).print();
  } catch (const gt::Lost& lost) {
    std::fputs(lost.what(), stderr);
    std::exit(1);
  }
  std::exit(0);
}

}  // namespace

TEST(Told, AFailureThatNobodySawIsThrownOnce) {
  gt::Session session("");
  {
    const gt::Use use(session);
    fail_unseen();
    const std::string told = thrown<gt::Failed>([] { gt::sync(); });
    EXPECT_NE(told.find("told_test.cc:"), std::string::npos) << told;
    EXPECT_NE(told.find("division by zero"), std::string::npos) << told;
    gt::sync();
  }
  EXPECT_EQ(session.close(), 1);
  gt::Session next("");
  {
    const gt::Use use(next);
    fail_unseen();
  }
  EXPECT_NE(thrown<gt::Failed>([&] { next.close(); }).find("division by zero"),
            std::string::npos);
}

// gt-emit heeds the saves once the second mark has come, so that a process that
// is killed leaves none of them.
TEST(Told, TheSavesOfAStateStandBetweenTwoMarks) {
  const Folder folder;
  const std::string path = folder / "m.safetensors";
  const std::string text = written([&] {
    const gt::Tensor w = gt::ones({2}), b = gt::zeros({1});
    gt::save({{"w", w}, {"b", b}}, path);
    EXPECT_THROW(gt::save({{"w", w}, {"c", gt::Tensor()}}, path), gt::Error);
  });
  const std::vector<std::string> lines = lines_of(bare(text));
  const auto begin = std::ranges::find(lines, "#saves begin");
  ASSERT_GT(lines.end() - begin, 3) << text;
  EXPECT_TRUE(begin[1].starts_with("save ") && begin[1].ends_with(":w\""));
  EXPECT_TRUE(begin[2].starts_with("save ") && begin[2].ends_with(":b\""));
  EXPECT_EQ(begin[3], "#saves end");
  EXPECT_EQ(text.find("#saves begin"), text.rfind("#saves begin"));
}

TEST(Told, ASaveThatFailsIsThrown) {
  const Folder folder;
  gt::Session session("");
  {
    const gt::Use use(session);
    const gt::Tensor w = gt::ones({2}), b = gt::ones({3});
    gt::save({{"w", w}, {"b", b}}, folder / "none/m.safetensors");
    EXPECT_NE(thrown<gt::Failed>([] { gt::sync(); }).find("No such file"),
              std::string::npos);
    gt::save(w, folder / "none/w.npy");
  }
  EXPECT_NE(thrown<gt::Failed>([&] { session.close(); }).find("No such file"),
            std::string::npos);
}

TEST(ToldDeathTest, AProcessWhoseResultsFailedEndsWithOne) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const ::testing::ExitedWithCode one(1);
  const char* const told = "no exception has shown this";
  EXPECT_EXIT(
      {
        fail_unseen();
        std::exit(0);
      },
      one, told);
  EXPECT_EXIT(
      {
        gt::save(gt::ones({2}), "/none/x.npy");
        std::exit(0);
      },
      one, told);
  EXPECT_EXIT(
      {
        gt::Session session("");
        const gt::Use use(session);
        fail_unseen();
        std::exit(0);
      },
      one, told);
  const auto ends_in_scope = [] {
    {
      gt::Session session("");
      const gt::Use use(session);
      fail_unseen();
    }
    std::exit(0);
  };
  EXPECT_EXIT(ends_in_scope(), one, told);
  EXPECT_EXIT(print_with("GT_WORKERS", "abc"), one,
              "gt-route ended with status 2");
  EXPECT_EXIT(print_with("GT_CONFIG", "/none.yaml"), one,
              "gt-[a-z]+ ended with status");
  // A status of the program's own stays.
  EXPECT_EXIT(
      {
        fail_unseen();
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), told);
}

TEST(ToldDeathTest, AProcessThatCaughtWhatFailedEndsWithZero) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto catches = [](const std::function<void()>& run) {
    fail_unseen();
    EXPECT_NE(thrown<gt::Failed>(run), "");
    std::exit(0);
  };
  const ::testing::ExitedWithCode zero(0);
  EXPECT_EXIT(catches([] { gt::sync(); }), zero, "");
  EXPECT_EXIT(catches([] { gt::close(); }), zero, "");
  EXPECT_EXIT(
      {
        const gt::Tensor x = gt::floordiv(gt::tensor({1}), gt::tensor({0}));
        EXPECT_NE(thrown<gt::Failed>([&] { x.to_vector<int64_t>(); }), "");
        std::exit(0);
      },
      zero, "");
}

// Sessions: where programs run, what ends them, scopes, threads, and forks.
#include <fcntl.h>
#include <gt/data.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>

#include "client/helper.h"

using namespace gt_test;

namespace {

// While it lives, an environment variable has another value.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    before_ = had_ ? before : "";
    ::setenv(name, value.c_str(), 1);
  }
  ~Setting() { had_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::string before_;
  bool had_;
};

}  // namespace

TEST(Session, ScopesAreNotes) {
  const std::string text = written([] {
    const gt::Signal outer("stage0");
    const gt::Tensor a = gt::ones({1});
    {
      const gt::Signal inner("up");
      const gt::Microbatch mb(3);
      const gt::Tensor b = a + 1;
    }
    const gt::Compile compile;
    const gt::Tensor c = a + 2;
  });
  std::vector<std::string> notes;
  for (const std::string& line : lines_of(text)) {
    notes.push_back(
        line.substr(line.find(" #"), line.find(" #at") - line.find(" #")));
  }
  EXPECT_EQ(notes, (std::vector<std::string>{" #signal=stage0",
                                             " #signal=stage0/up #mb=3",
                                             " #signal=stage0 #compile"}));
  for (const char* bad : {"a b", "a\x1b[2J", "a\"", "a\n"}) {
    EXPECT_NE(thrown([&] { const gt::Signal scope(bad); }), "") << bad;
  }
  EXPECT_NE(thrown([] {
              const gt::Microbatch scope(-1);
            }).find("expected the number of a microbatch, 0 or more, got '-1'"),
            std::string::npos);
  EXPECT_NE(thrown([] { const gt::Note scope("mb", "x"); }), "");
}

TEST(Session, WhatHasNoGradIsALeaf) {
  const std::string text = bare(written([] {
    const gt::Tensor w = gt::ones({2}).requires_grad_();
    gt::Tensor y;
    {
      const gt::NoGrad scope;
      y = w * 2;
    }
    const gt::Tensor loss = (y * w).sum();
    loss.backward();
    EXPECT_EQ(w.grad().to_vector(), (std::vector<float>{2, 2}));
  }));
  EXPECT_NE(text.find("t1 = mul t0 2\nt1 = detach t1\n"), std::string::npos)
      << text;
}

TEST(Session, ASessionWithoutLinesIsNoFailure) {
  gt::Session session("");
  EXPECT_EQ(session.close(), 0);
}

TEST(Session, ASeedBeginsTheNumbersAnew) {
  gt::manual_seed(7);
  const std::vector<float> first = gt::randn({3}).to_vector();
  EXPECT_NE(gt::randn({3}).to_vector(), first);
  gt::manual_seed(7);
  EXPECT_EQ(gt::randn({3}).to_vector(), first);
}

TEST(Session, PrintsComeInOrderOnStandardOutput) {
  ::testing::internal::CaptureStdout();
  gt::Session session("");
  {
    const gt::Use use(session);
    for (int i = 0; i < 3; ++i) gt::full({}, i).print("x" + std::to_string(i));
  }
  session.close();
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "x0 = tensor f32[] 0\nx1 = tensor f32[] 1\nx2 = tensor f32[] 2\n");
}

TEST(Session, TheStatusIsThatOfThePipeline) {
  gt::Session session("");
  {
    const gt::Use use(session);
    const gt::Tensor x = gt::floordiv(gt::tensor({1}), gt::tensor({0}));
    x.print();
    EXPECT_NE(thrown<gt::Failed>([&] { x.to_vector<int64_t>(); }), "");
  }
  EXPECT_EQ(session.close(), 1);
}

TEST(Session, AClosedOneThrows) {
  gt::Session session("");
  gt::Tensor x;
  {
    const gt::Use use(session);
    x = gt::ones({1});
  }
  session.close();
  EXPECT_NE(thrown<gt::Lost>([&] { x + 1; }).find("closed"), std::string::npos);
  EXPECT_NE(thrown<gt::Lost>([&] { const gt::Use use(session); }), "");
  EXPECT_NE(thrown<gt::Lost>([&] { session.close(); }), "");
}

TEST(Session, AThreadThatWaitsWhileItIsClosedComesBack) {
  for (int i = 0; i < 10; ++i) {
    gt::Session session("");
    std::atomic<int> rounds = 0;
    std::vector<std::string> what(3);
    std::vector<std::thread> threads;
    for (std::string& text : what) {
      threads.emplace_back([&] {
        text = thrown<gt::Lost>([&] {
          const gt::Use use(session);
          for (;; ++rounds) (gt::ones({}) + 1).item();
        });
      });
    }
    EXPECT_TRUE(await([&] { return rounds > 20; }));
    session.close();
    for (std::thread& thread : threads) thread.join();
    for (const std::string& text : what) {
      EXPECT_NE(text.find("the session is closed"), std::string::npos) << text;
    }
  }
}

TEST(Session, TensorsOfTwoDoNotMix) {
  gt::Session session("");
  const gt::Tensor a = gt::ones({1});
  gt::Tensor b;
  {
    const gt::Use use(session);
    b = gt::ones({1});
  }
  EXPECT_NE(thrown([&] { a + b; }).find("another session"), std::string::npos);
}

// If a program of the pipeline dies, an exception is thrown and nothing hangs.
TEST(Session, TheDeathOfAProgramIsAnException) {
  const Setting workers("GT_WORKERS", "1");
  for (const char* program : {"gt-emit", "gt-route", "gt-work"}) {
    const std::vector<pid_t> others = below(program);
    gt::Session session("");
    const gt::Use use(session);
    const gt::Tensor x = gt::ones({1});
    x.item();
    std::vector<pid_t> own = below(program);
    std::erase_if(own, [&](pid_t pid) {
      return std::count(others.begin(), others.end(), pid) > 0;
    });
    ASSERT_FALSE(own.empty()) << program;
    for (const pid_t pid : own) ::kill(pid, SIGKILL);
    const std::string what = thrown([&] { x.item(); });
    EXPECT_NE(what, "") << program;
    EXPECT_NE(thrown<gt::Lost>([&] {
                for (;;) x + 1;  // the loss shows when buffers are full
              }),
              "")
        << program;
  }
}

TEST(Session, AProgramThatCannotBeStartedIsAnException) {
  const Setting nowhere("GT_BIN", "/nonexistent");
  EXPECT_NE(thrown<gt::Lost>([] {
              gt::Session session("");
            }).find("/nonexistent/gt-emit"),
            std::string::npos);
}

// The exception names the program at fault, not the one that could not write to
// it.
TEST(Session, AProgramThatEndsIsNamed) {
  const Setting workers("GT_WORKERS", "none");
  gt::Session session("");
  const gt::Use use(session);
  EXPECT_NE(thrown<gt::Lost>([] {
              for (;;) gt::ones({1}).item();
            }).find("gt-route ended with status 2"),
            std::string::npos);
}

TEST(Session, MarksOfTheStreamAreItsOwn) {
  EXPECT_NE(thrown([] { gt::line("#end 0"); }), "");
  EXPECT_NE(thrown([] { gt::line("#gt 1"); }), "");
  EXPECT_EQ(thrown([] { gt::line("# a comment"); }), "");
}

TEST(Session, AForkedChildMayNotUseItsParents) {
  gt::Tensor x = gt::ones({1});
  x.item();
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string what = thrown<gt::Lost>([&] { x + 1; });
    bool is_right = what.find("forked") != std::string::npos;
    // The child may open a session of its own.
    gt::Session own("");
    const gt::Use use(own);
    is_right = is_right && gt::full({}, 7).item() == 7;
    ::_exit(is_right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ((x + 1).item(), 2);
}

TEST(Session, ThreadsHaveAGraphEach) {
  std::vector<std::thread> threads;
  std::vector<float> got(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &got] {
      const gt::Signal scope("thread" + std::to_string(t));
      const gt::Tensor w = gt::full({}, t + 1).requires_grad_();
      gt::Tensor sum = gt::zeros({});
      for (int i = 0; i < 200; ++i) {
        sum = sum + w * w;
        if (i % 50 == 0) sum.item();
      }
      sum.backward();
      got[t] = w.grad().item();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, (std::vector<float>{400, 800, 1200, 1600}));
}

TEST(Session, ExceptionsLeaveNoNameBehind) {
  const std::string text = bare(written([] {
    for (int i = 0; i < 3; ++i) {
      thrown([] {
        const gt::Tensor a = gt::ones({2});
        const gt::Tensor b = a + 1;
        gt::matmul(b, gt::ones({3}));
      });
    }
  }));
  const std::string round =
      "t0 = ones f32[2]\nt1 = add t0 1\nt2 = ones f32[3]\n";
  EXPECT_EQ(text, round + "free t1 t2\n" + round + "free t1 t2\n" + round);
}

TEST(Session, ResultsComeBackThroughAFifo) {
  const Folder folder;
  ASSERT_EQ(::mkfifo((folder / "back").c_str(), 0600), 0);
  // The session writes to standard output, as in "./model | gt-work > back".
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::close(ends[1]);
    ::dup2(::open((folder / "err").c_str(), O_WRONLY | O_CREAT, 0600), 2);
    ::setenv("GT_BACK", (folder / "back").c_str(), 1);
    gt::Session session("-");
    const gt::Use use(session);
    gt::ones({2}).print("shown");
    const bool is_right = (gt::ones({2}) + 4).to_vector()[1] == 5;
    session.close();
    ::_exit(is_right ? 0 : 1);
  }
  ::close(ends[1]);
  const pid_t worker = ::fork();
  if (worker == 0) {
    ::dup2(ends[0], 0);
    ::close(ends[0]);
    ::dup2(::open((folder / "back").c_str(), O_WRONLY), 1);
    const std::string program = std::string(std::getenv("GT_BIN")) + "/gt-work";
    ::execl(program.c_str(), program.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(::waitpid(worker, &status, 0), worker);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read(folder / "err"), "shown = tensor f32[2] 1 1\n");
}

static bool is_child = false;

// The leak check of the address sanitizer calls this
// (sanitizer/lsan_interface.h). In a child, the parent's threads look to it
// like threads that do not stop, and what they hold looks like leaks.
extern "C" int __lsan_is_turned_off() { return is_child ? 1 : 0; }

// Runs it in a child, and returns the child's exit status: 0 if `run` returns
// true.
int in_child(const std::function<bool()>& run) {
  const pid_t child = ::fork();
  if (child == 0) {
    is_child = true;
    ::_exit(run() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Session, AForkFindsNoThreadWithinACall) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a child has the locks of the sanitizer's runtime as other "
                  "threads held them";
#endif
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_over) (gt::ones({}) + 1).item();
    });
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([i] {
                ::alarm(60);  // so that it does not wait for ever
                gt::Session session("");
                const gt::Use use(session);
                return gt::full({}, i).item() == i;
              }),
              0);
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(Session, ADescriptorOfItsOwnIsNeverStandardOutput) {
  EXPECT_EQ(in_child([] {
              ::close(0);
              ::close(1);
              gt::Session session("");
              const gt::Use use(session);
              struct stat about {};
              return gt::ones({}).item() == 1 && ::fstat(1, &about) == 0 &&
                     S_ISCHR(about.st_mode);
            }),
            0);
}

TEST(Session, OutputThatCannotBePrintedIsReported) {
  EXPECT_EQ(in_child([] {
              ::dup2(::open("/dev/full", O_WRONLY), 1);
              gt::Session session("");
              const gt::Use use(session);
              gt::ones({}).print();
              const std::string what =
                  thrown<gt::FileError>([] { gt::sync(); });
              return what.find("No space left") != std::string::npos &&
                     session.close() == 2;
            }),
            0);
}

TEST(Session, ALogThatIsEmptiedGoesOnAtItsBeginning) {
  const Folder folder;
  const std::string path = folder / "log";
  gt::Session session("");
  const gt::Use use(session);
  gt::log(path.c_str());
  EXPECT_EQ((gt::ones({}) + 1).item(), 2);
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  EXPECT_EQ((gt::ones({}) + 2).item(), 3);
  gt::log("");
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text, "");
  EXPECT_EQ(text.find('\0'), std::string::npos);
}

TEST(Session, ALogThatCannotBeWrittenIsReported) {
  const auto is_told = [](const std::function<void()>& run) {
    return thrown<gt::FileError>(run).find(
               "cannot write /dev/full: No space left on device") !=
           std::string::npos;
  };
  {
    gt::Session session("");
    const gt::Use use(session);
    gt::log("/dev/full");
    const gt::Tensor x = gt::ones({});
    EXPECT_TRUE(is_told([] { gt::sync(); }));
    EXPECT_EQ((x + 1).item(), 2);  // the program goes on
    EXPECT_TRUE(is_told([] { gt::log(""); }));
    gt::log("/dev/full");
    EXPECT_EQ((x + 1).item(), 2);
    EXPECT_TRUE(is_told([&] { session.close(); }));
    EXPECT_NE(thrown<gt::Lost>([&] { session.close(); }), "");
  }
  // At the end of a program only standard error can tell of it, and the status.
  const Folder folder;
  EXPECT_EQ(in_child([&] {
              ::dup2(::open((folder / "err").c_str(), O_WRONLY | O_CREAT, 0600),
                     2);
              gt::connect("");
              gt::log("/dev/full");
              gt::ones({});
              std::exit(0);
              return false;
            }),
            W_EXITCODE(1, 0));
  EXPECT_EQ(read(folder / "err"),
            "libgt: cannot write /dev/full: No space left on device: no "
            "exception has shown this, so the process ends with status 1\n");
}

TEST(Session, WhatComesAfterTheFirstTensorIsRefused) {
  const auto is_refused = [](const std::string& caller,
                             const std::function<void()>& call) {
    return thrown(call).find(caller +
                             ": expected no open session; call it before the "
                             "first tensor, or after close()") !=
           std::string::npos;
  };
  EXPECT_EQ(in_child([&] {
              ::unsetenv("GT_CONNECT");
              ::unsetenv("GT_WORKERS");
              gt::ones({}).item();
              const auto connect = [] { gt::connect(""); };
              const auto workers = [] { gt::cpu_workers(2); };
              bool all = is_refused("connect", connect) &&
                         is_refused("cpu_workers", workers) &&
                         is_refused("gpu_workers", [] { gt::gpu_workers(2); });
              all = all && std::getenv("GT_WORKERS") == nullptr;
              gt::close();
              gt::connect("");
              all = all && is_refused("connect", connect) &&
                    is_refused("cpu_workers", workers);
              gt::close();
              gt::cpu_workers(2);
              return all && std::getenv("GT_WORKERS") == std::string("2");
            }),
            0);
  EXPECT_NE(thrown([] { gt::cpu_workers(0); }).find("1 or more; found 0"),
            std::string::npos);
}

TEST(Session, AStageThatCannotBeginSaysTheStatus) {
  const auto status_with = [](const char* name, const std::string& value) {
    const Setting setting(name, value);
    gt::Session session("");
    ::usleep(300'000);  // a program that cannot begin has ended
    {
      const gt::Use use(session);
      (void)thrown([] { gt::ones({}).item(); });
    }
    return session.close();
  };
  EXPECT_EQ(status_with("GT_CONFIG", "/nonexistent"), 2);
  EXPECT_EQ(status_with("GT_WORKERS", "0"), 2);
}

TEST(Session, ATypeThatIsNullIsAnError) {
  gt::Session session("");
  const float one = 1;
  EXPECT_EQ(gt_write(session.raw(), nullptr, &one, nullptr, {}), nullptr);
  EXPECT_STREQ(gt_error(), "expected the type of the data, got NULL");
  EXPECT_STREQ(gt_type_text(nullptr), "");
  EXPECT_EQ(gt_bytes_of(nullptr), 0U);
}

TEST(Session, AWayBackIsAFifoOrAFile) {
  EXPECT_EQ(in_child([] {
              ::dup2(::open("/dev/null", O_WRONLY), 1);
              ::setenv("GT_BACK", "/dev/null", 1);
              gt::Session session("-");
              const gt::Use use(session);
              return thrown<gt::FileError>([] {
                       gt::ones({}).item();
                     }).find("neither a FIFO nor a file") != std::string::npos;
            }),
            0);
}

TEST(Session, WithoutAWayBackAFetchSaysSo) {
  const int out = ::dup(1);
  const int null = ::open("/dev/null", O_WRONLY);
  ::dup2(null, 1);
  {
    gt::Session session("-");
    const gt::Use use(session);
    EXPECT_NE(thrown([] { gt::ones({1}).item(); }).find("GT_BACK"),
              std::string::npos);
  }
  ::dup2(out, 1);
  ::close(out);
  ::close(null);
}

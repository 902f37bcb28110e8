// Optimizers: their values, their text, and runs that are continued.
#include <fcntl.h>
#include <gt/nn.h>
#include <gt/optim.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <sstream>

#include "client/helper.h"

using namespace gt_test;
namespace nn = gt::nn;
namespace optim = gt::optim;

namespace {

struct Weight : nn::Module {
  explicit Weight(const std::string& name) : Module(name) {}
  gt::Tensor w = parameter("w", gt::f64(3), nn::init::ones());
  // The loss of step i; its gradient is 2 (i + 1) w target.
  gt::Tensor loss(int i) const {
    const gt::Tensor target = gt::tensor({0.5, -1.0, 2.0});
    return (w * w * target * (i + 1)).sum();
  }
};

// The weight after so many steps, each of which `next` makes from the gradient.
template <typename Next>
std::vector<double> by_hand(int steps, Next next) {
  const double target[] = {0.5, -1, 2};
  std::vector<double> w = {1, 1, 1};
  for (size_t j = 0; j < 3; ++j) {
    auto state = next;
    for (int i = 0; i < steps; ++i) {
      w[j] = state(w[j], 2 * w[j] * target[j] * (i + 1));
    }
  }
  return w;
}

void train(const Weight& weight, optim::Optimizer& optimizer, int steps) {
  for (int i = 0; i < steps; ++i) {
    weight.loss(i).backward();
    optimizer.step();
    optimizer.zero_grad();
  }
}

void expect_near(const std::vector<double>& got,
                 const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-12 * std::abs(expected[i]) + 1e-12);
  }
}

// The lines of each round, which begins with a line that contains `first`.
std::vector<std::string> rounds(const std::string& text,
                                const std::string& first) {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(text)) {
    if (line.find(first) != std::string::npos) out.emplace_back();
    if (!out.empty()) out.back() += line + "\n";
  }
  return out;
}

}  // namespace

TEST(SGD, HasTheFormulasOfPyTorch) {
  struct {
    const char* name;
    optim::SGDOptions options;
  } const cases[] = {
      {"plain", {}},
      {"decay", {.decay = 0.1}},
      {"momentum", {.momentum = 0.9}},
      {"all", {.momentum = 0.9, .nesterov = true, .decay = 0.1}}};
  for (const auto& [name, options] : cases) {
    SCOPED_TRACE(name);
    const Weight weight(name);
    optim::SGD sgd(weight.parameters(), 0.01, options);
    train(weight, sgd, 4);
    const double m = options.momentum;
    const bool is_nesterov = options.nesterov;
    expect_near(weight.w.to_vector<double>(),
                by_hand(4, [=, v = 0.0, decay = options.decay](
                               double w, double g) mutable {
                  g += decay * w;
                  v = m * v + g;
                  return w - 0.01 * (is_nesterov ? g + m * v : v);
                }));
  }
}

TEST(AdamW, HasTheFormulasOfPyTorch) {
  const Weight weight("adam");
  optim::AdamW adamw(weight.parameters(), 0.02,
                     {.beta1 = 0.8, .beta2 = 0.95, .eps = 1e-6, .decay = 0.1});
  train(weight, adamw, 5);
  expect_near(weight.w.to_vector<double>(),
              by_hand(5, [t = 0, m = 0.0, v = 0.0](double w, double g) mutable {
                ++t;
                m = 0.8 * m + 0.2 * g;
                v = 0.95 * v + 0.05 * g * g;
                w -= 0.02 * 0.1 * w;
                return w - 0.02 * (m / (1 - std::pow(0.8, t))) /
                               (std::sqrt(v / (1 - std::pow(0.95, t))) + 1e-6);
              }));
}

TEST(Optimizer, NamesWhatItKeepsAfterTheParameter) {
  const Weight weight("kept");
  const optim::AdamW adamw(weight.parameters(), 0.1, {}, "first");
  std::string names;
  for (const auto& [name, tensor] : adamw.state_dict()) names += name + " ";
  EXPECT_EQ(names, "t.kept.w m.kept.w v.kept.w ");
  const Weight other("planned");
  const optim::AdamW planned(other.parameters(), optim::cosine(0.1, 9), {},
                             "b");
  EXPECT_EQ(planned.state_dict()[0].first, "b.t");
}

// As in PyTorch.
TEST(Optimizer, RefusesWhatWouldTrainNothing) {
  const Weight weight("refused");
  EXPECT_NE(thrown([] { optim::SGD({}, 0.1); }).find("no parameters"),
            std::string::npos);
  EXPECT_NE(thrown([] { optim::AdamW({}, 0.1); }), "");
  EXPECT_NE(thrown([&] {
              optim::SGD(weight.parameters(), 0.1, {.nesterov = true});
            }).find("momentum above 0"),
            std::string::npos);
  EXPECT_NE(thrown([&] {
              optim::AdamW(weight.parameters(), 0.1, {.beta1 = 1});
            }).find("below 1"),
            std::string::npos);
}

// A layer that is unfrozen later is corrected by its own count of steps, and
// goes on by it in a run that is taken up again.
TEST(AdamW, CountsTheStepsOfEachParameter) {
  const Folder folder;
  const auto step = [](optim::AdamW& adamw, const Weight& weight) {
    weight.loss(0).backward();
    adamw.step();
    adamw.zero_grad();
  };
  const Weight alone("count.alone");
  optim::AdamW of_one(alone.parameters(), 0.1);
  step(of_one, alone);
  const std::vector<double> once = alone.w.to_vector<double>();
  step(of_one, alone);
  const Weight early("count.early"), late("count.late");
  optim::AdamW both({early.w, late.w}, 0.1);
  for (int i = 0; i < 3; ++i) step(both, early);
  step(both, late);
  EXPECT_EQ(late.w.to_vector<double>(), once);
  gt::save(gt::joined({both.state_dict(), {{"w", late.w}}}),
           folder / "s.safetensors");
  gt::sync();  // the other session's worker reads what this one's wrote
  {
    gt::Session session("");
    const gt::Use use(session);
    const Weight first("count.early"), again("count.late");
    optim::AdamW taken({first.w, again.w}, 0.1);
    gt::load(gt::joined({taken.state_dict(), {{"w", again.w}}}),
             folder / "s.safetensors");
    step(taken, again);
    EXPECT_EQ(again.w.to_vector<double>(), alone.w.to_vector<double>());
  }
}

TEST(Optimizer, ClipsByTheCommonNorm) {
  const Weight a("clip.a"), b("clip.b");
  optim::SGD sgd({a.w, b.w}, 0.1);
  (a.loss(0) + b.loss(0) * 2).backward();
  const double norm = std::sqrt(5 * (1 + 4 + 16));
  sgd.clip_grad_norm(100);
  EXPECT_NEAR(a.w.grad().to_vector<double>()[0], 1, 1e-6);
  sgd.clip_grad_norm(1);
  EXPECT_NEAR(a.w.grad().to_vector<double>()[0], 1 / norm, 1e-6);
  EXPECT_NEAR(b.w.grad().to_vector<double>()[2], 8 / norm, 1e-6);
  // A gt::Tensor() has no gradient, and is left out.
  optim::clip_grad_norm({a.w, gt::Tensor()}, 0.5 / norm);
  EXPECT_NEAR(a.w.grad().to_vector<double>()[0], 0.5 / norm / std::sqrt(21),
              1e-6);
}

TEST(Optimizer, TakesAnotherRate) {
  const Weight weight("rated");
  optim::SGD sgd(weight.parameters(), 0.1);
  sgd.set_rate(0.25);
  weight.loss(0).backward();
  sgd.step();
  EXPECT_EQ(weight.w.to_vector<double>()[0], 1 - 0.25 * 1);
}

TEST(Optimizer, LeavesAloneWhatHasNoGradient) {
  const Weight a("alone.a"), b("alone.b");
  optim::AdamW adamw({a.w, b.w}, 0.1);
  a.loss(0).backward();
  adamw.step();
  EXPECT_EQ(b.w.to_vector<double>(), (std::vector<double>{1, 1, 1}));
  EXPECT_NE(a.w.to_vector<double>()[0], 1);
}

TEST(Schedule, HasTheRatesOfPyTorch) {
  const auto rates = [](const optim::Schedule& schedule) {
    std::vector<double> out;
    for (int64_t t = 1; t <= 6; ++t) {
      out.push_back(schedule.of(gt::tensor(t)).item<double>());
    }
    return out;
  };
  const auto expect = [&](const optim::Schedule& schedule,
                          const std::vector<double>& expected) {
    const auto got = rates(schedule);
    for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(got[i], expected[i], 1e-6) << i;
  };
  expect(optim::constant(0.1), {0.1, 0.1, 0.1, 0.1, 0.1, 0.1});
  expect(optim::step(0.1, 2, 0.5), {0.1, 0.1, 0.05, 0.05, 0.025, 0.025});
  const double r = std::sqrt(0.5);
  expect(optim::cosine(2, 4), {2, 1 + r, 1, 1 - r, 0, 1 - r});
  expect(optim::linear(1, 4, 0.2), {1, 0.8, 0.6, 0.4, 0.2, 0.2});
  expect(optim::constant(1).warmup(4), {0.25, 0.5, 0.75, 1, 1, 1});
  expect(optim::cosine(2, 4).warmup(2), {1, 2, 1 + r, 1, 1 - r, 0});
}

TEST(Training, RoundsAreTheSameTextByteForByte) {
  const auto expect_equal = [](const auto& made) {
    const std::string text = written([&] {
      nn::Sequential net("net");
      net.add<nn::Linear>(4, 8).add(nn::GELU()).add<nn::Linear>(8, 2);
      const auto optimizer = made(net.parameters());
      for (int i = 0; i < 6; ++i) {
        const gt::Tensor x = gt::randn({5, 4});
        gt::mse(net(x), gt::zeros({5, 2})).backward();
        const gt::Tensor loss = net(x).sum() / 9;
        loss.backward();
        optimizer->clip_grad_norm(1);
        optimizer->step();
        optimizer->zero_grad();
      }
    });
    const auto found = rounds(text, "randn f32[5,4]");
    ASSERT_EQ(found.size(), 6U);
    EXPECT_EQ(found[2], found[3]);
    EXPECT_EQ(found[3], found[4]);
    EXPECT_GT(found[2].size(), 1000U);
  };
  expect_equal([](const std::vector<gt::Tensor>& parameters) {
    return std::make_unique<optim::AdamW>(parameters,
                                          optim::cosine(1e-2, 10).warmup(3));
  });
  expect_equal([](const std::vector<gt::Tensor>& parameters) {
    return std::make_unique<optim::SGD>(
        parameters, optim::step(1e-2, 3),
        optim::SGDOptions{.momentum = 0.9, .nesterov = true, .decay = 0.1});
  });
}

namespace {

// The memory of this process and of the programs below it, in bytes.
size_t memory_here() {
  std::vector<pid_t> processes = {::getpid()};
  for (const char* program : {"gt-emit", "gt-route", "gt-work"}) {
    const auto found = below(program);
    processes.insert(processes.end(), found.begin(), found.end());
  }
  size_t pages = 0;
  for (const pid_t process : processes) {
    std::istringstream words(
        read("/proc/" + std::to_string(process) + "/statm"));
    size_t all = 0, resident = 0;
    words >> all >> resident;
    pages += resident;
  }
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST(Training, TenThousandRoundsTakeNoMoreMemoryThanAThousand) {
  if (std::getenv("GT_SANITIZED") != nullptr) {
    GTEST_SKIP() << "a sanitizer keeps what is freed";
  }
  nn::Sequential net("flat");
  net.add<nn::Linear>(4, 8).add(nn::ReLU()).add<nn::Linear>(8, 2);
  optim::AdamW adamw(net.parameters(), optim::cosine(1e-2, 10000), {}, "flat");
  const gt::Tensor x = gt::randn({5, 4});
  const auto train = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      gt::mse(net(x), gt::zeros({5, 2})).backward();
      adamw.clip_grad_norm(1);
      adamw.step();
      adamw.zero_grad();
    }
    gt::sync();
  };
  train(1000);
  const size_t early = memory_here();
  train(9000);
  // A heap grows by whole huge pages. A kilobyte that each round keeps would be
  // 9 MB.
  EXPECT_LT(memory_here(), early + (size_t{6} << 20));
}

TEST(Training, AccumulatedGradientsAreThoseOfTheWholeBatch) {
  nn::Sequential net("accumulated");
  net.add<nn::Linear>(4, 8).add(nn::Tanh()).add<nn::Linear>(8, 2);
  const gt::Tensor x = gt::randn({12, 4}, 1), y = gt::randn({12, 2}, 2);
  gt::mse(net(x), y).backward();
  std::vector<std::vector<float>> whole;
  for (const gt::Tensor& w : net.parameters()) {
    whole.push_back(w.grad().to_vector());
  }
  net.zero_grad();
  for (int i = 0; i < 3; ++i) {
    const gt::Microbatch microbatch(i);
    const gt::Range rows(4 * i, 4 * i + 4);
    (gt::mse(net(x(rows)), y(rows)) / 3).backward();
  }
  for (size_t i = 0; i < whole.size(); ++i) {
    const auto sum = net.parameters()[i].grad().to_vector();
    for (size_t j = 0; j < sum.size(); ++j) {
      EXPECT_NEAR(sum[j], whole[i][j], 1e-6);
    }
  }
}

namespace {

// A model with dropout that is trained on rows of a file.
struct Trainer {
  explicit Trainer(const std::string& file)
      : rows({file}, 4), adamw(net.parameters(), optim::cosine(1e-2, 20)) {}
  gt::StateDict state() const {
    return gt::joined(
        {model.state_dict(), adamw.state_dict(), rows.state_dict()});
  }
  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      const gt::Tensor x = rows.next()[0];
      drop(net(x)).sum().backward();
      adamw.step();
      adamw.zero_grad();
    }
  }
  nn::Module model{"model"};
  nn::Linear net{&model, "net", 3, 5};
  nn::Dropout drop{&model, "drop", 0.3, 1};
  gt::Batches rows;
  optim::AdamW adamw;
};

}  // namespace

TEST(Training, ARunThatIsTakenUpAgainGoesOnBitForBit) {
  const Folder folder;
  const std::string file = folder / "x.npy";
  gt::save(gt::randn({22, 3}, 9), file);
  gt::sync();
  std::vector<float> whole, again;
  {
    Trainer run(file);
    run.train(7);
    gt::save(run.state(), folder / "run.safetensors");
    run.train(6);
    whole = run.net.w.to_vector();
  }
  {
    Trainer run(file);
    gt::load(run.state(), folder / "run.safetensors");
    run.train(6);
    again = run.net.w.to_vector();
  }
  EXPECT_EQ(whole, again);
}

TEST(Batches, GoRoundTheRowsOfAFile) {
  const Folder folder;
  const std::string path = folder / "x.npy";
  gt::save(gt::arange(gt::i64(11)), path);
  gt::sync();
  std::vector<int64_t> firsts;
  const std::string text = written([&] {
    gt::Batches all({path}, 4);
    EXPECT_EQ(all.steps(), 2);
    gt::Batches some({path, path}, 2, {.first = 5, .rows = 4, .name = "some"});
    for (int i = 0; i < 5; ++i) {
      firsts.push_back(all.next()[0].to_vector<int64_t>()[0]);
      firsts.push_back(some.next()[1].to_vector<int64_t>()[0]);
    }
  });
  EXPECT_EQ(firsts, (std::vector<int64_t>{0, 5, 4, 7, 0, 5, 4, 7, 0, 5}));
  EXPECT_NE(text.find("i64[4] batch.row #signal=batch"), std::string::npos);
  const auto found = rounds(text, "i64[4] batch.row");
  EXPECT_EQ(found[2], found[3]);
  EXPECT_NE(thrown([&] { gt::Batches({path}, 12); }), "");
  EXPECT_NE(thrown([&] { gt::Batches({path}, 2, {.first = 9, .rows = 4}); }),
            "");
  EXPECT_NE(thrown<gt::FileError>([&] { gt::Batches({folder / "no"}, 2); }),
            "");
}

TEST(Batches, BeginAtARowThatIsThere) {
  const Folder folder;
  gt::save(gt::arange(gt::i64(11)), folder / "x.npy");
  gt::save(gt::ones({}), folder / "s.npy");
  gt::sync();
  EXPECT_NE(thrown([&] {
              gt::Batches({folder / "s.npy"}, 1);
            }).find("s.npy holds a scalar, which has no rows"),
            std::string::npos);
  for (const int64_t first : {-5, 11, 20}) {
    EXPECT_NE(thrown([&] {
                gt::Batches({folder / "x.npy"}, 1, {.first = first});
              }).find("x.npy has 11 rows, and no row " + std::to_string(first)),
              std::string::npos);
  }
  EXPECT_EQ(gt::Batches({folder / "x.npy"}, 1, {.first = 10}).steps(), 1);
}

// While it lives, the process is in another folder.
class Elsewhere {
 public:
  explicit Elsewhere(const std::string& folder)
      : back_(::open(".", O_RDONLY | O_DIRECTORY)) {
    EXPECT_EQ(::chdir(folder.c_str()), 0);
  }
  ~Elsewhere() {
    EXPECT_EQ(::fchdir(back_), 0);
    ::close(back_);
  }

 private:
  int back_;
};

// The programs that load and save stay in the folder in which they began.
TEST(Files, ArePathsFromTheFolderOfTheCall) {
  const Folder folder, other;
  const Elsewhere begin(folder / "");
  gt::Session session("");
  const gt::Use use(session);
  gt::save(gt::ones({2}), "w.npy");
  gt::sync();
  {
    const Elsewhere in(other / "");
    gt::save(gt::full({3}, 5), "w.npy");
    gt::save({{"a", gt::full({4}, 6)}}, "w.safetensors");
    gt::sync();
    EXPECT_EQ(gt::load("w.npy").to_vector(), std::vector<float>(3, 5));
    EXPECT_EQ(gt::load("w.safetensors:a").to_vector(),
              std::vector<float>(4, 6));
    EXPECT_EQ(gt::stored_type("w.npy").text(), "f32[3]");
    EXPECT_EQ(gt::load_rows("w.npy", 1, 2).to_vector(),
              std::vector<float>(2, 5));
  }
  EXPECT_EQ(gt::load("w.npy").to_vector(), std::vector<float>(2, 1));
  EXPECT_EQ(gt::load(other / "w.npy").to_vector(), std::vector<float>(3, 5));
}

// The type is that of the save before, not that of a file that it will replace.
TEST(Files, HaveTheTypeThatWasSavedLast) {
  const Folder folder;
  gt::save(gt::ones({2}), folder / "w.npy");
  gt::sync();
  gt::save(gt::full({3}, 5), folder / "w.npy");
  EXPECT_EQ(gt::load(folder / "w.npy").to_vector(), std::vector<float>(3, 5));
  gt::save(gt::full({4}, 6), folder / "new.npy");
  EXPECT_EQ(gt::load(folder / "new.npy").to_vector(), std::vector<float>(4, 6));
}

TEST(Files, HaveTypesAndRows) {
  const Folder folder;
  const gt::Tensor x = gt::randn({6, 2}, 1);
  gt::save(x, folder / "x.npy");
  gt::save(x, folder / "x.safetensors:a.b");
  gt::sync();
  EXPECT_EQ(gt::stored_type(folder / "x.npy").text(), "f32[6,2]");
  EXPECT_EQ(gt::load(folder / "x.safetensors:a.b").to_vector(), x.to_vector());
  EXPECT_EQ(gt::load_rows(folder / "x.npy", 2, 3).to_vector(),
            x(gt::Range(2, 5)).to_vector());
  EXPECT_NE(thrown([&] { gt::load(folder / "none.npy"); }), "");
}

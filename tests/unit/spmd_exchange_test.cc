// What the members of a group compute by themselves is what the group's program
// computes, bit for bit, wherever values are.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "exchange_cases.h"
#include "exec_harness.h"
#include "spmd/exchange_bytes.h"
#include "spmd/exchange_plan.h"
#include "stream/line.h"

namespace gt {
namespace {

// A program that prints numbers so that all their bits can be told.
class Printed {
 public:
  std::string text;  // instructions
  void add(const std::string& line) { text += line + "\n"; }
  std::vector<std::string> run() const {
    const exec::Outcome outcome = exec::run_text(text);
    EXPECT_EQ(outcome.messages, "") << text;
    std::vector<std::string> lines;
    for (size_t at = 0; at < outcome.out.size();) {
      const size_t end = outcome.out.find('\n', at);
      lines.push_back(outcome.out.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }
};

std::string random_value(const Type& type, std::mt19937& random) {
  std::string text = "tensor " + to_string(type);
  std::uniform_real_distribution<double> real(-2, 2);
  for (int64_t i = 0; i < type.elements(); ++i) {
    if (type.dtype == Dtype::kBool) {
      text += random() % 2 == 0 ? " 0" : " 1";
    } else if (is_float(type.dtype)) {
      text += " " + std::to_string(real(random));
    } else {
      text += " " + std::to_string(random() % 7);
    }
  }
  return text;
}

// The steps of a program as lines over a0, a1, ... that give r0, r1, ...
std::vector<std::string> lines_of(const GroupProgram& program) {
  const auto name_of = [](const Ref& ref) {
    const char* letter = ref.kind == Ref::Kind::kOperand  ? "a"
                         : ref.kind == Ref::Kind::kResult ? "r"
                                                          : "t";
    return letter + std::to_string(ref.index);
  };
  std::vector<std::string> lines;
  for (const Step& step : program.steps) {
    std::string line = name_of(step.results[0]) + " = " + step.op->name;
    for (const StepOperand& o : step.operands) {
      line += " " + (o.is_ref ? name_of(o.ref) : o.text);
    }
    for (const auto& [key, value] : step.keys) line += " " + key + "=" + value;
    lines.push_back(line);
  }
  return lines;
}

// The line of a program with other names: a0 and so on become those of the
// list, the result becomes `result`, and the others get a prefix.
std::string rename(const std::string& line,
                   const std::vector<std::string>& arguments,
                   const std::string& result, const std::string& prefix) {
  std::string out;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const std::string word = line.substr(at, end - at);
    const bool is_name =
        word.size() > 1 &&
        word.find_first_not_of("0123456789", 1) == std::string::npos;
    out += out.empty() ? "" : " ";
    if (is_name && word[0] == 'a') {
      out += arguments.at(std::stoul(word.substr(1)));
    } else if (is_name && word[0] == 't') {
      out += prefix + word;
    } else {
      out += word == "r0" ? result : word;
    }
    at = end + 1;
  }
  return out;
}

std::string slice_of(const std::string& value, const Region& region) {
  std::string out = "slice " + value;
  for (size_t d = 0; d < region.start.size(); ++d) {
    out += " " + std::to_string(region.start[d]) + ":" +
           std::to_string(region.start[d] + region.count[d]);
  }
  return region.start.size() == 0 ? "copy " + value : out;
}

struct Placed {
  Line line;
  LineRanks where;
  Meshes meshes;
  Line mesh_line;
};

class Exchange {
 public:
  explicit Exchange(const Case& c) : case_(c) {
    if (!c.mesh.empty()) {
      EXPECT_TRUE(parse_line(case_.mesh, placed_.mesh_line).ok());
      EXPECT_TRUE(placed_.meshes.take(placed_.mesh_line).ok());
    }
    EXPECT_TRUE(parse_line(case_.line, placed_.line).ok()) << case_.line;
    auto where = line_ranks(placed_.line);
    EXPECT_TRUE(where.ok()) << case_.line;
    placed_.where = where.value();
  }

  Grid grid() const {
    auto g = grid_of(placed_.line, placed_.meshes.of(placed_.line),
                     placed_.where.ranks);
    EXPECT_TRUE(g.ok()) << case_.line;
    return g.value();
  }
  PieceType types() const {
    return [this](size_t, int64_t rank) {
      return &case_.pieces[static_cast<size_t>(rank)];
    };
  }
  Result<std::vector<ExchangePlan>> plans(const ExchangeOptions& options) {
    return exchange_plans(placed_.line, placed_.where, grid(), types(),
                          options);
  }
  std::vector<Crossing> groups() const {
    auto found = crossings(placed_.line, placed_.where, grid(), types(), {});
    GT_CHECK(found.ok());
    return found.value();
  }
  std::vector<Type> types_by_rank() {
    const auto made = infer_placed(placed_.line, placed_.where,
                                   placed_.meshes.of(placed_.line), types());
    EXPECT_TRUE(made.ok()) << case_.line << ": " << made.error().message;
    return made.ok() ? made.value()[0] : std::vector<Type>{};
  }
  const LineRanks& where() const { return placed_.where; }
  const Line& line() const { return placed_.line; }

 private:
  const Case& case_;
  Placed placed_;
};

// Writes what the targets of a plan do as lines of one program over values x0,
// x1, ... Returns the names of the last step's outputs.
std::vector<std::string> write_plan(const ExchangePlan& plan, Printed& out) {
  std::vector<std::string> values;
  for (const int64_t rank : plan.sources()) {
    values.push_back("x" + std::to_string(rank));
  }
  for (size_t s = 0; s < plan.steps(); ++s) {
    std::vector<std::string> outputs;
    for (size_t t = 0; t < plan.step(s).target_homes.size(); ++t) {
      const std::string prefix = "g" + std::to_string(plan.group()) + "_" +
                                 std::to_string(s) + "_" + std::to_string(t) +
                                 "_";
      const ExchangeTask task = plan.task(s, t);
      std::vector<std::string> arguments;
      for (const ExchangeRead& read : task.reads) {
        std::string from = values.at(read.source);
        if (plan.step(s).is_flat) {
          out.add(prefix + "flat = reshape " + from + " shape=-1");
          from = prefix + "flat";
        }
        arguments.push_back(prefix + "a" + std::to_string(arguments.size()));
        out.add(arguments.back() + " = " + slice_of(from, read.region));
        const Shape& shape = task.arguments[arguments.size() - 1].shape;
        if (shape.size() == read.region.count.size()) continue;
        out.add(arguments.back() + " = reshape " + arguments.back() +
                " shape=\"" + to_string(shape) + "\"");
      }
      outputs.push_back(prefix + "r");
      for (const std::string& line : lines_of(task.program)) {
        out.add(rename(line, arguments, outputs.back(), prefix));
      }
    }
    values = outputs;
  }
  return values;
}

// reads() and readers() must be inverse, and types must be those that programs
// give.
void check_plan(const ExchangePlan& plan) {
  for (size_t s = 0; s < plan.steps(); ++s) {
    const ExchangeStep& step = plan.step(s);
    std::vector<std::vector<uint32_t>> readers(step.exports.size());
    for (size_t t = 0; t < step.target_homes.size(); ++t) {
      const ExchangeTask task = plan.task(s, t);
      ASSERT_EQ(task.reads.size(), task.arguments.size());
      for (const ExchangeRead& read : task.reads) {
        readers[read.source].push_back(static_cast<uint32_t>(t));
        const Shape& whole = step.exports[read.source].shape;
        ASSERT_EQ(read.region.count.size(), whole.size());
        for (size_t d = 0; d < whole.size(); ++d) {
          EXPECT_GE(read.region.start[d], 0);
          EXPECT_GT(read.region.count[d], 0);
          EXPECT_LE(read.region.start[d] + read.region.count[d], whole[d]);
        }
      }
      const auto types = program_types(task.program, task.arguments);
      ASSERT_TRUE(types.ok()) << types.error().message;
      ASSERT_EQ(types.value().size(), 1U);
      EXPECT_EQ(types.value()[0], task.output)
          << to_string(types.value()[0]) << " " << to_string(task.output);
      EXPECT_EQ(task.output, plan.output(s, t));
      if (s + 1 < plan.steps()) {
        const Type& next = plan.step(s + 1).exports[t];
        EXPECT_EQ(next.elements(), task.output.elements());
        EXPECT_EQ(next.dtype, task.output.dtype);
      }
    }
    for (size_t i = 0; i < readers.size(); ++i) {
      EXPECT_EQ(plan.readers(s, i), readers[i]) << "source " << i;
    }
  }
}

void check(const Case& c, const ExchangeOptions& options,
           std::mt19937& random) {
  SCOPED_TRACE(c.mesh + " / " + c.line);
  Exchange exchange(c);
  Printed group;
  Printed alone;
  for (size_t r = 0; r < c.pieces.size(); ++r) {
    const std::string value = random_value(c.pieces[r], random);
    group.add("x@" + std::to_string(r) + " = " + value);
    alone.add("x" + std::to_string(r) + " = " + value);
  }
  if (!c.mesh.empty()) group.add(c.mesh);
  group.add(c.line);
  const auto& targets = exchange.where().ranks;

  const auto plans = exchange.plans(options);
  ASSERT_TRUE(plans.ok()) << plans.error().message;
  const std::vector<Type> types = exchange.types_by_rank();
  std::vector<std::string> of_rank(targets.size());
  for (size_t g = 0; g < plans.value().size(); ++g) {
    const ExchangePlan& plan = plans.value()[g];
    EXPECT_EQ(plan.group(), g);
    check_plan(plan);
    const auto values = write_plan(plan, alone);
    const size_t last = plan.steps() - 1;
    for (size_t t = 0; t < values.size(); ++t) {
      for (const int64_t rank : plan.results(t)) {
        const auto p = static_cast<size_t>(
            std::find(targets.begin(), targets.end(), rank) - targets.begin());
        ASSERT_LT(p, targets.size());
        EXPECT_EQ(of_rank[p], "");
        of_rank[p] = values[t];
        EXPECT_EQ(plan.output(last, t), types[p]);
        if (options.home) {
          EXPECT_EQ(plan.step(last).target_homes[t], options.home(rank));
        }
      }
    }
  }
  for (size_t p = 0; p < targets.size(); ++p) {
    ASSERT_NE(of_rank[p], "") << "rank " << targets[p];
    const std::string rank = std::to_string(targets[p]);
    alone.add("print " + of_rank[p] + " as=y" + rank);
    group.add("print y@" + rank + " as=y" + rank);
  }
  EXPECT_EQ(alone.run(), group.run());
}

TEST(SpmdExchange, MembersAloneGiveTheGroupsBits) {
  Generator generate(testing::UnitTest::GetInstance()->random_seed());
  for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) {
    const Case c = generate.any();
    ExchangeOptions options;
    options.home = generate.homes();
    if (generate.below(2) == 0) options.direct_bytes = 0;
    check(c, options, generate.random());
  }
}

// Pieces of one home are combined, and chunks are summed and gathered: three
// steps.
TEST(SpmdExchange, AllStepsGiveTheGroupsBits) {
  Generator generate(1);
  Case c;
  c.line = "y@0-6 = all_reduce x@0-6 op=mean acc=f32";
  c.pieces.assign(7, {Dtype::kBf16, {3, 5}});
  ExchangeOptions options;
  options.home = [](int64_t rank) { return static_cast<uint32_t>(rank / 2); };
  options.direct_bytes = 0;
  const auto plans = Exchange(c).plans(options);
  ASSERT_TRUE(plans.ok());
  EXPECT_EQ(plans.value()[0].steps(), 3U);
  check(c, options, generate.random());
}

// The plan of the line's only group.
ExchangePlan only_plan(const Case& c, const ExchangeOptions& options = {}) {
  auto plans = Exchange(c).plans(options);
  GT_CHECK(plans.ok() && plans.value().size() == 1);
  return std::move(plans.value()[0]);
}

TEST(SpmdExchange, AnExchangeCostsWhatIsAskedFor) {
  constexpr size_t kRanks = 1024;
  Case c;
  c.line = "y@0-1023 = all_to_all x@0-1023 src=S0 dst=S1";
  c.pieces.assign(kRanks, {Dtype::kF32, {2, 2048}});
  ExchangeOptions options;
  options.home = [](int64_t rank) { return static_cast<uint32_t>(rank / 4); };
  options.here = 5;
  const ExchangePlan plan = only_plan(c, options);
  ASSERT_EQ(plan.steps(), 1U);
  size_t lines = 0;
  for (size_t t = 20; t < 24; ++t) {
    ASSERT_EQ(plan.step(0).target_homes[t], 5U);
    const ExchangeTask task = plan.task(0, t);
    lines += task.program.steps.size();
    ASSERT_EQ(task.reads.size(), kRanks);
    EXPECT_EQ(task.reads[7].region.count, (Shape{2, 2}));
  }
  EXPECT_LE(lines, 4 * (kRanks + 1));
}

TEST(SpmdExchange, GroupsWithoutARankHereAreLeftOut) {
  Case c;
  c.mesh = "mesh dp=3 tp=2";
  c.line = "y@0-5 = all_reduce x@0-5 over=tp";
  c.pieces.assign(6, {Dtype::kF32, {1}});
  ExchangeOptions options;
  options.home = [](int64_t rank) { return static_cast<uint32_t>(rank % 3); };
  options.here = 1;  // these are in the first and last group
  const auto plans = Exchange(c).plans(options);
  ASSERT_TRUE(plans.ok());
  ASSERT_EQ(plans.value().size(), 2U);
  EXPECT_EQ(plans.value()[0].group(), 0U);
  EXPECT_EQ(plans.value()[1].group(), 2U);
  EXPECT_EQ(plans.value()[1].sources(), (std::vector<int64_t>{4, 5}));
}

TEST(SpmdExchange, AHomeCombinesItsSubtreeFirst) {
  Case c;
  c.line = "y@0-4 = all_reduce x@0-4";
  c.pieces.assign(5, {Dtype::kBf16, {3}});
  c.line += " acc=f32";
  ExchangeOptions options;  // the tree is ((0 1) 2) (3 4)
  options.home = [](int64_t rank) { return rank < 2 ? 0U : 1U; };
  const ExchangePlan plan = only_plan(c, options);
  ASSERT_EQ(plan.steps(), 2U);
  EXPECT_EQ(plan.step(0).target_homes, (std::vector<uint32_t>{0, 1, 1}));
  EXPECT_EQ(lines_of(plan.task(0, 1).program),
            (std::vector<std::string>{"r0 = copy a0"}));
  EXPECT_EQ(to_string(plan.step(1).exports[0]), "f32[3]");
  EXPECT_EQ(to_string(plan.step(1).exports[1]), "bf16[3]");
  EXPECT_EQ(plan.results(1), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(lines_of(plan.task(1, 0).program),
            (std::vector<std::string>{"t0 = cast a1 f32", "t1 = add a0 t0",
                                      "t2 = add t1 a2", "r0 = copy t2"}));
}

TEST(SpmdExchange, ALargeSumGoesByChunks) {
  Case c;
  c.line = "y@0-2 = all_reduce x@0-2 op=mean";
  c.pieces.assign(3, {Dtype::kF32, {2, 8000}});
  const ExchangePlan plan = only_plan(c);
  ASSERT_EQ(plan.steps(), 2U);
  EXPECT_TRUE(plan.step(0).is_flat);
  EXPECT_EQ(to_string(plan.step(0).exports[0]), "f32[16000]");
  EXPECT_EQ(to_string(plan.step(1).exports[0]), "f32[5334]");
  EXPECT_EQ(to_string(plan.step(1).exports[2]), "f32[5333]");
  EXPECT_EQ(plan.reads(0, 2)[1].region, (Region{Shape{10667}, Shape{5333}}));
  c.pieces.assign(3, {Dtype::kF32, {2, 50}});
  EXPECT_EQ(only_plan(c).steps(), 1U);
}

// What many ranks would all read of each other is much, however small it is.
TEST(SpmdExchange, WhetherASumGoesByChunksDependsOnTheRanks) {
  const Type piece{Dtype::kF32, {64}};
  const size_t direct = ExchangeOptions().direct_bytes;
  EXPECT_FALSE(sums_by_chunks(piece, 2, 0));
  EXPECT_FALSE(sums_by_chunks(piece, 128, direct));
  EXPECT_TRUE(sums_by_chunks(piece, 132, direct));
  EXPECT_FALSE(sums_by_chunks({Dtype::kF32, {}}, size_t{1} << 20, 0));
}

// ---- bytes and seconds without a plan ---------------------------------------

// What the workers of a plan receive and send in each step, by their ranks.
using BytesByRank = std::map<int64_t, ExchangeBytes>;
BytesByRank bytes_of(const ExchangePlan& plan) {
  BytesByRank out;
  for (size_t s = 0; s < plan.steps(); ++s) {
    const ExchangeStep& step = plan.step(s);
    for (size_t t = 0; t < step.target_homes.size(); ++t) {
      for (const ExchangeRead& read : plan.reads(s, t)) {
        const uint32_t from = step.source_homes[read.source];
        const uint32_t to = step.target_homes[t];
        if (from == to) continue;
        const Type read_type{step.exports[read.source].dtype,
                             read.region.count};
        out[to][s].in += read_type.bytes();
        out[from][s].out += read_type.bytes();
      }
    }
  }
  return out;
}

// Compares bytes with those that the plans read, and seconds with those that
// the null backend sleeps: in each step until the last rank has its bytes.
void check_bytes(const Case& c) {
  SCOPED_TRACE(c.mesh + " / " + c.line + " of " + to_string(c.pieces[0]));
  Exchange exchange(c);
  const auto plans = exchange.plans({});
  ASSERT_TRUE(plans.ok()) << plans.error().message;
  const std::vector<Crossing> groups = exchange.groups();
  ASSERT_EQ(groups.size(), plans.value().size());
  const Machine machine{.bandwidth = 1e3, .latency = 0.25};
  for (size_t g = 0; g < groups.size(); ++g) {
    BytesByRank read = bytes_of(plans.value()[g]);
    const std::vector<ExchangeBytes> found = exchange_bytes(groups[g]);
    ASSERT_EQ(found.size(), groups[g].targets.size());
    double seconds = 0;
    for (size_t s = 0; s < 2; ++s) {
      uint64_t most = 0;
      for (size_t t = 0; t < found.size(); ++t) {
        const StepBytes& wanted = read[groups[g].targets[t]][s];
        EXPECT_EQ(found[t][s].in, wanted.in) << "step " << s << " of " << t;
        if (groups[g].sources == groups[g].targets) {
          EXPECT_EQ(found[t][s].out, wanted.out) << "step " << s << " of " << t;
        }
        most = std::max(most, wanted.in);
      }
      if (most > 0) seconds += 0.25 + static_cast<double>(most) / 1e3;
    }
    EXPECT_NEAR(exchange_seconds(groups[g], machine), seconds, 1e-9);
  }
}

TEST(SpmdExchange, BytesAndSecondsAreThoseOfThePlans) {
  Generator generate(testing::UnitTest::GetInstance()->random_seed());
  for (int i = 0; i < 2000 && !testing::Test::HasFailure(); ++i) {
    check_bytes(generate.any());
  }
  // Sums by chunks, of elements that the members do not divide.
  Case c;
  for (const int64_t ranks : {2, 3, 8, 200}) {
    c.ranks = static_cast<size_t>(ranks);
    for (const char* keys : {"", " op=mean acc=f32 out=f16", " op=max"}) {
      const std::string set = "@0-" + std::to_string(ranks - 1);
      c.line = "y" + set + " = all_reduce x" + set + keys;
      for (const int64_t size : {1, 701, 20011}) {
        c.pieces.assign(c.ranks, {Dtype::kBf16, {size}});
        check_bytes(c);
      }
    }
  }
}

TEST(SpmdExchange, SecondsAreThoseOfTheLinkThatIsCrossed) {
  Machine machine{.bandwidth = 1e3, .latency = 1};
  machine.levels = {{"node", 2, {1e6, 0}}};
  const auto seconds = [&](const std::string& line) {
    Case c;
    c.mesh = "mesh dp=2 tp=2";
    c.line = line;
    c.pieces.assign(4, {Dtype::kU8, {1000}});
    double most = 0;
    for (const Crossing& group : Exchange(c).groups()) {
      most = std::max(most, exchange_seconds(group, machine));
    }
    return most;
  };
  EXPECT_DOUBLE_EQ(seconds("y@0-3 = all_reduce x@0-3 over=tp op=max"), 1e-3);
  EXPECT_DOUBLE_EQ(seconds("y@0-3 = all_reduce x@0-3 over=dp op=max"), 2);
  EXPECT_DOUBLE_EQ(seconds("y@1,3 = copy x@0,2"), 1e-3);
  EXPECT_DOUBLE_EQ(seconds("y@2,3 = copy x@0,2"), 2);
  EXPECT_DOUBLE_EQ(seconds("y@0,2 = copy x@0,2"), 0);
}

TEST(SpmdExchange, ErrorsAreTheGroupsOwn) {
  Case c;
  c.line = "y@0-2 = reduce_scatter x@0-2 dst=S0";
  c.pieces.assign(3, {Dtype::kF32, {4}});
  const auto plans = Exchange(c).plans({});
  ASSERT_FALSE(plans.ok());
  EXPECT_EQ(plans.error().message,
            "reduce_scatter: size 4 of dimension 0 is no multiple of 3 ranks; "
            "say how to cut it with split= and shape=, or with split_sizes=");
}

// ---- what print and save put together ---------------------------------------

TEST(SpmdExchange, AWholeIsPutTogetherOnTheFirstRank) {
  Case c;
  c.mesh = "mesh dp=2 tp=2";
  c.line = "print y@0-3 split=tp:0";
  c.pieces = {{Dtype::kF32, {2}}, {Dtype::kF32, {1}}};
  c.pieces.insert(c.pieces.end(), {c.pieces[0], c.pieces[1]});
  const Exchange exchange(c);
  ExchangeOptions options;
  options.home = [](int64_t rank) { return rank == 1 ? 1U : 0U; };
  auto whole = assembly(exchange.line(), exchange.grid(), exchange.types(),
                        [&](int64_t rank) { return options.home(rank) == 0; });
  ASSERT_TRUE(whole.ok());
  const ExchangePlan plan(std::move(whole.value()), options);
  EXPECT_EQ(plan.sources(), (std::vector<int64_t>{0, 3}));  // 1 is elsewhere
  EXPECT_EQ(plan.step(0).target_homes, (std::vector<uint32_t>{0}));
  EXPECT_TRUE(plan.results(0).empty());
  EXPECT_EQ(to_string(plan.output(0, 0)), "f32[3]");
  EXPECT_EQ(
      lines_of(plan.task(0, 0).program),
      (std::vector<std::string>{"t0 = concat a0 a1 axis=0", "r0 = copy t0"}));
  check_plan(plan);
}

TEST(SpmdExchange, AnEmptyWholeReadsNothing) {
  Case c;
  c.mesh = "mesh tp=2";
  c.line = "print y@0-1 split=tp:0";
  c.pieces.assign(2, {Dtype::kI64, {0, 3}});
  const Exchange exchange(c);
  auto whole = assembly(exchange.line(), exchange.grid(), exchange.types());
  ASSERT_TRUE(whole.ok());
  const ExchangePlan plan(std::move(whole.value()), {});
  EXPECT_TRUE(plan.reads(0, 0).empty());
  EXPECT_EQ(lines_of(plan.task(0, 0).program),
            (std::vector<std::string>{"r0 = zeros i64[0,3]"}));
}

}  // namespace
}  // namespace gt

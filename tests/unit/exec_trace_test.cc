// The trace in which a worker records what ran.
#include "exec/trace/trace.h"

#include <fstream>

#include "exec_harness.h"
#include "stream/rows.h"

namespace gt::exec {
namespace {

struct Traced {
  Outcome outcome;
  std::vector<std::string> lines;  // without the header
  std::vector<TraceRow> rows;      // views into lines
};

Traced trace_of(const std::string& text, bool caches = true) {
  Traced out;
  const std::string path =
      testing::TempDir() + "gt-trace-test." + std::to_string(::getpid());
  auto trace = Trace::open(path);
  EXPECT_TRUE(trace.ok());
  WorkerOptions options;
  options.trace = trace.value().get();
  options.caches = caches;
  out.outcome = run_text(text, options);
  EXPECT_EQ(trace.value()->finish(), 0);
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, kTraceHeader);
  while (std::getline(in, line)) out.lines.push_back(line);
  for (const std::string& l : out.lines) {
    TraceRow row;
    EXPECT_TRUE(parse_row(l, row)) << l;
    out.rows.push_back(row);
  }
  ::unlink(path.c_str());
  return out;
}

// "at op bytes flops signal text" for each row.
std::vector<std::string> told(const Traced& traced) {
  std::vector<std::string> out;
  for (const TraceRow& row : traced.rows) {
    EXPECT_EQ(row.queue, "compute");
    std::string text(row.at);
    text += " " + std::string(row.op) + " " + std::to_string(row.bytes) + " " +
            std::to_string(static_cast<int64_t>(row.flops)) + " " +
            std::string(row.signal) + " | " + std::string(row.text);
    out.push_back(text);
  }
  return out;
}

TEST(Trace, ARowForEachInstructionThatRan) {
  const Traced traced = trace_of(
      "#gt 1\n"
      "x = ones f32[2,3]\n"
      "y = matmul x x tb=1 #signal=a/b #at=model.gt:7\n"
      "z = reshape y shape=4\n"
      "print z # remark\n"
      "free x\n"
      "#end 0\n");
  const std::vector<std::string> expected = {
      "t:2 ones 24 0 - | x = ones f32[2,3]",
      "model.gt:7 matmul 64 24 a/b | y = matmul x x tb=1",
      "t:4 reshape 0 0 - | z = reshape y shape=4",
      "t:5 print 16 0 - | print z",
  };
  EXPECT_EQ(told(traced), expected);
  EXPECT_EQ(traced.outcome.out, "z = tensor f32[4] 3 3 3 3\n");
}

TEST(Trace, RowsOfAQueueDoNotOverlap) {
  std::string text = "x = ones f32[64,64]\n";
  for (int i = 0; i < 20'000; ++i) text += "x = mul x 1\n";
  const Traced traced = trace_of(text);
  ASSERT_EQ(traced.rows.size(), 20'001U);  // more than a buffer holds
  uint64_t end = 0;
  for (const TraceRow& row : traced.rows) {
    ASSERT_GE(row.start, end);
    ASSERT_GE(row.end, row.start);
    end = row.end;
  }
}

TEST(Trace, TheSignalIsThatOfTheOccurrence) {
  for (const bool caches : {true, false}) {
    std::string text = "x = ones f32[]\n";
    for (int i = 0; i < 4; ++i) {
      text +=
          "x = add x 1 #signal=a\n"
          "x = add x 1 #signal=b\n"
          "x = add x 1\n";
    }
    const Traced traced = trace_of(text, caches);
    ASSERT_EQ(traced.rows.size(), 13U);
    for (size_t i = 1; i < traced.rows.size(); ++i) {
      const char* const expected[] = {"a", "b", "-"};
      EXPECT_EQ(traced.rows[i].signal, expected[(i - 1) % 3]) << i;
      EXPECT_EQ(traced.rows[i].at, "t:" + std::to_string(i + 1));
    }
  }
}

TEST(Trace, ALineThatMovesKeepsItsPlace) {
  std::string text = "x = ones f32[]\n";
  for (int i = 1; i <= 5; ++i) {
    text += "x = add x 1 #at=m.gt:" + std::to_string(i) + "\n";
  }
  const Traced traced = trace_of(text);
  ASSERT_EQ(traced.rows.size(), 6U);
  for (size_t i = 1; i <= 5; ++i) {
    EXPECT_EQ(traced.rows[i].at, "m.gt:" + std::to_string(i));
  }
}

TEST(Trace, ALongLiteralIsCut) {
  std::string text = "x = tensor f32[4000]";
  for (int i = 0; i < 4000; ++i) text += " 1";
  const Traced traced = trace_of(text + "\nprint x\n");
  ASSERT_EQ(traced.rows.size(), 2U);
  const std::string_view shown = traced.rows[0].text;
  EXPECT_LT(shown.size(), 4200U);
  EXPECT_TRUE(shown.ends_with(" 1 # ...")) << shown;
}

TEST(Trace, AFailedLineRanToo) {
  const Traced traced = trace_of(
      "n = tensor i64[] 0\n"
      "x = mod n n\n"
      "print x\n"
      "y = nonsense x\n");
  ASSERT_EQ(traced.rows.size(), 3U);
  EXPECT_EQ(traced.rows[1].op, "mod");
  EXPECT_EQ(traced.rows[2].op, "print");
}

TEST(Trace, AFileThatCannotBeWrittenIsToldAtTheEnd) {
  auto trace = Trace::open("/dev/full");
  ASSERT_TRUE(trace.ok());
  WorkerOptions options;
  options.trace = trace.value().get();
  const Outcome outcome = run_text("x = ones f32[]\nprint x\n", options);
  EXPECT_EQ(outcome.out, "x = tensor f32[] 1\n");
  EXPECT_EQ(trace.value()->finish(), ENOSPC);
  EXPECT_FALSE(Trace::open("/nowhere/t").ok());
}

TEST(Rows, AreParsedByTheirColumns) {
  TraceRow row;
  EXPECT_TRUE(parse_row("1\t2\tq\t0-3\ta:1\top\t8\t1.5e20\ts\tx = y\tz", row));
  EXPECT_EQ(row.text, "x = y\tz");
  EXPECT_EQ(row.flops, 1.5e20);
  for (const char* bad :
       {"", "1\t2", "x\t2\tq\t-\ta\top\t8\t0\t-\tt", kTraceHeader.data(),
        "2\t1\tq\t-\ta\top\t8\t0\t-\tt", "1\t2\tq\t-\ta\top\t-8\t0\t-\tt",
        "1\t2\tq\t-\ta\top\t8\tnan\t-\tt",
        "1\t2\tq\t-\ta\top\t8\t1e308\t-\tt"}) {
    EXPECT_FALSE(parse_row(bad, row)) << bad;
  }
  LogRow log;
  EXPECT_TRUE(parse_row("1.5\t7\tissue\t-\tc1\t12\tx = y", log));
  EXPECT_EQ(log.client, "c1");
  EXPECT_EQ(log.text, "x = y");
  EXPECT_FALSE(parse_row("1.5\t7\tissue", log));
}

TEST(Rows, DigitsAreThoseOfTheNumber) {
  for (const uint64_t n :
       {uint64_t{0}, uint64_t{9}, uint64_t{10}, uint64_t{99}, uint64_t{100},
        uint64_t{12345}, uint64_t{UINT64_MAX}}) {
    char digits[kMaxDigits];
    EXPECT_EQ(std::string(digits, put_digits(digits, n)), std::to_string(n));
  }
}

}  // namespace
}  // namespace gt::exec

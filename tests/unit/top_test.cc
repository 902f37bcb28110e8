// gt-top: what is read of a state, rates, the text for Prometheus, and the
// screen.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/printable.h"
#include "net/record.h"
#include "share.h"
#include "top/batch.h"
#include "top/metrics.h"
#include "top/model.h"
#include "top/screen.h"
#include "top/snapshot.h"

namespace gt::top {
namespace {

// Two workers, the second of which waits for the first; `busy` is ns of 10 s.
std::string state(uint64_t uptime_ms, uint64_t lines, uint64_t busy) {
  const std::string time = std::to_string(uptime_ms * 1'000'000);
  const auto use = [&](int worker) {
    return "use worker=" + std::to_string(worker) + " time=" + time +
           " busy=" + std::to_string(busy) +
           " waited=0 lines=5 memory=1048576 peak=2097152 in=0 out=0 "
           "exchanges=0 exchanging=0\n";
  };
  return "route pid=7 version=0.1 uptime_ms=" + std::to_string(uptime_ms) +
         " file=p.gt workers=2 here=2 lines=" + std::to_string(lines) +
         " repeated=0 written=0 owed=0 watchers=1 status=0\n"
         "worker id=10 state=here name=w10 host=h behind=3 queued=10 "
         "queued_ns=1000 at=\"p.gt:8\" line=\"s = sum y\"\n"
         "worker id=9 state=here name=w9 host=h behind=1 waits_ms=1234 "
         "waits_for=\"line 7: piece of rank 0 from worker 10\" waits_on=10 "
         "at=\"p.gt:7\" line=\"y = all_reduce x\"\n" +
         use(9) + use(10) +
         "op worker=9 name=sum count=2 ns=" + std::to_string(busy / 2) +
         "\nop worker=10 name=sum count=2 ns=" + std::to_string(busy / 2) +
         "\nspace name=c1 lines=5 owed=0\n"
         "client name=c1 user=ann state=here share=2 served_ns=0 blocks=1 "
         "memory=64 quota=128 unread=3\nlater kind=1\n";
}

Snapshot read(const std::string& text) {
  auto read = read_snapshot(text);
  EXPECT_TRUE(read.ok());
  return read.value();
}

TEST(Snapshot, IsReadAndWhatIsNotKnownIsPassedOver) {
  const Snapshot now = read(state(1000, 50, 0));
  EXPECT_EQ(now.route.pid, 7u);
  ASSERT_EQ(now.workers.size(), 2u);
  EXPECT_EQ(now.workers[0].id, 9u);
  EXPECT_EQ(now.workers[1].line, "s = sum y");
  ASSERT_EQ(now.ops.size(), 1u);
  EXPECT_EQ(now.ops[0].count, 4u);
  ASSERT_EQ(now.clients.size(), 1u);
  EXPECT_EQ(now.clients[0].user, "ann");
  EXPECT_EQ(now.clients[0].lines, 5u);
  for (const char* bad :
       {"", "worker id=1\n", "route pid=1\nworker id=x\n", "route pid=1\n\n",
        "route pid=1\nuse worker=1 time=1\n", "route pid=1\nop count=1\n"}) {
    EXPECT_FALSE(read_snapshot(bad).ok()) << bad;
  }
}

TEST(Snapshot, SaysWhoWaitsForWhom) {
  EXPECT_EQ(longest_wait(read(state(1000, 50, 0))),
            "worker 9 (w9) waits 1.2 s for worker 10 (w10) at p.gt:7: y = "
            "all_reduce x (line 7: piece of rank 0 from worker 10); worker 10 "
            "(w10) is at p.gt:8: s = sum y");
  EXPECT_EQ(longest_wait(read("route pid=1\nworker id=1 state=here\n")), "");
  EXPECT_EQ(
      longest_wait(read("route pid=1 full_ms=2000 full=1\nworker id=1 name=w1 "
                        "state=here\n")),
      "gt-route reads no more for 2.0 s, since worker 1 (w1) has no room");
  EXPECT_EQ(longest_wait(read(
                "route pid=1\nworker id=1 state=here waits_ms=900 waits_for=a "
                "waits_on=2\nworker id=2 state=here waits_ms=800 waits_for=b "
                "waits_on=1\n")),
            "worker 1 waits 0.9 s for worker 2 (a); they wait for each other");
}

TEST(Rate, IsSmoothedOverWhatWasSeen) {
  Rate rate;
  rate.take(100, 10);
  EXPECT_DOUBLE_EQ(rate.value(), 10);  // the rate since the beginning
  rate.take(150, 11);
  EXPECT_DOUBLE_EQ(rate.value(), 50);  // the time in between was not seen
  rate.take(150, 11);
  EXPECT_DOUBLE_EQ(rate.value(), 50);
  double count = 150;
  for (int i = 0; i < 5; ++i) rate.take(count, 12 + i);
  EXPECT_LT(rate.value(), 50 * 0.4);
  EXPECT_GT(rate.value(), 0);
  for (int i = 0; i < 200; ++i) rate.take(count += 7, 17 + i);
  EXPECT_NEAR(rate.value(), 7, 1e-6);
  rate.take(3, 300);  // the counter went back
  EXPECT_DOUBLE_EQ(rate.value(), 0.01);
}

TEST(Model, SharesAreOfTheWorkersOwnTime) {
  Model model;
  model.take(read(state(10'000, 0, 1'000'000'000)));
  model.take(read(state(12'000, 400, 2'000'000'000)));
  const auto workers = model.rows(Row::Kind::kWorker);
  ASSERT_EQ(workers.size(), 2u);
  EXPECT_NEAR(workers[0][Column::kBusy].number, 0.5, 1e-9);
  EXPECT_EQ(workers[0][Column::kState].text, "waits");
  EXPECT_NEAR(model.lines_rate(), 200, 1e-9);
  const auto ops = model.rows(Row::Kind::kOp);
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_NEAR(ops[0][Column::kBusy].number, 0.25, 1e-9);
  EXPECT_NEAR(ops[0][Column::kMean].number, 0.5, 1e-9);
  EXPECT_EQ(model.rows(Row::Kind::kWorkerOp).size(), 2u);
  const auto clients = model.rows(Row::Kind::kClient);
  ASSERT_EQ(clients.size(), 1u);
  EXPECT_EQ(clients[0][Column::kQuota].plain(), "128");
}

TEST(Model, RatesOfOpsAreThoseOfTheFirstIntervalThatWasSeen) {
  Model model;
  const auto busy = [&](Row::Kind kind) {
    return model.rows(kind)[0][Column::kBusy];
  };
  // Ops were counted only in the last moment of the ten seconds.
  model.take(read(state(10'000, 0, 10'000'000)));
  EXPECT_EQ(busy(Row::Kind::kOp).plain(), "-");
  EXPECT_EQ(busy(Row::Kind::kWorkerOp).plain(), "-");
  EXPECT_EQ(model.rows(Row::Kind::kWorker)[0][Column::kTop].plain(), "-");
  model.take(read(state(10'500, 0, 810'000'000)));
  EXPECT_NEAR(busy(Row::Kind::kOp).number, 0.8, 1e-9);
  EXPECT_NEAR(busy(Row::Kind::kWorkerOp).number, 0.8, 1e-9);
  EXPECT_EQ(model.rows(Row::Kind::kWorker)[0][Column::kTop].plain(), "sum");
}

TEST(Model, AClientThatIsGivenNothingAnyMoreGetsNoPart) {
  const auto told = [](uint64_t uptime_ms, uint64_t served_ns) {
    std::string text = state(uptime_ms, 0, 0);
    const std::string word = "served_ns=0";
    text.replace(text.find(word), word.size(),
                 "served_ns=" + std::to_string(served_ns));
    return read(text);
  };
  Model model;
  const auto gets = [&] {
    return model.rows(Row::Kind::kClient)[0][Column::kBusy].number;
  };
  model.take(told(1000, 0));
  model.take(told(2000, 500'000'000));
  EXPECT_EQ(gets(), 1);
  model.take(told(4000, 500'000'000));
  EXPECT_EQ(gets(), 1);
  model.take(told(7000, 500'000'000));
  EXPECT_EQ(gets(), 0);
  model.take(told(8000, 600'000'000));
  EXPECT_EQ(gets(), 1);
}

TEST(Batch, EveryRowHasAllColumns) {
  Model model;
  model.take(read(state(10'000, 3, 1'000'000'000)));
  const std::string header = batch_header();
  const auto tabs = std::count(header.begin(), header.end(), '\t');
  std::string rows = batch_rows(model, 1.5);
  EXPECT_TRUE(rows.starts_with("1.500\troute\t7\tp.gt\trunning\t-\t"));
  size_t count = 0;
  while (!rows.empty()) {
    const std::string row = rows.substr(0, rows.find('\n'));
    EXPECT_EQ(std::count(row.begin(), row.end(), '\t'), tabs) << row;
    rows.erase(0, row.size() + 1);
    ++count;
  }
  EXPECT_EQ(count, 1u + 2 + 1 + 2 + 1);
}

TEST(Metrics, AreOfBoundedLabelsAndEscaped) {
  Snapshot now = read(state(10'000, 3, 1'500'000'000));
  now.route.version = "a\"b\\c\nd";
  const std::string text = metrics_text(now, false);
  EXPECT_NE(text.find("# TYPE gt_worker_busy_seconds_total counter\n"
                      "gt_worker_busy_seconds_total{worker=\"9\",op=\"sum\"} "
                      "0.75\n"),
            text.npos);
  EXPECT_NE(text.find("\ngt_user_memory_bytes{user=\"ann\"} 64\n"), text.npos);
  EXPECT_NE(text.find("gt_build_info{version=\"a\\\"b\\\\c\\\\x0ad\"} 1\n"),
            text.npos);
  EXPECT_EQ(text.find("c1"), text.npos);
  EXPECT_NE(metrics_text(now, true).find("\ngt_up 0\n"), text.npos);
}

TEST(Screen, FitsEverySize) {
  Model model;
  std::string text = state(10'000, 3, 1'000'000'000);
  for (int i = 11; i < 80; ++i) {
    net::RecordWriter(text, "worker")
        .field("id", static_cast<uint64_t>(i))
        .field("state", "here")
        .field("name", "w\xc3\xa4\xc3\xb6\x1b[2J")
        .field("line", std::string(100, 'x'));
  }
  model.take(read(text));
  const Share share = share_of_run();
  Screen screen;
  screen.show(model);
  for (const Key key : {Key::kTab, Key::kDown, Key::kRight, Key::kTab,
                        Key::kTab, Key::kPageDown, Key::kUp}) {
    for (size_t rows = 0; rows < 60; ++rows) {
      if (!share.has(rows)) continue;
      for (size_t columns = 0; columns < 250; columns += 7) {
        const auto lines = screen.draw(rows, columns);
        EXPECT_LE(lines.size(), rows);
        for (const ScreenLine& line : lines) {
          EXPECT_LE(columns_of(line.text), columns);
          EXPECT_EQ(line.text.find('\x1b'), std::string::npos);
        }
      }
    }
    EXPECT_TRUE(screen.take(key));
  }
  EXPECT_FALSE(screen.take(Key::kCharacter, "q"));
}

// Returns the lines of the screen, each with LF.
std::string drawn(const Model& model, size_t rows, size_t columns) {
  Screen screen;
  screen.show(model);
  std::string text;
  for (const ScreenLine& line : screen.draw(rows, columns)) {
    text += line.text + "\n";
  }
  return text;
}

TEST(Screen, WhatTellsMostIsWholeWhereItIsNarrow) {
  Model model;
  model.take(read(state(10'000, 3, 1'000'000'000)));
  const std::string text = drawn(model, 24, 60);
  EXPECT_NE(
      text.find("  0 B of results  0 B owed  1 watching\n"
                "longest wait: worker 9 (w9) waits 1.2 s for worker 10 (w10)\n"
                "  at p.gt:7: y = all_reduce x (line 7: piece of rank 0 from\n"
                "  worker 10); worker 10 (w10) is at p.gt:8: s = sum y\n"),
      text.npos)
      << text;
  // Where the tables would have no room, a line each is all.
  const std::string low = drawn(model, 8, 60);
  EXPECT_NE(low.find("for worker 10 (w1...\n"), text.npos) << low;
}

TEST(Screen, BarsAndHistoryAreOfTheSharesOfTime) {
  Model model;
  for (uint64_t s = 1; s <= 20; ++s) {
    // Busy for half of the first 10 seconds, and for all of the others.
    const uint64_t busy = s <= 10 ? s * 500'000'000 : (s - 5) * 1'000'000'000;
    std::string text = state(s * 1000, s * 100, busy);
    text += "use worker=10 time=" + std::to_string(s * 1'000'000'000) +
            " busy=" + std::to_string(busy) +
            " waited=0 lines=5 memory=1 peak=2 in=0 out=0 exchanges=0 "
            "exchanging=0 cpu=" +
            std::to_string(s * 3'000'000'000) + " resident=1048576\n";
    model.take(read(text));
  }
  const std::string text = drawn(model, 24, 200);
  // 94% of a bar of five, and a history that rises.
  EXPECT_NE(text.find("here   \u2588\u2588\u2588\u2588\u258a   94%"), text.npos)
      << text;
  EXPECT_NE(text.find("\u2585\u2586\u2586\u2587"), text.npos) << text;
  EXPECT_NE(text.find(" 300% "), text.npos) << text;
  EXPECT_NE(text.find(" 1 MiB "), text.npos) << text;
  EXPECT_NE(text.find("lines/s "), text.npos) << text;
  EXPECT_EQ(model.lines_history().values().size(), 20u);
}

TEST(Screen, AllTablesHaveTheirPart) {
  Model model;
  model.take(read(state(10'000, 3, 1'000'000'000)));
  Screen screen;
  screen.show(model);
  std::string text;
  for (const ScreenLine& line : screen.draw(20, 60)) text += line.text + "\n";
  for (const char* part :
       {"\n      9 waits ", "\n     10 here ", "\nsum ", "\nc1 ",
        "longest wait: worker 9 (w9) waits 1.2 s for worker 10"}) {
    EXPECT_NE(text.find(part), text.npos) << part << "\n" << text;
  }
}

TEST(Screen, AFrozenOneShowsWhatItShowed) {
  Model model;
  model.take(read(state(10'000, 3, 0)));
  Screen screen;
  screen.show(model);
  EXPECT_TRUE(screen.take(Key::kCharacter, "f"));
  const auto before = screen.draw(20, 80);
  model.take(read(state(20'000, 9999, 5'000'000'000)));
  screen.show(model);
  const auto frozen = screen.draw(20, 80);
  ASSERT_EQ(before.size(), frozen.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].text, frozen[i].text);
  }
  EXPECT_TRUE(screen.take(Key::kCharacter, "f"));
  EXPECT_NE(screen.draw(20, 80)[1].text, before[1].text);
}

}  // namespace
}  // namespace gt::top

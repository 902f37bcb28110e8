// Rows of a log are written and read.
#include <gtest/gtest.h>

#include <fcntl.h>

#include "exec_harness.h"
#include "stream/log_rows.h"
#include "stream/log_words.h"
#include "stream/rows.h"

namespace gt::log {
namespace {

TEST(LogRows, AreReadAsTheyWereWritten) {
  exec::MemoryFile file;
  LogRows rows(file.fd());
  const LogTime now = LogTime::now();
  rows.add(now, 7, "issue", "0-1", "c1", 12, "x = a\tb # c");
  EXPECT_EQ(file.text(), std::string(kLogHeader) + "\n");  // rows wait
  rows.flush();
  std::string text = file.text().substr(kLogHeader.size() + 1);
  ASSERT_EQ(text.back(), '\n');
  text.pop_back();
  LogRow row;
  ASSERT_TRUE(parse_row(text, row));
  EXPECT_EQ(row.time, std::string_view(now));
  EXPECT_EQ(row.seq, "7");
  EXPECT_EQ(row.event, "issue");
  EXPECT_EQ(row.peer, "0-1");
  EXPECT_EQ(row.client, "c1");
  EXPECT_EQ(row.bytes, "12");
  EXPECT_EQ(row.text, "x = a\tb # c");
  EXPECT_TRUE(parse_log_time(row.time).has_value());
}

TEST(LogRows, AreHeldToABound) {
  exec::MemoryFile file;
  LogRows rows(file.fd());
  const std::string line(size_t{400} << 10, 'x');
  for (int i = 0; i < 3; ++i)
    rows.add("1.000000", 1, "issue", "-", "-", 1, line);
  EXPECT_GT(file.text().size(), 2 * line.size());
  rows.add("1.000000", 1, "issue", "-", "-", 1, std::string(3 << 20, 'y'));
  rows.flush();
  EXPECT_GT(file.text().size(), size_t{4} << 20);
  EXPECT_EQ(rows.errno_value(), 0);
}

TEST(LogRows, AFileThatFailsIsSaidOnce) {
  LogRows rows(::open("/dev/full", O_WRONLY));
  EXPECT_NE(rows.errno_value(), 0);
  rows.add("1.000000", 1, "issue", "-", "-", 1, "x");
  rows.flush();
  EXPECT_NE(rows.errno_value(), 0);
}

TEST(LogComment, IsReadAsItWasWritten) {
  LogComment comment;
  comment.word("for", uint64_t{3}).word("name", "a \"b\": c\n#").word("x", "");
  comment.error("p.gt:9: no\tway\nsecond line");
  EXPECT_EQ(comment.text().substr(0, 8), "# for=3 ");
  EXPECT_EQ(comment.text().find('\n'), std::string_view::npos);
  LogWords words;
  words.parse(comment.text());
  EXPECT_EQ(words.number("for"), 3U);
  EXPECT_EQ(words.find("name"), "a \"b\": c\n#");
  EXPECT_EQ(words.find("x"), "");
  EXPECT_EQ(words.words(), "ERROR p.gt:9: no way");
}

TEST(LogComment, AnythingCanBeRead) {
  LogWords words;
  for (const char* text :
       {"", "#", "# ", "#:", "#: ", "# =", "# a=\"", "# a=\"\\", "x y z",
        "# a=1 b", "# :", "a=b=c: d=e"}) {
    words.parse(text);
    EXPECT_EQ(words.find("q"), "") << text;
  }
  EXPECT_EQ(words.words(), "d=e");
  EXPECT_EQ(words.find("a"), "b=c");
}

TEST(LogTime, IsReadExactlyOrNotAtAll) {
  EXPECT_EQ(parse_log_time("1763654400.000001"), 1763654400000001000U);
  for (const char* bad :
       {"", ".", "1", "1.", "1.00000", "1.0000000", "-1.000000", "x.000000",
        "99999999999.000000", "1.00000x"}) {
    EXPECT_FALSE(parse_log_time(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace gt::log

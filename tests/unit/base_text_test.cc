// Lines are read from and written to descriptors; and the form of messages.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "base/exit.h"
#include "base/message.h"
#include "base/printable.h"
#include "base/reader.h"
#include "base/utf8.h"
#include "base/writer.h"

namespace gt {
namespace {

class Pipe {
 public:
  Pipe() { GT_CHECK(::pipe(ends_) == 0); }
  ~Pipe() {
    close_read();
    close_write();
  }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_read() { close_one(ends_[0]); }
  void close_write() { close_one(ends_[1]); }

 private:
  static void close_one(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  int ends_[2] = {-1, -1};
};

// The lines that are read of `bytes`, which come in pieces of `piece` bytes; a
// line that is too long is "LONG:...".
std::vector<std::string> lines_written(const std::string& bytes, size_t piece) {
  Pipe pipe;
  std::thread writer([&] {
    for (size_t at = 0; at < bytes.size(); at += piece) {
      const std::string_view part = std::string_view(bytes).substr(at, piece);
      size_t done = 0;
      while (done < part.size()) {
        const ssize_t n =
            ::write(pipe.write_end(), part.data() + done, part.size() - done);
        GT_CHECK(n > 0);
        done += static_cast<size_t>(n);
      }
    }
    pipe.close_write();
  });
  Reader reader(pipe.read_end(), nullptr);
  std::vector<std::string> lines;
  for (;;) {
    std::string_view line;
    const Reader::Item item = reader.next(line);
    if (item == Reader::Item::kEnd || item == Reader::Item::kError) break;
    lines.push_back((item == Reader::Item::kTooLong ? "LONG:" : "") +
                    std::string(line));
  }
  writer.join();
  return lines;
}

TEST(Reader, SplitsAtLineFeeds) {
  using Lines = std::vector<std::string>;
  for (const size_t piece : {1U, 2U, 3U, 100U}) {
    EXPECT_EQ(lines_written("a\nb\n", piece), (Lines{"a", "b"}));
    EXPECT_EQ(lines_written("a\r\n\r\nb\r", piece), (Lines{"a", "", "b"}));
    EXPECT_EQ(lines_written("a\rb\n", piece), (Lines{"a\rb"}));
    EXPECT_EQ(lines_written("", piece), Lines{});
    EXPECT_EQ(lines_written("\n", piece), (Lines{""}));
    EXPECT_EQ(lines_written("no end", piece), (Lines{"no end"}));
    EXPECT_EQ(lines_written(std::string("a\0b\n", 4), piece),
              (Lines{std::string("a\0b", 3)}));
  }
}

TEST(Reader, GrowsForLongLines) {
  const std::string line(3 << 20, 'x');
  const auto lines = lines_written("a\n" + line + "\nb\n", 1 << 16);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], line);
  EXPECT_EQ(lines[2], "b");
}

TEST(Reader, SkipsLinesBeyondTheLimitWhereverReadsEnd) {
  const std::string head(80, 'x');
  for (const size_t extra : {1U, 10U, 5000000U}) {
    const std::string line(Reader::kMaxLine + extra, 'x');
    const auto lines = lines_written("a\n" + line + "\nb\n" + line, 1 << 20);
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[1], "LONG:" + head);
    EXPECT_EQ(lines[2], "b");
    EXPECT_EQ(lines[3], "LONG:" + head);
  }
  const std::string line(Reader::kMaxLine, 'x');
  EXPECT_EQ(lines_written(line + "\n", 1 << 20).at(0).size(), Reader::kMaxLine);
}

TEST(Reader, SaysWhenItWouldBlock) {
  Pipe pipe;
  int idle = 0;
  Reader reader(pipe.read_end(), [&] {
    if (++idle == 1) {
      ASSERT_EQ(::write(pipe.write_end(), "a\nb\n", 4), 4);
    } else {
      pipe.close_write();
    }
  });
  std::string_view line;
  EXPECT_EQ(reader.next(line), Reader::Item::kLine);
  EXPECT_EQ(line, "a");
  EXPECT_EQ(reader.buffered(), "b\n");
  EXPECT_EQ(reader.next(line), Reader::Item::kLine);
  EXPECT_EQ(idle, 1);
  EXPECT_FALSE(reader.fill_if_ready());
  EXPECT_EQ(reader.next(line), Reader::Item::kEnd);
  EXPECT_EQ(idle, 2);
  EXPECT_EQ(reader.next(line), Reader::Item::kEnd);
}

TEST(Reader, KeepsTheErrorOfRead) {
  const int folder = ::open("/", O_RDONLY | O_DIRECTORY);
  ASSERT_GE(folder, 0);
  Reader reader(folder, nullptr);
  std::string_view line;
  EXPECT_EQ(reader.next(line), Reader::Item::kError);
  EXPECT_EQ(reader.errno_value(), EISDIR);
  EXPECT_EQ(reader.next(line), Reader::Item::kError);
  ::close(folder);
}

TEST(Reader, KeepsAnErrorThatCameWhileItLookedAhead) {
  const int folder = ::open("/", O_RDONLY | O_DIRECTORY);
  ASSERT_GE(folder, 0);
  Reader reader(folder, nullptr);
  std::string_view line;
  EXPECT_FALSE(reader.fill_if_ready());
  EXPECT_EQ(reader.next(line), Reader::Item::kError);
  EXPECT_FALSE(reader.is_empty_pipe());
  ::close(folder);
}

TEST(Reader, TellsALastLineWithoutItsEnd) {
  Pipe pipe;
  const std::string text = std::string(kByteOrderMark) + "a\nb";
  ASSERT_EQ(::write(pipe.write_end(), text.data(), text.size()), 6);
  pipe.close_write();
  Reader reader(pipe.read_end(), nullptr);
  std::string_view line;
  EXPECT_EQ(reader.next(line), Reader::Item::kLine);
  EXPECT_EQ(line, "a");
  EXPECT_EQ(reader.next(line), Reader::Item::kPart);
  EXPECT_EQ(line, "b");
  EXPECT_EQ(reader.next(line), Reader::Item::kEnd);
  EXPECT_FALSE(reader.is_empty_pipe());
}

TEST(Reader, KnowsAPipeThatEndedBeforeItsFirstByte) {
  Pipe pipe;
  pipe.close_write();
  Reader reader(pipe.read_end(), nullptr);
  std::string_view line;
  EXPECT_EQ(reader.next(line), Reader::Item::kEnd);
  EXPECT_TRUE(reader.is_empty_pipe());
}

TEST(Writer, WritesAllOnFlush) {
  Pipe pipe;
  const std::string large(300000, 'y');
  std::string got;
  std::thread reader([&] {
    char buffer[4096];
    for (ssize_t n; (n = ::read(pipe.read_end(), buffer, sizeof buffer)) > 0;) {
      got.append(buffer, static_cast<size_t>(n));
    }
  });
  Writer writer(pipe.write_end());
  writer.write("head ");
  writer.write(large);
  writer.write(" tail");
  writer.flush();
  EXPECT_TRUE(writer.ok());
  pipe.close_write();
  reader.join();
  EXPECT_EQ(got, "head " + large + " tail");
}

TEST(Writer, KeepsTheFirstError) {
  const int full = ::open("/dev/full", O_WRONLY);
  if (full < 0) GTEST_SKIP() << "no /dev/full";
  Writer writer(full);
  writer.write("x");
  EXPECT_TRUE(writer.ok());
  writer.flush();
  EXPECT_EQ(writer.errno_value(), ENOSPC);
  writer.write("y");
  writer.flush();
  EXPECT_EQ(writer.errno_value(), ENOSPC);
  ::close(full);
}

TEST(Message, ShowsPlaceLineAndCaret) {
  EXPECT_EQ(
      format_error("gt-emit", {"model.gt", 7}, {"no such op", 5}, "y = mul2 x"),
      "gt-emit: model.gt:7: no such op\n"
      "  y = mul2 x\n"
      "      ^\n");
  EXPECT_EQ(format_error("gt-emit", {"model.gt", 0}, {"cannot open", 0}, ""),
            "gt-emit: model.gt: cannot open\n");
  EXPECT_EQ(format_error("gt-emit", {}, {"no config", 0}, ""),
            "gt-emit: no config\n");
  EXPECT_EQ(format_error("gt-emit", {"-", 1}, {"why", 0}, "line"),
            "gt-emit: -:1: why\n  line\n");
}

TEST(Message, CutsLongLinesAroundTheColumn) {
  const std::string line = std::string(100, 'a') + "!" + std::string(100, 'b');
  const std::string text = format_error("p", {"f", 1}, {"m", 101}, line);
  const size_t shown = text.find("  ...");
  const size_t caret = text.find('^');
  ASSERT_NE(shown, std::string::npos);
  const size_t start = text.rfind('\n', caret) + 1;
  EXPECT_EQ(text.at(shown + (caret - start)), '!');
  // A column beyond the end puts the caret right behind the line.
  EXPECT_EQ(format_error("p", {}, {"m", 99}, "ab"), "p: m\n  ab\n    ^\n");
}

TEST(Message, ShowsWhatIsHidden) {
  EXPECT_EQ(excerpt("a\x1b[31m"), "a\\x1b[31m");
  EXPECT_EQ(excerpt(std::string(50, 'a')), std::string(40, 'a') + "...");
  // A character of several bytes is not cut in two.
  EXPECT_EQ(excerpt(std::string(39, 'a') + "\u00e4b"),
            std::string(39, 'a') + "...");
  EXPECT_EQ(format_error("p", {"\x1b]0;x\x07", 3}, {"m\nn", 0}, ""),
            "p: \\x1b]0;x\\x07:3: m\\x0an\n");
}

// The caret stands under the character that the column's byte belongs to.
TEST(Message, PointsBehindWhatTakesOtherColumnsThanBytes) {
  EXPECT_EQ(format_error("p", {}, {"m", 2}, "\x07x\ty"),
            "p: m\n  \\x07x y\n      ^\n");
  EXPECT_EQ(format_error("p", {}, {"m", 4}, "\u00e4=x"),
            "p: m\n  \u00e4=x\n    ^\n");
  const std::string late(100, 'a');
  const std::string text =
      format_error("p", {}, {"m", 201}, late + "\u00e4\u00e4" + late + "!");
  const size_t shown = text.find("  ...") + 5;
  EXPECT_TRUE(is_utf8(text.substr(shown)));
}

TEST(Printable, NothingInItActsOnATerminal) {
  const struct {
    std::string_view text, shown;
  } kCases[] = {
      {"plain \u00e4 \u4e2d \U0001f600", "plain \u00e4 \u4e2d \U0001f600"},
      {"\x1b[31m\r\x08", "\\x1b[31m\\x0d\\x08"},
      {std::string_view("\0\x7f", 2), "\\x00\\x7f"},
      {"\u0080\u009b31m", "\\u0080\\u009b31m"},         // C1: a CSI in one byte
      {"\u202e\u2066\u2069", "\\u202e\\u2066\\u2069"},  // from right to left
      {"\u200b\ufeff\u2028", "\\u200b\\ufeff\\u2028"},
      {"\U000e0041", "\\U000e0041"},
      {"\x9b"
       "31m \xff",
       "\\x9b31m \\xff"},  // not UTF-8
      {"\xc0\xaf\xed\xa0\x80\xe2\x82", "\\xc0\\xaf\\xed\\xa0\\x80\\xe2\\x82"},
      {"a\tb", "a b"},
  };
  for (const auto& [text, shown] : kCases) {
    EXPECT_EQ(printable(text), shown);
    EXPECT_EQ(printable(printable(text)), printable(text));
    EXPECT_EQ(printable_lines(text), shown);
  }
  EXPECT_EQ(printable("a\nb"), "a\\x0ab");
  EXPECT_EQ(printable_lines("a\nb\n"), "a\nb\n");
}

// For all bytes, the text that is shown is UTF-8 without control characters.
TEST(Printable, AllBytesAreMadeFit) {
  uint32_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) {
      state = state * 1664525 + 1013904223;
      text += static_cast<char>(state >> 24);
    }
    const std::string shown = printable(text);
    EXPECT_TRUE(is_utf8(shown));
    for (std::string_view rest = shown; !rest.empty();) {
      const Utf8Character c = first_character(rest);
      ASSERT_TRUE(c.code >= 0x20 && (c.code < 0x7f || c.code > 0x9f));
      rest.remove_prefix(c.bytes);
    }
  }
}

TEST(Message, GuessesWhatWasMeant) {
  EXPECT_EQ(nearest("matmull", {"mul", "matmul", "max"}), "matmul");
  EXPECT_EQ(nearest("xyz", {"mul", "matmul"}), "");
  EXPECT_EQ(nearest("ad", {"add", "and"}), "add");
  EXPECT_EQ(nearest("amtmul", {"mul", "matmul"}), "matmul");
  EXPECT_EQ(nearest("pt", {"dp", "tp"}), "tp");
  EXPECT_EQ(nearest("TP", {"dp", "tp"}), "tp");
  EXPECT_EQ(nearest("W", {"v", "w"}), "w");
  EXPECT_EQ(nearest(std::string(100, 'a'), {"add"}), "");
  EXPECT_EQ(did_you_mean("sumn", {"sum"}), "; did you mean 'sum'?");
  EXPECT_EQ(did_you_mean("xyz", {"sum"}), "");
}

TEST(Exit, WorstIsTheLarger) {
  EXPECT_EQ(worst(Exit::kDone, Exit::kFailed), Exit::kFailed);
  EXPECT_EQ(worst(Exit::kInterrupted, Exit::kLost), Exit::kInterrupted);
}

}  // namespace
}  // namespace gt

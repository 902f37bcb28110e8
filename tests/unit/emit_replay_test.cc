// Replay writes the stream that would be written without it, whatever comes
// again.
#include "stream/replay.h"

#include <fcntl.h>

#include <random>
#include <thread>

#include "emit_harness.h"
#include "stream/source.h"

namespace gt::emit {
namespace {

const std::string kInit =
    "w = ones f32[3]\nx = ones f32[3]\nt = zeros f32[]\nk = ones f32[3]\n";

// Lines that fit each other in any order, after kInit.
const char* const kLines[] = {
    "h = mul x w",  "h = exp x",       "l = sum h",       "l = mean w",
    "k = mul k x",  "k = detach k",    "t = add t l",     "t = detach t",
    "w = sub w 1",  "g = grad l w",    "x = add x k",     "h = mul h h",
    "free h",       "h = ones f32[3]", "r = rand f32[3]", "x = add x r",
    "print l",      "print nobody",    "# a comment",     "",
    "y = neg w",    "free y",          "k = sgd k x 0.1", "w = mul w k",
    "l = neg l",    "g = grad l k",    "g = grad t w",    "free l",
    "g = grad k w",
};

class Programs {
 public:
  explicit Programs(uint32_t seed) : random_(seed) {}

  size_t below(size_t n) { return random_() % n; }

  std::string body() {
    std::string text;
    const size_t lines = 1 + below(9);
    for (size_t i = 0; i < lines; ++i) {
      text += std::string(kLines[below(std::size(kLines))]) + "\n";
    }
    return text;
  }

  // Rounds of several bodies, some of which break off in the middle.
  std::string program() {
    std::string text = kInit;
    const size_t loops = 1 + below(4);
    for (size_t i = 0; i < loops; ++i) {
      const std::string round = body();
      const size_t rounds = 1 + below(40);
      for (size_t r = 0; r < rounds; ++r) text += round;
      if (below(2) == 0) continue;
      const size_t cut = round.find('\n', below(round.size()));
      text += round.substr(0, cut + 1) + body() + round;
    }
    return text;
  }

 private:
  std::mt19937 random_;
};

TEST(Replay, WritesWhatTheSessionWouldWrite) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const std::string program = Programs(seed).program();
    ASSERT_EQ(stream_of(program, true), stream_of(program, false))
        << "seed " << seed << "\n"
        << program;
  }
}

TEST(Replay, OfItsOwnStreamChangesNothing) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::string stream = stream_of(Programs(seed).program());
    ASSERT_EQ(stream_of(stream), stream) << "seed " << seed;
  }
}

// The stream of a program that comes through a pipe, in pieces of random
// length.
std::string in_pieces(const std::string& program, Programs& random) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  std::thread feeder([&] {
    for (size_t at = 0; at < program.size();) {
      const size_t piece = std::min(1 + random.below(60), program.size() - at);
      at += static_cast<size_t>(::write(ends[1], program.data() + at, piece));
    }
    ::close(ends[1]);
  });
  EmitJob job;
  job.session.at = false;
  job.inputs.push_back(
      {EmitInput::Kind::kFile, "/dev/fd/" + std::to_string(ends[0]), 1});
  const std::string stream = stream_of(job);
  feeder.join();
  ::close(ends[0]);
  return stream;
}

TEST(Replay, DoesNotDependOnHowTheInputIsCut) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Programs random(seed);
    // Messages would name the input, so no line may cause one.
    std::string program = random.program();
    while (program.find("nobody") != std::string::npos) {
      program.replace(program.find("nobody"), 6, "w");
    }
    const std::string whole = stream_of(program);
    if (whole.find("#end 0") == std::string::npos) continue;
    ASSERT_EQ(in_pieces(program, random), whole) << "seed " << seed;
  }
}

// Feeds rounds, and returns after how many the round was known, or 0.
size_t rounds_until_ready(const std::string& round, size_t most) {
  FedSession fed;
  Replay replay(fed.session);
  const auto feed = [&](const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      replay.note(line, fed.feed(line));
      at = end + 1;
    }
  };
  feed(kInit);
  for (size_t r = 1; r <= most; ++r) {
    feed(round);
    if (replay.ready()) return r;
  }
  return 0;
}

TEST(Replay, KnowsARoundAfterAFew) {
  const std::string training =
      "h = mul x w\nl = sum h\ng = grad l w\nw = sgd w g 0.1\n";
  EXPECT_GT(rounds_until_ready(training, 10), 0U);
  EXPECT_GT(rounds_until_ready("x = add x 1\n", 10), 0U);
  EXPECT_GT(rounds_until_ready("r = rand f32[3]\nx = add x r\n", 10), 0U);
}

TEST(Replay, KnowsNoRoundThatLeavesMoreBehind) {
  EXPECT_EQ(rounds_until_ready("t = add t l\n", 20), 0U);  // a message comes
  EXPECT_EQ(rounds_until_ready("l = sum w\nt = add t l\n", 50), 0U);
}

// Counts the rounds that a replay took from its source.
TEST(Replay, AnswersWholeRoundsAndLeavesTheRest) {
  const std::string round = "x = add x 1\nprint x\n";
  std::string program = kInit;
  for (int i = 0; i < 100; ++i) program += round;
  program += "x = add x 1\nprint w\n";
  TextSource source(program, 1);
  FedSession fed;
  Replay replay(fed.session);
  std::string_view line;
  while (!replay.ready()) {
    ASSERT_EQ(source.next(line), Reader::Item::kLine);
    replay.note(line, fed.feed(line));
  }
  const int fd = ::memfd_create("stream", MFD_CLOEXEC);
  Writer writer(fd);
  replay.run(source, [&writer](std::string_view text) {
    writer.write(text);
    return true;
  });
  writer.flush();
  EXPECT_GT(::lseek(fd, 0, SEEK_CUR), static_cast<off_t>(90 * round.size()));
  ::close(fd);
  EXPECT_EQ(source.buffered(), "x = add x 1\nprint w\n");
}

}  // namespace
}  // namespace gt::emit

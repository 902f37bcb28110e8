// The clients of gt-emit: name spaces, text that comes in pieces, and blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "net/wire.h"
#include "serve/multiplexer.h"
#include "serve/name_space.h"
#include "serve/program.h"
#include "serve/pushed_source.h"
#include "serve/unread_results.h"

namespace gt::serve {
namespace {

std::string enter(NameSpace& space, std::string_view line) {
  std::string out;
  space.enter(line, out);
  return out;
}

TEST(NameSpace, EverythingThatALineNamesIsPutIntoIt) {
  NameSpace space("c7", "files/ann/");
  const std::pair<const char*, const char*> cases[] = {
      {"y = add x 1", "c7/y = add c7/x 1"},
      {"a b = split x axis=1 #mb=2", "c7/a c7/b = split c7/x axis=1 #mb=2"},
      {"y@0-1 = matmul x@0-1 w@0-1", "c7/y@0-1 = matmul c7/x@0-1 c7/w@0-1"},
      {"free x y", "free c7/x c7/y"},
      {"free act/*", "free c7/act/*"},
      {"print x as=y", "print c7/x as=c7/y"},
      {"print x as=\"y\"", "print c7/x as=\"c7/y\""},
      {"mesh d=2", "mesh d=2 space=c7"},
      {"mesh d=2 space=a #at=m.gt:1", "mesh d=2 space=c7/a #at=c7/m.gt:1"},
      {"endmesh", "endmesh space=c7"},
      {"endmesh #why=x", "endmesh space=c7 #why=x"},
      {"axis w=d*t", "axis w=d*t space=c7"},
      {"x = tensor f32[2] inf nan", "c7/x = tensor f32[2] inf nan"},
      {"x = cast y f16", "c7/x = cast c7/y f16"},
      {"x = load \"a.npy\" f32[2] i",
       "c7/x = load \"files/ann/a.npy\" f32[2] c7/i"},
      {"save x \"a.npy\"", "save c7/x \"files/ann/a.npy\""},
      {"x = fail \"no /x\"", "c7/x = fail \"no /x\""},
      {"g = add a b #bwd #grad=w #at=m.gt:3",
       "c7/g = add c7/a c7/b #bwd #grad=c7/w #at=c7/m.gt:3"},
      {"x = ones f32[2] #client=c1 #mb=1", "c7/x = ones f32[2] #mb=1"},
      {"x = ones f32[2] #client #mb=1", "c7/x = ones f32[2] #mb=1"},
      {"x = ones f32[2] #clients=3", "c7/x = ones f32[2] #clients=3"},
      {"x = ones f32[2] # #at=y", "c7/x = ones f32[2] # #at=y"},
      {"#sync a", "#sync c7/.a"},
  };
  for (const auto& [line, wanted] : cases) {
    EXPECT_EQ(enter(space, line), std::string(wanted) + "\n") << line;
  }
  for (const char* none : {"# text", "#reports", "#end 0", "#ranks c1 0=1",
                           "save x \"../a.npy\"", "save x \"/a.npy\"", ""}) {
    EXPECT_EQ(enter(space, none), "") << none;
  }
  NameSpace bare("c7", "");
  EXPECT_EQ(enter(bare, "save x \"a.npy\""), "");
}

TEST(NameSpace, OutputHasNoTraceOfIt) {
  const NameSpace space("c7", "files/ann/");
  const std::pair<const char*, const char*> cases[] = {
      {"c7/y = tensor f32[] 1", "y = tensor f32[] 1"},
      {"c7/y@0 = fail \"c7/m.gt:3: add: c7/x\"",
       "y@0 = fail \"m.gt:3: add: x\""},
      {"c7/c7/y = fail \"xc7/y c7/z\"", "c7/y = fail \"xc7/y z\""},
      {"load files/ann/x.npy", "load x.npy"},
      {"gt-work: c7/m.gt:1: div: no\n  c7/y = div c7/a b\n             ^\n",
       "gt-work: m.gt:1: div: no\n  y = div a b\n          ^\n"},
      {"c17/y", "c17/y"},
  };
  for (const auto& [line, wanted] : cases) EXPECT_EQ(space.leave(line), wanted);
  EXPECT_EQ(space_of_result("c7/y = tensor f32[] 1"), "c7");
  EXPECT_EQ(space_of_result("#sync c7/y"), "c7");
  EXPECT_EQ(space_of_result("y = tensor f32[] 1"), "");
  EXPECT_EQ(space_of_result("y = fail \"c7/x\""), "");
}

// A client that loses its connection at any point says what it has when it is
// back. It gets every result once, and in order.
TEST(UnreadResults, NothingIsLostAndNothingComesTwice) {
  std::mt19937 random(7);
  for (int seed = 0; seed < 300; ++seed) {
    UnreadResults unread(50);
    std::string wanted, got;
    std::string wanted_reports, got_reports;
    uint64_t reports = 0;
    bool is_here = true;
    const auto send = [&] {
      if (!is_here) return;
      unread.send([&](const std::string& bytes) {
        if (random() % 8 == 0) is_here = false;  // all that follows is lost
        if (!is_here) return;
        const auto message = net::parse_message(bytes);
        ASSERT_TRUE(message.ok());
        if (message.value().verb == net::Verb::kResults) {
          got += message.value().body;
        } else {
          got_reports += message.value().body;
          ++reports;
        }
      });
    };
    for (int step = 0; step < 200; ++step) {
      const std::string text(random() % 40, static_cast<char>('a' + step % 26));
      if (random() % 2 == 0) {
        unread.add_results(text);
        wanted += text;
      } else {
        unread.add_report(Exit::kDone, text + ".");
        wanted_reports += text + ".";
      }
      if (is_here && random() % 3 == 0) {
        ASSERT_TRUE(unread.take(got.size(), reports).ok());
      }
      if (!is_here && random() % 4 == 0) {
        is_here = true;
        ASSERT_TRUE(unread.resume(got.size(), reports).ok());
      }
      send();
    }
    while (!is_here || !unread.is_taken()) {
      is_here = true;
      ASSERT_TRUE(unread.resume(got.size(), reports).ok());
      send();
    }
    EXPECT_EQ(got, wanted);
    EXPECT_EQ(got_reports, wanted_reports);
    EXPECT_EQ(unread.bytes(), 0u);
  }
}

TEST(UnreadResults, MoreThanWasSentCannotBeTaken) {
  UnreadResults unread(4);
  unread.add_results("abcdefgh");
  unread.add_report(Exit::kDone, "r");
  unread.send([](const std::string&) {});
  EXPECT_FALSE(unread.take(5, 0).ok());
  EXPECT_FALSE(unread.take(0, 2).ok());
  EXPECT_TRUE(unread.take(4, 1).ok());
  EXPECT_FALSE(unread.resume(9, 1).ok());
}

TEST(UnreadResults, MessagesBeyondTheMostAreCountedAndTheWorstIsKept) {
  UnreadResults unread(4);
  for (int i = 0; i < 1003; ++i) {
    unread.add_report(i == 1001 ? Exit::kRejected : Exit::kFailed, "r");
  }
  uint64_t sent = 0;
  std::string last;
  const auto send = [&](const std::string& message) {
    ++sent;
    last = message;
  };
  unread.send(send);
  EXPECT_EQ(sent, 1000u);
  EXPECT_FALSE(unread.is_sent());
  ASSERT_TRUE(unread.take(0, 1000).ok());
  unread.send(send);
  EXPECT_EQ(sent, 1001u);
  EXPECT_NE(last.find("status=3"), std::string::npos);
  EXPECT_NE(last.find("3 more messages"), std::string::npos);
  EXPECT_TRUE(unread.is_sent());
}

// However a text is cut, its lines are those of the whole.
TEST(PushedSource, CutAnywhereItGivesTheSameLines) {
  std::mt19937 random(1);
  for (int seed = 0; seed < 300; ++seed) {
    std::string text;
    for (auto n = random() % 400; n > 0; --n) {
      constexpr std::string_view kBytes = "ab \r\n\n";
      text += kBytes[random() % kBytes.size()];
    }
    std::vector<std::string> wanted;
    for (size_t at = 0; at < text.size();) {
      const size_t lf = std::min(text.find('\n', at), text.size());
      std::string line = text.substr(at, lf - at);
      while (line.ends_with('\r')) line.pop_back();
      wanted.push_back(line);
      at = lf + 1;
    }
    PushedSource source;
    std::vector<std::string> got;
    const auto drain = [&] {
      std::string_view line;
      for (;;) {
        source.allow(1 + random() % 50);
        const bool has_line = source.has_line();
        const Reader::Item item = source.next(line);
        ASSERT_EQ(has_line, item != Reader::Item::kEnd);
        if (!has_line) return;
        got.emplace_back(line);
        ASSERT_EQ(source.line(), got.size());
      }
    };
    for (size_t at = 0; at < text.size();) {
      const size_t n = std::min<size_t>(random() % 40, text.size() - at);
      source.push(std::string_view(text).substr(at, n));
      at += n;
      drain();
    }
    source.end();
    drain();
    ASSERT_EQ(got, wanted);
    ASSERT_TRUE(source.is_over());
    ASSERT_EQ(source.taken(), text.size());
  }
}

TEST(PushedSource, ALineThatIsTooLongIsSkippedAndSaid) {
  PushedSource source;
  const std::string piece(size_t{8} << 20, 'x');
  std::string_view line;
  source.push("a\n");
  for (int i = 0; i < 9; ++i) source.push(piece);
  source.allow(SIZE_MAX);
  ASSERT_EQ(source.next(line), Reader::Item::kLine);
  ASSERT_EQ(source.next(line), Reader::Item::kTooLong);
  ASSERT_EQ(line, piece.substr(0, 80));
  source.push(piece);
  ASSERT_EQ(source.next(line), Reader::Item::kEnd);
  source.push("rest\nb\n");
  ASSERT_EQ(source.next(line), Reader::Item::kLine);
  EXPECT_EQ(line, "b");
  EXPECT_EQ(source.line(), 3U);
}

ClientProgram make_program(const BlockLimits& limits, std::string& said) {
  emit::ProgramOptions options;
  options.session.is_client = true;
  return {options, NameSpace("c1", ""), limits,
          [&said](std::string_view text) { said += text; }};
}

TEST(ClientProgram, BlocksKeepToTheirLimits) {
  std::string said;
  ClientProgram program = make_program({1'000'000, 2000}, said);
  std::string text = "x = ones f32[1000,1000]\n";
  for (int i = 0; i < 300; ++i) text += "x = add x 1\ny = add x no\n";
  program.begin_input("p.gt", false, 0);
  program.push(text);
  program.end_input();
  program.end();
  size_t blocks = 0;
  size_t lines = 0;
  while (!program.is_over()) {
    program.work();
    if (!program.has_block()) continue;
    const Block block = program.take_block();
    ++blocks;
    const auto here = std::count(block.text.begin(), block.text.end(), '\n');
    lines += static_cast<size_t>(here);
    EXPECT_LE(block.text.size(), 2000U);
    // An add of a million takes 0.8 ms, so no three of them fit into one block.
    EXPECT_LE(block.cost, 2'700'000U);
  }
  EXPECT_EQ(lines, 601U);
  EXPECT_GT(blocks, 100U);
  std::string end;
  EXPECT_EQ(program.finish(end), Exit::kRejected);  // "no"
  EXPECT_EQ(end, "free c1/x c1/y\n");
}

// The names that are freed at the end are those that were bound, wherever the
// client breaks off.
TEST(ClientProgram, NamesOfADroppedProgramAreFreed) {
  const std::string text =
      "mesh d=2\na = ones f32[4]\nb@0-1 = ones f32[4] split=d:0\nc = add a a\n"
      "free a\nl = sum c\ng = grad l c\nprint g\nb@0 = full f32[2] 3\n"
      "q = add nobody 1\nendmesh\nc = exp c\n";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    for (size_t taken = 0; taken < 12; ++taken) {
      std::string said;
      ClientProgram program = make_program({UINT64_MAX, 60}, said);
      program.begin_input("p.gt", false, 0);
      program.push(std::string_view(text).substr(0, cut));
      program.work();
      std::string sent;
      for (size_t i = 0; i < taken && program.has_block(); ++i) {
        sent += program.take_block().text;
        program.work();
      }
      program.drop();
      while (program.has_block()) sent += program.take_block().text;
      ASSERT_TRUE(program.is_over());
      program.finish(sent);
      // The whole is a program without errors that leaves no name.
      emit::EmitOptions options;
      std::string errors;
      emit::Session session(options, [&](std::string_view e) { errors += e; });
      const uint32_t file = session.add_file("s", false);
      session.set_emitted(true);
      std::string out;
      for (size_t at = 0; at < sent.size();) {
        const size_t lf = sent.find('\n', at);
        session.feed(std::string_view(sent).substr(at, lf - at),
                     Origin(file, 1), out);
        at = lf + 1;
      }
      ASSERT_EQ(errors, "") << sent;
      std::string rest;
      session.let_go(rest);
      ASSERT_EQ(rest, "") << sent;
    }
  }
}

std::string message(net::Verb verb, std::string_view body = {}) {
  net::MessageWriter writer(verb);
  if (verb == net::Verb::kInput) writer.field("name", "p.gt").field("at", "0");
  return writer.finish(body);
}

// A multiplexer, and what it has said to its only client.
class MultiplexerTest : public testing::Test {
 protected:
  void take(const std::string& text, ClientId client = 1) {
    const auto parsed = net::parse_message(text);
    ASSERT_TRUE(parsed.ok() && multiplexer_.take(client, parsed.value()).ok());
  }
  // Does all work at once; each print gives a line of that many bytes.
  void run(size_t bytes) {
    std::string out;
    while (multiplexer_.work() || multiplexer_.next_block(out, ++now_)) {
    }
    for (std::string_view rest = out; !rest.empty();) {
      const size_t lf = rest.find('\n');
      const std::string line(rest.substr(0, lf));
      rest.remove_prefix(lf + 1);
      if (line.starts_with("#sync ")) multiplexer_.take_back(line, ++now_);
      if (!line.starts_with("print ")) continue;
      multiplexer_.take_back("c1/x = tensor f32[1] " + std::string(bytes, '0'),
                             ++now_);
    }
  }

  size_t sent_ = 0;  // bytes
  std::string last_;
  bool is_over_ = false;
  int64_t now_ = 0;
  bool has_parted_ = false;
  DiskThreads disk_;
  Multiplexer multiplexer_{
      {},
      disk_,
      {.send =
           [this](ClientId, const std::string& text) {
             sent_ += text.size();
             last_ = text;
           },
       .bye = [this](ClientId, Exit) { is_over_ = true; },
       .part = [this](ClientId, Exit) { has_parted_ = true; },
       .begin_long_work = {},
       .is_late = [this] { return looks_++ >= looks_in_time_; }}};
  size_t looks_ = 0, looks_in_time_ = SIZE_MAX;
};

// Such mistakes make no block, so nothing else ends the checking of them.
TEST_F(MultiplexerTest, ChecksNoMoreOnceItIsLateAndGoesOnWithTheNextClient) {
  std::string mistakes;
  for (int i = 0; i < 10000; ++i) mistakes += "free z\n";
  for (const ClientId client : {1, 2}) {
    multiplexer_.come(client, ClientHello());
    take(message(net::Verb::kInput), client);
    take(message(net::Verb::kText, mistakes), client);
  }
  looks_in_time_ = 2;  // for one piece of one client's lines
  std::map<ClientId, uint64_t> before;
  for (const ClientId turn : {1, 2, 1, 2}) {
    looks_ = 0;
    EXPECT_TRUE(multiplexer_.work());
    multiplexer_.each_room([&](ClientId client, uint64_t bytes) {
      EXPECT_EQ(bytes > before[client], client == turn) << client;
      before[client] = bytes;
    });
  }
  EXPECT_LT(before[1], mistakes.size());
  looks_in_time_ = SIZE_MAX;
  while (multiplexer_.work()) {
  }
  multiplexer_.each_room(
      [&](ClientId, uint64_t bytes) { EXPECT_EQ(bytes, mistakes.size()); });
}

TEST_F(MultiplexerTest, AClientIsForgottenOnceItHasAllOrIsGone) {
  for (const bool reads : {true, false}) {
    is_over_ = false;
    sent_ = 0;
    ClientHello hello;
    hello.user = "ann";
    multiplexer_.come(1, hello);
    take(message(net::Verb::kInput));
    take(message(net::Verb::kText, "x = ones f32[1]\nprint x\nprint x\n"));
    take(message(net::Verb::kEnd));
    run(size_t{3} << 20);  // more than is sent before it is read
    EXPECT_EQ(multiplexer_.clients(), 1U);
    EXPECT_GE(sent_, size_t{4} << 20);
    EXPECT_FALSE(is_over_);
    if (reads) {
      take(net::MessageWriter(net::Verb::kTaken)
               .field("bytes", uint64_t{4} << 20)
               .field("reports", uint64_t{0})
               .finish());
      EXPECT_TRUE(is_over_);
    } else {
      multiplexer_.leave(1);
      EXPECT_FALSE(is_over_);
    }
    EXPECT_EQ(multiplexer_.clients(), 0U);
  }
}

}  // namespace
}  // namespace gt::serve

// The program that lends files and the one that borrows, without sockets
// between them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/hash.h"
#include "file/partial.h"
#include "file/stored.h"
#include "net/file_message.h"
#include "net/file_talk.h"
#include "serve/file_server.h"

namespace gt::serve {
namespace {

namespace fs = std::filesystem;
using net::Frame;
using net::MessageWriter;
using net::Verb;

class FileServerTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gt-files-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    fs::create_directories(folder_ + "/ann");
    fs::create_directories(folder_ + "/bob");
    file_server_ = std::make_unique<FileServer>(
        FileServerOptions{.lender = {.files = folder_, .quota = 1000}},
        threads_, 0);
  }
  void TearDown() override {
    file_server_.reset();
    fs::remove_all(folder_);
  }

  void say(const std::string& peer, const std::string& message) {
    file_server_->receive(peer, Frame(message), now_, "");
  }
  void greet(const std::string& peer, const std::string& user) {
    say(peer, MessageWriter(Verb::kHello)
                  .field("version", uint64_t{net::kWireVersion})
                  .field("files", uint64_t{1})
                  .field("user", user)
                  .finish());
  }
  // The next message, after waiting for the server's threads; "" if there is
  // none.
  std::string answer() {
    net::ListenerState::Outgoing out;
    for (int i = 0; i < 2000 && !file_server_->next(out); ++i) {
      const bool was_busy = threads_.busy() > 0;
      file_server_->tick(now_, true);
      if (file_server_->next(out)) break;
      if (!was_busy) return "";
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return std::string(out.frame.bytes());
  }
  std::string put(const std::string& path, uint64_t size, bool anew = false) {
    MessageWriter put(Verb::kPut);
    put.field("path", path).field("id", "one").field("whole", size);
    if (anew) put.field("anew", uint64_t{1});
    return put.finish();
  }
  static std::string piece(uint64_t offset, const std::string& bytes,
                           uint64_t digest) {
    return MessageWriter(Verb::kPiece)
        .field("offset", offset)
        .field("digest", digest_text(digest))
        .finish(bytes);
  }
  // A piece that follows the bytes `before`.
  static std::string piece(uint64_t offset, const std::string& bytes,
                           const std::string& before = "") {
    return piece(offset, bytes, hash_bytes(before + bytes));
  }
  static std::string end(const std::string& whole,
                         const std::string& over = "") {
    MessageWriter end(Verb::kEnd);
    end.field("digest", digest_text(hash_bytes(whole)));
    if (!over.empty()) end.field("over", over);
    return end.finish();
  }
  static std::string get(const std::string& path, uint64_t offset,
                         uint64_t bytes, const std::string& ticket = "") {
    MessageWriter get(Verb::kGet);
    get.field("path", path).field("offset", offset).field("bytes", bytes);
    if (!ticket.empty()) get.field("ticket", ticket);
    return get.finish();
  }
  static std::string field(const std::string& message, const char* key) {
    const auto parsed = net::parse_message(message);
    return parsed.ok() ? parsed.value().text(key) : "";
  }
  std::string read(const std::string& path) {
    std::ifstream file(folder_ + "/" + path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void store(const std::string& peer, const std::string& path,
             const std::string& bytes) {
    say(peer, put(path, bytes.size(), true));
    ASSERT_TRUE(answer().starts_with("kept bytes=0"));
    say(peer, piece(0, bytes));
    ASSERT_TRUE(answer().starts_with("kept"));
    say(peer, end(bytes));
    ASSERT_TRUE(answer().starts_with("done"));
  }

  std::string folder_;
  DiskThreads threads_;
  std::unique_ptr<FileServer> file_server_;
  int64_t now_ = 0;
};

TEST_F(FileServerTest, AFileIsForgottenByItsUserAlone) {
  greet("p", "ann");
  (void)answer();
  store("p", "a/x", "abc");
  const auto forget = [&](const std::string& path) {
    say("p", MessageWriter(Verb::kForget).field("path", path).finish());
    return answer();
  };
  std::ofstream(folder_ + "/bob/x") << "his";
  for (const char* path : {"../bob/x", "/etc/passwd", "a", "b/x", ""}) {
    EXPECT_TRUE(forget(path).starts_with("report")) << path;
  }
  EXPECT_EQ(field(forget("a/y"), "missing"), "1");
  EXPECT_EQ(forget("a/x"), "done size=0\n");
  EXPECT_FALSE(fs::exists(folder_ + "/ann/a/x"));
  EXPECT_EQ(field(forget("a/x"), "missing"), "1");
  EXPECT_EQ(read("bob/x"), "his");
}

TEST_F(FileServerTest, AnUploadGoesOnWhereItStoodAndTakesItsNameInTheEnd) {
  greet("p", "ann");
  EXPECT_TRUE(answer().starts_with("welcome"));
  say("p", put("a/x", 6));
  EXPECT_TRUE(answer().starts_with("kept bytes=0"));
  say("p", piece(0, "abc"));
  EXPECT_TRUE(answer().starts_with("kept bytes=3"));
  file_server_->link_ended("p");
  EXPECT_FALSE(file_server_->knows("p"));
  greet("q", "ann");
  (void)answer();
  say("q", put("a/x", 6));
  const std::string kept = answer();
  EXPECT_EQ(field(kept, "bytes"), "3");
  EXPECT_EQ(field(kept, "digest"), digest_text(hash_bytes("abc")));
  say("q", piece(3, "def", "abc"));
  (void)answer();
  EXPECT_FALSE(fs::exists(folder_ + "/ann/a/x"));
  say("q", end("abcdef"));
  const std::string done = answer();
  EXPECT_TRUE(done.starts_with("done whole=6")) << done;
  EXPECT_EQ(read("ann/a/x"), "abcdef");
  // A file that replaces another one may say which one that is.
  say("q", put("a/x", 1));
  (void)answer();
  say("q", piece(0, "z"));
  (void)answer();
  say("q", end("z", "none"));
  EXPECT_TRUE(answer().find("overtaken=1") != std::string::npos);
  EXPECT_EQ(read("ann/a/x"), "abcdef");
}

TEST_F(FileServerTest, BytesThatWereChangedAreNotTaken) {
  greet("p", "ann");
  (void)answer();
  say("p", put("x", 3));
  (void)answer();
  say("p", piece(0, "abd", hash_bytes(std::string("abc"))));
  EXPECT_TRUE(answer().starts_with("bye"));
  EXPECT_FALSE(file_server_->knows("p"));
  greet("p", "ann");
  (void)answer();
  say("p", put("x", 3));
  EXPECT_TRUE(answer().starts_with("kept bytes=0"));
  say("p", piece(0, "abd"));
  (void)answer();
  say("p", end("abc"));
  EXPECT_TRUE(answer().starts_with("report"));
  EXPECT_TRUE(fs::is_empty(folder_ + "/ann"));
}

TEST_F(FileServerTest, ANewConnectionOfAnUploadTakesItOver) {
  greet("p", "ann");
  (void)answer();
  say("p", put("x", 6));
  (void)answer();
  say("p", piece(0, "abc"));
  (void)answer();
  greet("q", "ann");
  (void)answer();
  say("q", put("x", 6));
  EXPECT_TRUE(answer().starts_with("kept bytes=3"));
  say("p", piece(3, "xyz", "abc"));
  EXPECT_TRUE(answer().starts_with("report"));
  say("q", piece(3, "def", "abc"));
  (void)answer();
  say("q", end("abcdef"));
  EXPECT_TRUE(answer().starts_with("done"));
  EXPECT_EQ(read("ann/x"), "abcdef");
}

TEST_F(FileServerTest, ABorrowerThatDoesNotReadGetsNoMore) {
  greet("p", "ann");
  (void)answer();
  store("p", "x", std::string(100, 'x'));
  say("p", get("x", 0, 0));
  EXPECT_EQ(field(answer(), "whole"), "100");
  std::vector<std::string> tickets;
  for (size_t i = 0; i < net::kMostAsked; ++i) {
    say("p", get("x", i, 1));
    tickets.push_back(field(answer(), "ticket"));
  }
  say("p", get("x", 50, 1, tickets[0]));
  EXPECT_TRUE(answer().starts_with("data"));
  // Tickets may not be used in another order than they were given.
  say("p", get("x", 51, 1, tickets[3]));
  EXPECT_TRUE(answer().starts_with("bye"));
  greet("q", "ann");
  (void)answer();
  for (size_t i = 0; i < net::kMostAsked; ++i) {
    say("q", get("x", i, 1));
    (void)answer();
  }
  say("q", get("x", 50, 1));
  EXPECT_TRUE(answer().starts_with("bye"));
}

TEST_F(FileServerTest, TheQuotaCountsWhatIsThereAndWhatIsUnderWay) {
  greet("p", "ann");
  greet("q", "ann");
  (void)answer();
  (void)answer();
  store("p", "x", std::string(400, 'x'));
  say("p", put("y", 500));
  EXPECT_TRUE(answer().starts_with("kept"));
  say("q", put("z", 200));
  EXPECT_TRUE(answer().starts_with("report"));
  say("q", put("x", 500, true));  // replaces its 400 bytes
  EXPECT_TRUE(answer().starts_with("kept"));
}

TEST_F(FileServerTest, WorkersReachAllUsersAndNobodyElseDoes) {
  greet("p", "ann");
  (void)answer();
  store("p", "x", "abc");
  for (const char* path : {"../bob/x", "/etc/passwd", "", "a/../../bob/x"}) {
    say("p", get(path, 0, 0));
    EXPECT_TRUE(answer().starts_with("report")) << path;
    say("p", put(path, 1));
    EXPECT_TRUE(answer().starts_with("report")) << path;
  }
  say("w", MessageWriter(Verb::kHello)
               .field("version", uint64_t{net::kWireVersion})
               .field("files", uint64_t{1})
               .field("worker", uint64_t{1})
               .finish());
  EXPECT_TRUE(answer().starts_with("welcome"));
  say("w", get("ann/x", 0, 0));
  EXPECT_EQ(field(answer(), "whole"), "3");
  store("w", "bob/y", "def");
  EXPECT_EQ(read("bob/y"), "def");
  for (const char* path : {"x", "../x", "ann/../../x", "./x/y", "zoe/x"}) {
    say("w", get(path, 0, 0));
    EXPECT_TRUE(answer().starts_with("report")) << path;
  }
  greet("n", "nobody");
  EXPECT_TRUE(answer().starts_with("refuse"));
}

TEST_F(FileServerTest, WithKeysTheListSaysWhichUserItIs) {
  file_server_->set_users({{"k1", {"ann", false}}, {"k2", {"", true}}});
  const std::string worker = MessageWriter(Verb::kHello)
                                 .field("version", uint64_t{net::kWireVersion})
                                 .field("files", uint64_t{1})
                                 .field("worker", uint64_t{1})
                                 .finish();
  file_server_->receive("p", Frame(worker), 0, "k1");
  EXPECT_TRUE(answer().starts_with("refuse"));
  file_server_->receive("w", Frame(worker), 0, "k2");
  EXPECT_TRUE(answer().starts_with("welcome"));
  file_server_->set_users({{"k2", {"", false}}});
  EXPECT_TRUE(answer().starts_with("refuse"));
  EXPECT_FALSE(file_server_->knows("w"));
}

TEST_F(FileServerTest, ABorrowerThatAsksNothingForLongIsLetGo) {
  greet("p", "ann");
  (void)answer();
  now_ = 59'000;
  file_server_->tick(now_, true);
  EXPECT_TRUE(file_server_->knows("p"));
  now_ = 61'000;
  file_server_->tick(now_, true);
  EXPECT_FALSE(file_server_->knows("p"));
}

TEST(Partial, OneWriterAndNoStrangers) {
  char name[] = "/tmp/gt-partial-XXXXXX";
  ASSERT_NE(::mkdtemp(name), nullptr);
  const std::string folder = name;
  const Files files = Files::make({folder}).value();
  const auto open = [&](const std::string& word) {
    auto target = files.target(folder + "/x");
    auto part = Partial::open(std::move(target.value()), word);
    return std::move(part.value());
  };
  {
    const auto first = open("one");
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(open("one"), nullptr);
    // Another version may come at the same time, and does not remove the first.
    EXPECT_NE(open("two"), nullptr);
    EXPECT_TRUE(fs::exists(folder + "/.x.one.gt-part"));
  }
  // Now nobody writes the first one, so it is removed.
  const auto two = open("two");
  EXPECT_FALSE(fs::exists(folder + "/.x.one.gt-part"));
  ASSERT_TRUE(two->flush().ok());
  ASSERT_TRUE(two->take_place().ok());
  EXPECT_TRUE(fs::exists(folder + "/x"));
  fs::remove_all(folder);
}

TEST(FileTalk, SilenceCountsWhileAnAnswerIsOwed) {
  net::BorrowerIdentity me;
  me.endpoint = "tcp://h:1";
  net::FileTalk talk(me, 0);
  talk.link_up(0);
  Frame out;
  ASSERT_TRUE(talk.next(out));
  EXPECT_TRUE(std::string(out.bytes()).starts_with("hello version="));
  talk.ask(Frame("get"), 0);
  EXPECT_FALSE(talk.next(out));  // not before the welcome
  talk.receive(Frame(MessageWriter(Verb::kWelcome).finish()), 0);
  ASSERT_TRUE(talk.next(out));
  for (int64_t now = 500; now <= 1000; now += 500) talk.tick(now, true);
  EXPECT_EQ(talk.over(), net::FileTalk::Over::kNot);
  talk.receive(Frame(MessageWriter(Verb::kBeat).finish()), 1000);
  for (int64_t now = 1500; now <= 2500; now += 500) talk.tick(now, true);
  EXPECT_EQ(talk.over(), net::FileTalk::Over::kLink);
}

TEST(FileTalk, AnAnswerThatNobodyAskedForIsTheEnd) {
  net::BorrowerIdentity me;
  net::FileTalk talk(me, 0);
  talk.link_up(0);
  talk.receive(Frame(MessageWriter(Verb::kWelcome).finish()), 0);
  talk.receive(Frame(MessageWriter(Verb::kKept).finish()), 0);
  EXPECT_EQ(talk.over(), net::FileTalk::Over::kRefused);
}

TEST(RemotePath, PathsOfElsewhereKeepTheirPlace) {
  EXPECT_EQ(normal_path("tcp://h:1/ann//a/./x.npy"), "tcp://h:1/ann/a/x.npy");
  EXPECT_EQ(normal_path("tcp://h:1/ann/m.safetensors:w"),
            "tcp://h:1/ann/m.safetensors:w");
  EXPECT_EQ(split_path("tcp://a.safetensors:1/ann/x.npy").tensor, "");
  EXPECT_EQ(split_path("tcp://a.safetensors:1/m.safetensors:w").tensor, "w");
  EXPECT_EQ(path_of_rank("tcp://h.a:1/ann/w.npy", "2"),
            "tcp://h.a:1/ann/w@2.npy");
  EXPECT_EQ(split_remote("tcp://h:1/ann/x").path, "ann/x");
  EXPECT_EQ(split_remote("tcp://h:1").path, "");
}

}  // namespace
}  // namespace gt::serve

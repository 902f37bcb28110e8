// The parts of which an exchange is made: messages, regions, the table of
// ranks, and shared memory.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "exec/comm/message.h"
#include "exec/comm/runs.h"
#include "exec/decode/hosting.h"
#include "exec/memory/arena.h"
#include "exec/memory/host_device.h"

namespace gt::exec {
namespace {

using comm::parse_peer_message;
using comm::PeerMessage;
using comm::Runs;

const char* const kMessages[] = {
    "hello 12 7 4096 00112233445566778899aabbccddeeff - - 0\n",
    "hello 0 0 0 00112233445566778899aabbccddeeff nccl-2.28.9 66616b65 1\n",
    "hello 0 0 0 00112233445566778899aabbccddeeff - - 0\nno NCCL here",
    "take 1 2 0\n3 0,4 2,2\n5 - -\n",
    "link 00ff\n",
    "linked\n",
    "unlinked\nwhy it was",
    "split\n0,1;2,3\n",
    "leaving\n",
    "ready 1 2 0 3 f32[4,4] 4096\n",
    "ready 18446744073709551615 0 1 0 bf16[] -\n",
    "fail 1 2 0 3\nwhat it was\nin two lines",
    "released 1 2 0 3\n",
    "get 9 1 2 0 3 0 64 0,4 2,2\n",
    "get 9 1 2 0 3 0 4 - -\n",
    "data 9\n\x01\x02\n",
    "nodata 9\nthe device is lost",
    "ask\n",
    "here\n",
};

TEST(CommMessage, ReadsWhatItWrites) {
  for (const std::string text : kMessages) {
    const auto message = parse_peer_message(text);
    ASSERT_TRUE(message.ok()) << text;
    EXPECT_EQ(comm::to_text(message.value()), text);
  }
}

TEST(CommMessage, RefusesTheRest) {
  for (const std::string text :
       {"",
        "ask",
        "ask \n",
        "ask 1\n",
        "ask\nx",
        "asks\n",
        "hello 1 2 3\n",
        "hello 1 2 3 00\n",
        "ready 1 2 0 -1 f32[] 0\n",
        "ready 1 2 0 3 f32[-1] 0\n",
        "ready 1 2 0 3 f32[] 0x0\n",
        "ready 1 2 0 3 f32[] 18446744073709551615\n",
        "ready 1 2 0 4294967296 f32[] 0\n",
        "released 1  2 0 3\n",
        "get 9 1 2 0 3 0 64 -1 2\n",
        "get 9 1 2 0 3 0 64 1,1,1,1,1,1,1,1,1 2\n",
        "hello 1 2 3 00112233445566778899aabbccddeeff\n",
        "hello 1 2 3 00112233445566778899aabbccddeeff -\n",
        "hello 1 2 3 00112233445566778899aabbccddeeff - -\n",
        "hello 1 2 3 00112233445566778899aabbccddeeff - - 2\n",
        "link\n",
        "link -\n",
        "take 1 2\n",
        "linked 1\n",
        "data x\n",
        "released 1 2 0 3\nx"}) {
    EXPECT_FALSE(parse_peer_message(text).ok()) << text;
  }
  EXPECT_FALSE(parse_peer_message(std::string(5000, 'a') + "\n").ok());
}

TEST(CommMessage, ReadsTheRegionsThatAreTaken) {
  const std::string text = "3 0,4 2,2\n5 - -\n";
  for (const bool sums : {false, true}) {
    const auto taken =
        comm::parse_taken((sums ? std::string(comm::kTakenSum) : "") + text);
    ASSERT_TRUE(taken.ok());
    EXPECT_EQ(taken.value().sums, sums);
    std::string again;
    for (const auto& region : taken.value().regions) {
      again += comm::to_text(region);
    }
    EXPECT_EQ(again, text);
  }
  EXPECT_TRUE(comm::parse_taken("").value().regions.empty());
  for (const char* wrong : {"3 0,4 2,2", "x 0 1\n", "3 0\n", "3 0 1 2\n", "\n",
                            "3 0 1\n\n", "-1 0 1\n", "sum", "3 0 1\nsum\n"}) {
    EXPECT_FALSE(comm::parse_taken(wrong).ok()) << wrong;
  }
}

// Whatever can be read is written the same, and nothing crashes.
TEST(CommMessage, SurvivesBytesThatChange) {
  std::mt19937 random(7);
  size_t read = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text = kMessages[random() % std::size(kMessages)];
    for (auto n = random() % 3 + 1; n > 0 && !text.empty(); --n) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1);
          break;
        default:
          text.insert(at, 1, "0123456789 -\n"[random() % 13]);
      }
    }
    const auto message = parse_peer_message(text);
    if (!message.ok()) continue;
    ++read;
    const std::string again = comm::to_text(message.value());
    const auto same = parse_peer_message(again);
    ASSERT_TRUE(same.ok()) << again;
    EXPECT_EQ(comm::to_text(same.value()), again);
  }
  EXPECT_GT(read, 1000U);
}

// Every region of small values is compared with moving one element at a time.
TEST(CommRuns, PackWhatARegionHolds) {
  HostDevice device(nullptr);
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{3, 4}, Shape{2, 3, 4},
                             Shape{3, 1, 2}, Shape{0, 3}}) {
    const Type type{Dtype::kI32, shape};
    std::vector<int32_t> values(static_cast<size_t>(type.elements()));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<int32_t>(i);
    }
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
      Shape start, count;
      for (const int64_t size : shape) {
        start.push_back(static_cast<int64_t>(random() % (size + 1)));
        count.push_back(
            static_cast<int64_t>(random() % (size - start.back() + 1)));
      }
      ASSERT_TRUE(Runs::fits(type, start, count));
      std::vector<int32_t> wanted;
      for (size_t i = 0; i < values.size(); ++i) {
        bool within = true;
        auto rest = static_cast<int64_t>(i);
        for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
          const int64_t at = rest % shape[d];
          within = within && at >= start[d] && at < start[d] + count[d];
        }
        if (within) wanted.push_back(values[i]);
      }
      const Runs runs(type, start, count);
      ASSERT_EQ(runs.bytes(), wanted.size() * sizeof(int32_t));
      std::vector<int32_t> got(wanted.size());
      for (size_t first = 0; first < runs.bytes(); first += 6) {
        ASSERT_TRUE(runs.download(values.data(), first,
                                  std::min<size_t>(6, runs.bytes() - first),
                                  reinterpret_cast<char*>(got.data()) + first,
                                  device)
                        .ok());
      }
      EXPECT_EQ(got, wanted);
      if (runs.is_contiguous() && !wanted.empty()) {
        EXPECT_EQ(
            std::memcmp(reinterpret_cast<char*>(values.data()) + runs.offset(),
                        wanted.data(), runs.bytes()),
            0);
      }
    }
  }
  const Type type{Dtype::kF32, {3, 4}};
  EXPECT_FALSE(Runs::fits(type, {0}, {1}));
  EXPECT_FALSE(Runs::fits(type, {0, -1}, {1, 1}));
  EXPECT_FALSE(Runs::fits(type, {0, 4}, {1, 1}));
  EXPECT_FALSE(Runs::fits(type, {1, 0}, {INT64_MAX, 1}));
}

TEST(Hosting, SaysWhoPlaysARank) {
  Hosting hosting(1, 3);
  const auto take = [&hosting](const std::string& words) {
    const auto ranks = net::parse_ranks_line("#ranks " + words);
    return ranks.ok() && hosting.take(ranks.value()).ok();
  };
  EXPECT_FALSE(hosting.worker_of("x", 0).has_value());
  ASSERT_TRUE(take("- 0-3=1 4=2"));
  ASSERT_TRUE(take("c1 0=2"));
  EXPECT_EQ(hosting.worker_of("x", 3), 1U);
  EXPECT_EQ(hosting.worker_of("act/x", 4), 2U);
  EXPECT_EQ(hosting.worker_of("c1/x", 0), 2U);
  EXPECT_FALSE(hosting.worker_of("c1/x", 1).has_value());
  EXPECT_TRUE(hosting.is_mine("x", 0));
  const uint64_t version = hosting.version();
  ASSERT_TRUE(take("- 0=1"));
  EXPECT_EQ(hosting.version(), version);
  ASSERT_TRUE(take("- 0=0"));
  EXPECT_NE(hosting.version(), version);
  for (const char* text : {"", "- x", "- 0", "- 0=3", "- 3-1=0", "- -1=0",
                           "- 0-65536=0", "- 0-=1", "- 1=", "- 2=1 =1"}) {
    EXPECT_FALSE(take(text)) << text;
  }
  EXPECT_EQ(hosting.worker_of("x", 2), 1U);  // as before
}

TEST(ArenaMemory, OthersReadWhatIsWritten) {
  auto made = Arena::make(size_t{64} << 20);
  ASSERT_TRUE(made.ok());
  Arena& arena = *made.value();
  const auto mapped = MappedArena::map(static_cast<uint64_t>(::getpid()),
                                       static_cast<uint64_t>(arena.fd()),
                                       arena.size(), arena.token());
  ASSERT_TRUE(mapped.ok()) << mapped.error().message;
  void* data = arena.allocate(100);
  std::memcpy(data, "hello", 6);
  const auto at = arena.offset_of(data);
  ASSERT_TRUE(at.has_value());
  EXPECT_STREQ(static_cast<const char*>(mapped.value()->at(*at, 6)), "hello");
  EXPECT_EQ(mapped.value()->at(arena.size(), 1), nullptr);
  EXPECT_EQ(mapped.value()->at(arena.size() - 1, 2), nullptr);
  EXPECT_EQ(mapped.value()->at(UINT64_MAX, 2), nullptr);
  int local = 0;
  EXPECT_FALSE(arena.offset_of(&local).has_value());
}

TEST(ArenaMemory, IsNotBelievedWithoutItsTokenAndSize) {
  auto made = Arena::make(size_t{64} << 20);
  ASSERT_TRUE(made.ok());
  Arena& arena = *made.value();
  const auto pid = static_cast<uint64_t>(::getpid());
  const auto fd = static_cast<uint64_t>(arena.fd());
  EXPECT_FALSE(MappedArena::map(pid, fd, arena.size(), ArenaToken{}).ok());
  EXPECT_FALSE(MappedArena::map(pid, fd, arena.size() / 2, arena.token()).ok());
  EXPECT_FALSE(MappedArena::map(pid, 9999, arena.size(), arena.token()).ok());
  EXPECT_FALSE(MappedArena::map(pid, 0, arena.size(), arena.token()).ok());
}

// Blocks never overlap, are aligned, and become one gap when they are freed.
TEST(ArenaMemory, GapsJoinAgain) {
  auto made = Arena::make(size_t{64} << 20);
  ASSERT_TRUE(made.ok());
  Arena& arena = *made.value();
  std::mt19937 random(5);
  struct Piece {
    char* data;
    size_t bytes;
    char mark;
  };
  std::vector<Piece> live;
  for (int i = 0; i < 3000; ++i) {
    if (live.size() < 40 && random() % 2 == 0) {
      const size_t bytes =
          random() % 3 == 0 ? random() % (5U << 20) : random() % 9000;
      auto* data = static_cast<char*>(arena.allocate(bytes));
      if (data == nullptr) continue;
      ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0U);
      const auto mark = static_cast<char>(i);
      if (bytes > 0) data[0] = data[bytes - 1] = mark;
      live.push_back({data, bytes, mark});
    } else if (!live.empty()) {
      const size_t k = random() % live.size();
      const Piece piece = live[k];
      if (piece.bytes > 0) {
        ASSERT_EQ(piece.data[0], piece.mark);
        ASSERT_EQ(piece.data[piece.bytes - 1], piece.mark);
      }
      arena.release(piece.data, piece.bytes);
      live.erase(live.begin() + static_cast<ptrdiff_t>(k));
    }
  }
  for (const Piece& piece : live) arena.release(piece.data, piece.bytes);
  const size_t all = arena.size() - (size_t{4} << 20);
  void* whole = arena.allocate(all);
  EXPECT_NE(whole, nullptr);
  EXPECT_EQ(arena.allocate(size_t{8} << 20), nullptr);
  arena.release(whole, all);
}

}  // namespace
}  // namespace gt::exec

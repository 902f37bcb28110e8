#include "exec/memory/pool.h"

#include <gtest/gtest.h>

#include <vector>

#include "exec/backend/null/null.h"
#include "exec/memory/host_device.h"

namespace gt::exec {
namespace {

class PoolTest : public ::testing::Test, public Pool::Owner {
 protected:
  void release_later(std::unique_ptr<Value> /*value*/, size_t bytes) override {
    released += bytes;
  }
  void drain() override { ++drains; }
  void forget(const Value& value) override { forgotten.push_back(&value); }

  std::vector<const Value*> forgotten;
  std::unique_ptr<Backend> backend = make_null_backend({});
  size_t released = 0;
  int drains = 0;
};

TEST(SizeClass, HoldsWhatItIsFor) {
  for (size_t bytes = 0; bytes < 10'000; ++bytes) {
    ASSERT_GE(class_bytes(size_class_of(bytes)), bytes);
  }
  for (size_t n = 6; n <= 60; ++n) {
    const size_t bytes = size_t{1} << n;
    EXPECT_EQ(class_bytes(size_class_of(bytes)), bytes);
    if (n < 11) continue;
    const size_t more = class_bytes(size_class_of(bytes + 1));
    EXPECT_LE(more - bytes, bytes / 8);
    EXPECT_EQ(size_class_of(bytes + 1), size_class_of(bytes) + 1);
  }
}

TEST_F(PoolTest, AReleasedBufferIsTheNextOne) {
  Pool pool(backend->device(), *this, 0);
  for (const size_t bytes : {64, 1000, 100'000}) {
    const uint32_t c = size_class_of(bytes);
    Buffer* first = pool.allocate(c);
    Buffer* second = pool.allocate(c);
    ASSERT_NE(first, second);
    EXPECT_NE(first->value, second->value);
    Pool::retain(first);
    Pool::retain(first);
    pool.drop(first);
    EXPECT_NE(pool.allocate(c), first);
    pool.drop(first);
    EXPECT_EQ(pool.allocate(c), first);
  }
}

TEST_F(PoolTest, ADeviceThatPutsWorkOffIsToldWhatIsFree) {
  class PutsOff final : public Device {
   public:
    bool puts_off() const override { return true; }
    void* allocate(size_t bytes) override { return heap_.allocate(bytes); }
    void release(void* data, size_t bytes) override {
      heap_.release(data, bytes);
    }
    Status upload(const void* host, void* data, size_t bytes) override {
      return heap_.upload(host, data, bytes);
    }
    Status download(const void* data, void* host, size_t bytes) override {
      return heap_.download(data, host, bytes);
    }
    Status copy(const void* from, void* to, size_t bytes) override {
      return heap_.copy(from, to, bytes);
    }

   private:
    HostDevice heap_{nullptr};
  } device;
  const uint32_t c = size_class_of(1000);
  Pool pool(device, *this, 0);
  Buffer* buffer = pool.allocate(c);
  Pool::retain(buffer);
  Pool::retain(buffer);
  pool.drop(buffer);
  EXPECT_TRUE(forgotten.empty());
  pool.drop(buffer);
  EXPECT_EQ(forgotten, std::vector<const Value*>{buffer->value});
  // Other devices need not be told.
  Pool silent(backend->device(), *this, 0);
  silent.release(silent.allocate(c));
  EXPECT_EQ(forgotten.size(), 1);
}

// A round that begins with the same buffers in use gets the same ones, in
// whatever order the round before released them.
TEST_F(PoolTest, TheFirstOfTheFreeBuffersIsHandedOut) {
  for (const size_t bytes : {64, 1000, 100'000}) {
    Pool pool(backend->device(), *this, 0);
    const uint32_t c = size_class_of(bytes);
    std::vector<Buffer*> first;
    for (int i = 0; i < 5000; ++i) first.push_back(pool.allocate(c));
    for (size_t i = 0; i < first.size(); ++i) {
      pool.release(first[i * 1237 % first.size()]);
    }
    std::vector<Buffer*> again;
    for (int i = 0; i < 5000; ++i) again.push_back(pool.allocate(c));
    EXPECT_EQ(again, first);
    pool.release(first[4100]);
    pool.release(first[70]);
    EXPECT_EQ(pool.allocate(c), first[70]);
    EXPECT_EQ(pool.allocate(c), first[4100]);
  }
}

// At the beginning of a round little memory is used, and in its middle much.
TEST_F(PoolTest, ARoundThatComesAgainTakesNothingFromTheDevice) {
  Pool pool(backend->device(), *this, 0);
  const size_t mega = size_t{1} << 20;
  std::vector<const Value*> first;
  for (int round = 0; round < 100; ++round) {
    std::vector<Buffer*> used;
    std::vector<const Value*> values;
    for (size_t i = 0; i < 50; ++i) {
      Buffer* early = pool.allocate(size_class_of(100 * mega));
      used.push_back(pool.allocate(size_class_of((10 + i) * mega)));
      pool.release(early);
    }
    for (Buffer* buffer : used) values.push_back(buffer->value);
    for (Buffer* buffer : used) pool.release(buffer);
    if (round == 0) first = values;
    EXPECT_EQ(values, first);
  }
  EXPECT_EQ(released, 0);
}

TEST_F(PoolTest, WhatAProgramNeededLongAgoIsGivenBack) {
  Pool pool(backend->device(), *this, 0);
  const size_t mega = size_t{1} << 20;
  pool.release(pool.allocate(size_class_of(1000 * mega)));
  for (size_t i = 0; pool.held() >= 1000 * mega && i < 100'000; ++i) {
    pool.release(pool.allocate(size_class_of((1 + i % 400) * mega)));
  }
  EXPECT_LT(pool.held(), 1000 * mega);
  EXPECT_GE(pool.peak(), 1000 * mega);
}

TEST_F(PoolTest, TheLimitIsOnWhatIsUsed) {
  Pool pool(backend->device(), *this, 4096);
  const uint32_t c = size_class_of(1024);
  std::vector<Buffer*> buffers;
  for (int i = 0; i < 4; ++i) buffers.push_back(pool.allocate(c));
  for (const Buffer* buffer : buffers) EXPECT_NE(buffer, nullptr);
  EXPECT_EQ(pool.allocate(c), nullptr);
  EXPECT_EQ(pool.allocate(0), nullptr);
  pool.release(buffers.back());
  EXPECT_NE(pool.allocate(0), nullptr);
  EXPECT_EQ(pool.peak(), 4096U);
}

TEST_F(PoolTest, FreeMemoryMakesRoomUnderTheLimit) {
  const size_t block = size_t{1} << 20;
  Pool pool(backend->device(), *this, 4 * block);
  Buffer* great = pool.allocate(size_class_of(4 * block));
  ASSERT_NE(great, nullptr);
  pool.release(great);
  ASSERT_NE(pool.allocate(size_class_of(block)), nullptr);
  EXPECT_EQ(released, 4 * block);
  EXPECT_GE(drains, 1);
}

TEST_F(PoolTest, SizesThatComeOnceDoNotPileUp) {
  Pool pool(backend->device(), *this, 0);
  const size_t mega = size_t{1} << 20;
  size_t most = 0;
  for (size_t i = 0; i < 1000; ++i) {
    Buffer* buffer = pool.allocate(size_class_of(mega + i * mega / 4));
    pool.release(buffer);
    most = std::max(most, pool.held());
  }
  EXPECT_LT(most, pool.peak() * 2 + 128 * mega);
}

}  // namespace
}  // namespace gt::exec

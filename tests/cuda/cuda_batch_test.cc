// Runs of optimizers that are items of one launch: which runs may join, and
// that they have the bits of single launches.
#include "exec/backend/cuda/batch.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "exec/backend/cuda/source.h"
#include "exec/backend/element.h"
#include "kernels_grid.h"
#include "twin_backend.h"

namespace gt::exec::cuda {
namespace {

// A step over so many bytes, which reads w and g, writes w, and reads a rate.
Batch::Run run_at(uint64_t w, uint64_t g, uint64_t bytes) {
  constexpr uint64_t kRate = 0x100;
  Batch::Run run;
  run.kernel = 1;
  run.work.blocks = 3;
  run.work.args.in[0] = kRate;
  run.item.in = {w, g};
  run.item.out = {w};
  run.item.n = static_cast<int64_t>(bytes);
  run.reads = {{w, bytes}, {g, bytes}, {kRate, 4}};
  run.writes = {{w, bytes}};
  return run;
}

TEST(CudaBatch, JoinsWhatAgreesAndTouchesNothingOfTheOthers) {
  Batch batch;
  batch.add(run_at(0x1000, 0x2000, 0x100));
  EXPECT_TRUE(batch.joins(run_at(0x3000, 0x4000, 0x100)));
  EXPECT_TRUE(batch.joins(run_at(0x1100, 0x2000, 0x80)));  // g is that of both
  EXPECT_TRUE(batch.joins(run_at(0xf00, 0x2100, 0x100)));
  // These write what the other run reads or writes, or what both read.
  EXPECT_FALSE(batch.joins(run_at(0x2000, 0x4000, 0x100)));
  EXPECT_FALSE(batch.joins(run_at(0x10fc, 0x4000, 0x100)));
  EXPECT_FALSE(batch.joins(run_at(0x100, 0x4000, 4)));
  // This one reads what the other run writes.
  EXPECT_FALSE(batch.joins(run_at(0x3000, 0x1080, 0x10)));

  Batch::Run other = run_at(0x3000, 0x4000, 0x100);
  other.work.args.in[0] = 0x200;  // another rate
  EXPECT_FALSE(batch.joins(other));
  other = run_at(0x3000, 0x4000, 0x100);
  other.work.args.n[1] = 1;
  EXPECT_FALSE(batch.joins(other));
  other = run_at(0x3000, 0x4000, 0x100);
  other.kernel = 2;
  EXPECT_FALSE(batch.joins(other));
}

TEST(CudaBatch, IsOneLaunchOfAllItsRuns) {
  Batch batch;
  for (int turn = 0; turn < 2; ++turn) {
    for (uint64_t i = 0; i < kItems; ++i) {
      Batch::Run run = run_at((i + 1) << 20, (i + 101) << 20, 1 << 10);
      run.work.args.task = i;
      if (turn == 1) run.tell = run.work;
      if (i > 0) {
        EXPECT_TRUE(batch.joins(run));
      }
      batch.add(run);
      EXPECT_EQ(batch.checks(), turn == 1 ? i + 1 : 0);
    }
    EXPECT_FALSE(batch.joins(run_at(1000 << 20, 2000 << 20, 1)));
    batch.end_line();
    batch.end_line();
    bool is_given = false;
    batch.take(false, [&](std::span<const ReadyLaunch> launches, size_t lines) {
      is_given = true;
      EXPECT_EQ(lines, 2U);
      ASSERT_EQ(launches.size(), turn == 1 ? 2U : 1U);
      EXPECT_EQ(launches[0].blocks, static_cast<int64_t>(3 * kItems));
      EXPECT_EQ(launches[0].args.task, kItems - 1);
      const Items& items = *launches[0].items;
      EXPECT_EQ(items.count, static_cast<int64_t>(kItems));
      EXPECT_EQ(items.blocks, launches[0].blocks);
      EXPECT_EQ(items.item[kItems - 1].in[1], (kItems + 100) << 20);
    });
    EXPECT_TRUE(is_given);
    EXPECT_EQ(batch.size(), 0U);
    EXPECT_EQ(batch.checks(), 0U);
  }
}

// Parameters of all sizes are in one launch. Some lie where 16 bytes cannot be
// loaded at once, and some have fewer blocks than packs.
constexpr std::array<size_t, 8> kSizes = {5, 0, 1, 4096, 10007, 3, 2048, 255};
constexpr size_t kStride = 10240;  // elements of a parameter

struct Memory {
  std::vector<char> w, g, m, v;
};

template <typename Use>
void each_memory(Memory& memory, const Use& use) {
  for (auto* x : {&memory.w, &memory.g, &memory.m, &memory.v}) use(*x);
}

Memory memory_of(Dtype dtype) {
  Memory memory;
  uint64_t word = 1;
  each_memory(memory, [&](std::vector<char>& x) {
    x.resize(kSizes.size() * kStride * size_of(dtype));
    for (size_t i = 0; i < kSizes.size() * kStride; ++i) {
      store_real(dtype, x.data(), i,
                 static_cast<double>(philox::word(7, ++word) % 1000) / 999);
    }
  });
  return memory;
}

Item item_of(Memory& memory, size_t i, bool has_v, size_t element) {
  const auto at = [&](std::vector<char>& x) {
    const size_t shift = i % 3 == 2 ? element : 0;
    return reinterpret_cast<uint64_t>(x.data() + i * kStride * element + shift);
  };
  Item item;
  item.n = static_cast<int64_t>(kSizes[i]);
  item.in = {at(memory.w), at(memory.g), at(memory.m),
             has_v ? at(memory.v) : 0};
  item.out = {at(memory.w), at(memory.m), has_v ? at(memory.v) : 0};
  return item;
}

void check_bits(TwinKernels& kernels, Dtype dtype, const char* line, bool has_v,
                const std::array<uint64_t, 4>& in) {
  const std::string type = std::string(to_string(dtype)) + "[5]";
  Bound bound(line, parse_types("w " + type + " g " + type + " m " + type +
                                " v " + type + " t i64[] lr f32[]"));
  ASSERT_TRUE(bound.status().ok()) << bound.status().error().message;
  const auto plan = plan_of(bound.call());
  ASSERT_TRUE(plan.has_value());
  const auto& launch = std::get<Launch>(plan->steps[0]);
  const auto function = kernels.find(launch.source);
  Args args;
  std::copy(in.begin(), in.end(), args.in.begin());
  args.n = launch.n;
  uint64_t fault = ~uint64_t{0};
  args.fault = reinterpret_cast<uint64_t>(&fault);

  Memory alone = memory_of(dtype);
  const Memory before = alone;
  Items one;
  one.count = one.blocks = 1;
  for (size_t i = 0; i < kSizes.size(); ++i) {
    one.item[0] = item_of(alone, i, has_v, size_of(dtype));
    function(&args, &one);
  }
  EXPECT_NE(alone.w, before.w);
  EXPECT_EQ(alone.g, before.g);
  for (const int64_t blocks : {1, 2, 7, 64}) {
    Memory together = before;
    Items all;
    all.count = kSizes.size();
    all.blocks = blocks;
    for (size_t i = 0; i < kSizes.size(); ++i) {
      all.item[i] = item_of(together, i, has_v, size_of(dtype));
    }
    function(&args, &all);
    EXPECT_EQ(together.w, alone.w) << line << " in " << blocks;
    EXPECT_EQ(together.m, alone.m) << line << " in " << blocks;
    EXPECT_EQ(together.v, alone.v) << line << " in " << blocks;
  }
  EXPECT_EQ(fault, ~uint64_t{0});
}

TEST(CudaBatch, ItemsOfOneLaunchHaveTheBitsOfOneEach) {
  TwinKernels kernels;
  const int64_t t = 3;
  const float lr = 0.25F;
  const auto word = [](const void* x) { return reinterpret_cast<uint64_t>(x); };
  const auto bits = [](double x) { return std::bit_cast<uint64_t>(x); };
  for (const Dtype dtype :
       {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBf16}) {
    check_bits(kernels, dtype, "w m v = adamw w g m v t lr decay=0.5", true,
               {word(&t), word(&lr), bits(0.9), bits(0.999)});
    check_bits(kernels, dtype, "w m = sgd w g m lr momentum=0.9", false,
               {word(&lr), bits(0.9)});
    check_bits(kernels, dtype, "w = sgd w g lr", false, {word(&lr), bits(0)});
  }
}

// Each item has a place of its own, and all get the same message.
TEST(CudaBatch, EachItemIsToldOfWrongData) {
  TwinKernels kernels;
  const auto function =
      kernels.find(make_items_source("fault.cuh", "tell_each(a, items);"));
  std::array<std::array<uint64_t, 3>, 3> places{};
  const int64_t step = -7;
  for (const uint64_t position : {uint64_t{0}, ~uint64_t{0}}) {
    uint64_t fault = position;
    Args args;
    args.in[0] = reinterpret_cast<uint64_t>(&step);
    args.n[0] = sizeof step;
    args.fault = reinterpret_cast<uint64_t>(&fault);
    Items items;
    items.count = places.size();
    for (size_t i = 0; i < places.size(); ++i) {
      places[i] = {};
      items.item[i].told = reinterpret_cast<uint64_t>(places[i].data());
    }
    function(&args, &items);
    EXPECT_EQ(fault, ~uint64_t{0});
    for (const auto& place : places) {
      EXPECT_EQ(place[0], 1U);
      EXPECT_EQ(place[1], position);
      if (position == 0) {
        EXPECT_EQ(place[2], static_cast<uint64_t>(step));
      }
    }
  }
}

}  // namespace
}  // namespace gt::exec::cuda

// part=: the blocks of a whole put together are the whole, bit for bit, on any
// backend and with any number of threads.
#include "ops/part.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "exec/memory/part_runs.h"
#include "kernels_harness.h"

namespace gt::exec {
namespace {

// All blocks into which `whole` is cut, of about `size` along each axis.
std::vector<std::pair<Part, Shape>> blocks_of(
    const Shape& whole, const std::vector<int64_t>& size) {
  std::vector<std::pair<Part, Shape>> blocks = {{{{}, whole}, {}}};
  for (size_t d = 0; d < whole.size(); ++d) {
    std::vector<std::pair<Part, Shape>> finer;
    for (const auto& [part, shape] : blocks) {
      for (int64_t at = 0; at < whole[d]; at += size[d]) {
        finer.push_back({part, shape});
        finer.back().first.start.push_back(at);
        finer.back().second.push_back(std::min(size[d], whole[d] - at));
      }
    }
    blocks = finer;
  }
  return blocks;
}

std::string key_of(const Part& part) {
  return " part=" + to_string(part.start) + "/" + to_string(part.whole);
}

// The block of the tensor.
Tensor cut(const Tensor& whole, const Part& part, const Shape& shape) {
  Tensor block(Type{whole.type.dtype, shape});
  const size_t size = size_of(whole.type.dtype);
  each_of_part(PartRuns(shape, part), [&](int64_t i, int64_t g) {
    std::memcpy(block.data.data() + i * static_cast<int64_t>(size),
                whole.data.data() + g * static_cast<int64_t>(size), size);
  });
  return block;
}

Tensor only(Backend& backend, const std::string& line, const Tensors& names) {
  const auto results = evaluate(backend, line, names);
  EXPECT_TRUE(results.ok()) << line << ": " << results.error().message;
  return results.ok() ? results.value()[0] : Tensor();
}

struct Cutting {
  Shape whole;
  std::vector<int64_t> size;
};

std::vector<Cutting> cuttings() {
  return {{Shape{11}, {4}},
          {Shape{11}, {1}},
          {Shape{5, 8}, {2, 8}},
          {Shape{5, 8}, {5, 3}},
          {Shape{7, 9}, {3, 5}},
          {Shape{3, 1, 4}, {2, 1, 3}},
          {Shape{3, 5, 7}, {1, 2, 7}},
          {Shape{}, {}},
          {Shape{70, 65}, {64, 65}},
          {Shape{4, 0}, {3, 1}}};
}

struct Named {
  const char* backend;
  BackendOptions options;
};
const Named kBackends[] = {
    {"ref", {1, ""}}, {"cpu", {1, ""}}, {"cpu", {3, ""}}, {"cpu", {2, "sse2"}}};

// Calls check(backend, whole, part, block) for all backends and blocks.
void for_all(const std::function<void(Backend&, const Cutting&)>& check) {
  for (const Named& named : kBackends) {
    const auto backend = backend_for_test(named.backend, named.options);
    for (const Cutting& cutting : cuttings()) check(*backend, cutting);
  }
}

TEST(Part, CreationGivesTheBlocksOfTheWhole) {
  for_all([](Backend& backend, const Cutting& c) {
    for (const char* dtype : {"f32", "f64", "f16", "bf16"}) {
      for (const char* tail :
           {"randn %T 7 scale=0.5", "rand %T 8", "randn %T -3",
            "arange %T 1 0.5", "eye %T", "ones %T"}) {
        const std::string text(tail);
        if (text.starts_with("arange") && c.whole.size() != 1) continue;
        if (text.starts_with("eye") && c.whole.size() != 2) continue;
        const auto line = [&](const Shape& shape) {
          std::string l = "y = " + text;
          return l.replace(l.find("%T"), 2,
                           std::string(dtype) + "[" + to_string(shape) + "]");
        };
        const Tensor whole = only(backend, line(c.whole), {});
        for (const auto& [part, shape] : blocks_of(c.whole, c.size)) {
          const std::string l = line(shape) + key_of(part);
          EXPECT_TRUE(same_bits(only(backend, l, {}), cut(whole, part, shape)))
              << backend.name() << ": " << l;
        }
      }
    }
  });
}

TEST(Part, RandpermAndTensorGiveTheBlocksOfTheWhole) {
  for_all([](Backend& backend, const Cutting& c) {
    if (c.whole.size() != 1) return;
    const std::string size = to_string(c.whole);
    for (const std::string line :
         {"randperm ", "tensor 0 1 2 3 4 5 6 7 8 9 10"}) {
      const bool perm = line.starts_with("randperm");
      const auto written = [&](const Shape& shape) {
        const std::string type = "i32[" + to_string(shape) + "]";
        return perm ? "y = randperm " + type + " 5"
                    : "y = tensor " + type + line.substr(6);
      };
      const Tensor whole = only(backend, written(c.whole), {});
      for (const auto& [part, shape] : blocks_of(c.whole, c.size)) {
        const std::string l = written(shape) + key_of(part);
        EXPECT_TRUE(same_bits(only(backend, l, {}), cut(whole, part, shape)))
            << l;
      }
    }
  });
}

TEST(Part, DropoutAndRopeDoToBlocksWhatTheyDoToTheWhole) {
  for_all([](Backend& backend, const Cutting& c) {
    for (const char* dtype : {"f32", "f64", "bf16"}) {
      const std::string sizes = to_string(c.whole);
      const Tensors names = random_tensors(
          "x " + std::string(dtype) + "[" + sizes + "]", {dtype, {}}, 3);
      for (const std::string line :
           {"y = dropout x 0.4 9", "y = rope x 3", "y = rope_grad x"}) {
        // Angles depend on rows alone, and pairs must not be cut.
        const bool rope = line.starts_with("y = rope");
        const size_t rank = c.whole.size();
        if (rope && (rank < 2 || c.whole[rank - 1] % 2 != 0 ||
                     c.size[rank - 1] < c.whole[rank - 1])) {
          continue;
        }
        const Tensor whole = only(backend, line, names);
        for (const auto& [part, shape] : blocks_of(c.whole, c.size)) {
          Tensors block;
          block["x"] = cut(names.at("x"), part, shape);
          EXPECT_TRUE(same_bits(only(backend, line + key_of(part), block),
                                cut(whole, part, shape)))
              << backend.name() << ": " << line << key_of(part);
        }
      }
    }
  });
}

// The values are small integers, so sums are exact in any order.
Tensors lookup(const char* operands, const Shape& table) {
  std::string text(operands);
  for (size_t at; (at = text.find("$X")) != std::string::npos;) {
    text.replace(at, 2, to_string(table));
  }
  Tensors names = random_tensors(text, {"f32", {}}, 5);
  for (auto& [name, t] : names) {
    for (int64_t i = 0; i < t.type.elements(); ++i) {
      t.set(i, std::round(t.real(i)));
    }
  }
  return names;
}

// Lookups in the blocks of a table along one axis add up to the lookup in the
// table, and sums into blocks are the blocks of the sum.
TEST(Part, LookupsInBlocksSumToThatOfTheWhole) {
  const Shape table{7, 6};
  for (const Named& named : kBackends) {
    const auto backend = backend_for_test(named.backend, named.options);
    for (const int64_t size : {1, 3, 4, 7}) {
      for (const std::string line :
           {"y = embedding x i", "y = gather x j axis=0",
            "y = take x i axis=0"}) {
        const Tensors names =
            lookup("x f32[$X] i i64[3,2]<7 j i32[9,6]<7", table);
        const Tensor whole = only(*backend, line, names);
        Tensor sum(whole.type);
        for (const auto& [part, shape] : blocks_of(table, {size, 6})) {
          Tensors block = names;
          block["x"] = cut(names.at("x"), part, shape);
          const Tensor y = only(*backend, line + key_of(part), block);
          for (int64_t i = 0; i < sum.type.elements(); ++i) {
            sum.set(i, sum.real(i) + y.real(i));
          }
        }
        for (int64_t i = 0; i < sum.type.elements(); ++i) {
          EXPECT_EQ(sum.real(i), whole.real(i)) << line << " by " << size;
        }
      }
    }
  }
}

TEST(Part, SumsIntoBlocksAreTheBlocksOfTheSum) {
  const Shape table{7, 6};
  for (const Named& named : kBackends) {
    const auto backend = backend_for_test(named.backend, named.options);
    const Tensors names = lookup(
        "x f32[$X] i i64[3,2]<7 g f32[3,2,6] j i32[9,6]<7 s f32[9,6] "
        "k u8[7,4]<6 t f32[7,4]",
        table);
    for (const auto& one : blocks_of(table, {3, 6})) {
      const auto& part = one.first;  // clang 14 lambdas capture no bindings
      const auto& shape = one.second;
      Tensors block = names;
      block["x"] = cut(names.at("x"), part, shape);
      const auto check = [&](const std::string& whole,
                             const std::string& here) {
        EXPECT_TRUE(same_bits(only(*backend, here + key_of(part), block),
                              cut(only(*backend, whole, names), part, shape)))
            << here << key_of(part);
      };
      check("y = scatter_add x j s", "y = scatter_add x j s");
      check("y = scatter x j s", "y = scatter x j s");
      check("y = take_grad g i rows=7",
            "y = take_grad g i rows=" + std::to_string(shape[0]));
      check("y = embedding_grad g i rows=7",
            "y = embedding_grad g i rows=" + std::to_string(shape[0]));
    }
    for (const auto& [part, shape] : blocks_of(table, {7, 4})) {
      Tensors block = names;
      block["x"] = cut(names.at("x"), part, shape);
      EXPECT_TRUE(same_bits(
          only(*backend, "y = scatter_add x k t axis=1" + key_of(part), block),
          cut(only(*backend, "y = scatter_add x k t axis=1", names), part,
              shape)));
    }
  }
}

TEST(Part, AnIndexBeyondTheWholeIsAnError) {
  for (const Named& named : kBackends) {
    const auto backend = backend_for_test(named.backend, named.options);
    const Tensors names = random_tensors(
        "x f32[2,3] i i64[1]<1 g f32[1,3] j i64[1,3]<1", {"f32", {}}, 1);
    Tensors bad = names;
    for (const char* name : {"i", "j"}) bad[name].set(0, 5);
    for (const std::string line :
         {"y = embedding x i", "y = gather x j", "y = scatter_add x j g",
          "y = embedding_grad g i rows=2"}) {
      EXPECT_TRUE(evaluate(*backend, line + " part=2,0/5,3", names).ok());
      EXPECT_TRUE(evaluate(*backend, line + " part=2,0/6,3", bad).ok());
      const auto result = evaluate(*backend, line + " part=2,0/5,3", bad);
      ASSERT_FALSE(result.ok()) << line;
      EXPECT_EQ(result.error().message,
                "index 5 is out of range, which is 0 to 4");
    }
  }
}

TEST(Part, RowsOfCausalAttentionCountFromWhereTheBlockBegins) {
  for (const Named& named : kBackends) {
    const auto backend = backend_for_test(named.backend, named.options);
    const Tensors names = random_tensors(
        "q f32[2,6,4] k f32[2,6,4] v f32[2,6,4]", {"f32", {}}, 2);
    const std::string line = "o = attention q k v causal=1 heads=2";
    const Tensor whole = only(*backend, line, names);
    for (const auto& [part, shape] : blocks_of(Shape{2, 6, 4}, {2, 4, 4})) {
      Tensors block = names;
      block["q"] = cut(names.at("q"), part, shape);
      EXPECT_LE(distance(only(*backend, line + key_of(part), block),
                         cut(whole, part, shape), true),
                8)
          << key_of(part);
    }
  }
}

TEST(Part, MistakesAreSaid) {
  const auto message = [](const char* line) {
    return Bound(line, parse_types("x f32[2,3] i i64[2]")).message();
  };
  EXPECT_EQ(message("y = zeros f32[2] part=1"),
            "zeros: key part must be START/WHOLE, as 64,0/128,10, got 1");
  EXPECT_EQ(message("y = zeros f32[2] part=-1/4"),
            "zeros: key part must be START/WHOLE, as 64,0/128,10, got -1/4");
  EXPECT_EQ(message("y = zeros f32[2] part=1,0/4,4"),
            "zeros: part=1,0/4,4 must have a number for each dimension of the "
            "block [2]: where it begins, '/', and the sizes of the whole");
  EXPECT_EQ(message("y = zeros f32[2] part=3/4"),
            "zeros: part=3/4: a block [2] does not fit there along axis 0");
  EXPECT_EQ(message("y = embedding x i part=0,1/9,3"),
            "embedding: part=0,1/9,3: a block [2,3] does not fit there along "
            "axis 1");
  EXPECT_EQ(message("y = tensor f32[2] 1 2 part=1/4"),
            "tensor: f32[4] takes 4 values, got 2");
  EXPECT_EQ(message("y = zeros f32[2] split=dp:0"),
            "zeros: split= needs a placed name such as x@0-3");
  EXPECT_EQ(message("y = dropout x 0.1 7 shape=2,3"),
            "dropout: shape= needs a placed name such as x@0-3");
  EXPECT_EQ(message("y = reshape x shape=3,2"), "");
}

}  // namespace
}  // namespace gt::exec

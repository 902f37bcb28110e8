// Plans matmul and linear: a library computes products of floats of one dtype,
// and a kernel of gt computes all others.
#include <optional>
#include <string>

#include "exec/backend/cuda/fusion.h"
#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/source.h"

namespace gt::exec::cuda {
namespace {

// The layout of an operand of matmul: the strides of its rows and columns, and
// those of its matrices over the result's leading dimensions.
struct Stored {
  int64_t row = 0, column = 0;
  Strides matrices{};
};

Stored side_of(const Type& type, const Shape& to, bool swapped) {
  const Strides own = strides_of(type.shape);
  const size_t rank = type.shape.size();
  Stored side{own[rank - (swapped ? 1 : 2)], own[rank - (swapped ? 2 : 1)], {}};
  Shape operand = type.shape;
  Shape result = to;
  for (size_t k = 0; k < 2; ++k) {
    operand[rank - 1 - k] = 1;
    result[to.size() - 1 - k] = 1;
  }
  side.matrices = broadcast_strides(operand, result);
  const int64_t matrix = type.shape[rank - 1] * type.shape[rank - 2];
  for (int64_t& s : side.matrices) s *= matrix;
  return side;
}

struct Matmul {
  Shape matrices;  // the result's leading dimensions
  int64_t m = 0, n = 0, k = 0;
  bool ta = false, tb = false;
  Stored a, b;
};

Matmul matmul_of(const Call& call) {
  Matmul p;
  const Shape& to = call.results[0].shape;
  const size_t rank = to.size();
  for (size_t d = 0; d + 2 < rank; ++d) p.matrices.push_back(to[d]);
  p.ta = call.flag("ta");
  p.tb = call.flag("tb");
  p.m = to[rank - 2];
  p.n = to[rank - 1];
  const Shape& a = call.type(0).shape;
  p.k = a[a.size() - (p.ta ? 2 : 1)];
  p.a = side_of(call.type(0), to, p.ta);
  p.b = side_of(call.type(1), to, p.tb);
  return p;
}

Plan by_kernel(const Call& call, const Matmul& p) {
  const Type& to = call.results[0];
  Launch launch =
      each_launch(make_source("product.cuh",
                              instance("product", {word_of(call.type(0).dtype),
                                                   word_of(call.type(1).dtype),
                                                   word_of(to.dtype)}) +
                                  "(a);"),
                  to.elements());
  const std::array<int64_t, 8> sizes = {
      to.elements(), p.m, p.n, p.k, p.a.row, p.a.column, p.b.row, p.b.column};
  std::copy(sizes.begin(), sizes.end(), launch.n.begin());
  write_place(write_place(launch.n.data() + 8, p.matrices, p.a.matrices),
              p.matrices, p.b.matrices);
  launch.in = {operand(0), operand(1)};
  launch.out = {result(0)};
  return one_step(std::move(launch));
}

Product library_product(const Call& call, int64_t m, int64_t n, int64_t k) {
  Product product;
  product.dtype = call.type(0).dtype;
  product.to = call.results[0].dtype;
  product.a = operand(0);
  product.b = operand(1);
  product.c = result(0);
  product.m = m;
  product.n = n;
  product.k = k;
  return product;
}

// The innermost of the joined leading dimensions becomes the library's batch;
// the library is called once for each element of the other dimensions.
Plan by_library(const Call& call, const Matmul& p) {
  Product product = library_product(call, p.m, p.n, p.k);
  product.ta = p.ta;
  product.tb = p.tb;
  Strides own = strides_of(p.matrices);
  for (int64_t& s : own) s *= p.m * p.n;
  const JoinedDimensions joined =
      join_dimensions(p.matrices, {p.a.matrices, p.b.matrices, own});
  Shape outer = joined.sizes;
  if (!outer.empty()) {
    const size_t last = outer.size() - 1;
    product.count = outer[last];
    for (size_t i = 0; i < 3; ++i) product.step[i] = joined.strides[i][last];
    outer.erase(last);
  }
  Walk<3> walk(outer,
               {joined.strides[0], joined.strides[1], joined.strides[2]});
  const int64_t n = outer.elements();
  for (int64_t i = 0; i < n; ++i, walk.next()) {
    product.starts.push_back({walk[0], walk[1], walk[2]});
  }
  return one_step(std::move(product));
}

bool is_for_library(const Call& call) {
  const Dtype dtype = call.type(0).dtype;
  const Dtype to = call.results[0].dtype;
  return is_float(dtype) && call.type(1).dtype == dtype &&
         (to == dtype || (is_half(dtype) && to == Dtype::kF32));
}

std::optional<Plan> plan_matmul(const Call& call) {
  const Matmul p = matmul_of(call);
  if (!is_for_library(call)) return by_kernel(call, p);
  if (call.results[0].elements() == 0) return Plan{};
  if (p.k == 0) return one_step(Clear{result(0), call.results[0].bytes()});
  return by_library(call, p);
}

// Plans linear x w b as one product over all rows of x. The library also adds
// the bias, in all dtypes but f64, if the bias has the result's dtype; a bias
// of another dtype is cast first.
std::optional<Plan> plan_linear(const Call& call) {
  if (!is_for_library(call)) return std::nullopt;
  const Dtype to = call.results[0].dtype;
  if (call.given(2) && to == Dtype::kF64) return std::nullopt;
  const Shape& w = call.type(1).shape;
  const int64_t elements = call.results[0].elements();
  if (elements == 0 || w[0] == 0) return std::nullopt;
  Product product = library_product(call, elements / w[1], w[1], w[0]);
  product.starts = {{0, 0, 0}};
  if (!call.given(2)) return one_step(std::move(product));
  product.bias = operand(2);
  Plan plan;
  if (call.type(2).dtype != to) {
    product.bias =
        scratch(plan.add_scratch(static_cast<size_t>(w[1]) * size_of(to)));
    Fusion fusion;
    const auto bias = fusion.add_memory(call.type(2), operand(2));
    plan.steps.emplace_back(*fusion.launch(
        fusion.add_cast(bias, {to, call.type(2).shape}), product.bias));
  }
  plan.steps.emplace_back(std::move(product));
  return plan;
}

constexpr PlanRow kProductPlans[] = {
    {"matmul", plan_matmul},
    {"linear", plan_linear},
};

}  // namespace

std::span<const PlanRow> product_plans() { return kProductPlans; }

}  // namespace gt::exec::cuda

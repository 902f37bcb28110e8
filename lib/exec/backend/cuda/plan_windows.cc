// Plans convolutions and pools, for the kernels of text/convolution.cuh and
// text/pool.cuh.
#include <algorithm>
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/source.h"
#include "ops/windows.h"

namespace gt::exec::cuda {
namespace {

// True if all tensors have the dtype of result 0, and it is a float.
bool has_one_float(const Call& call) {
  const Dtype dtype = call.results[0].dtype;
  for (const Argument& a : call.arguments) {
    if (!a.absent && (a.literal || a.type.dtype != dtype)) return false;
  }
  return is_float(dtype);
}

// Writes the axes as WindowAxis of text/windows.cuh reads them.
int64_t* write_axes(int64_t* n, const Windows& s) {
  for (const WindowAxis& axis : s.axes) {
    for (const int64_t size : {axis.in, axis.kernel, axis.stride, axis.padding,
                               axis.dilation, axis.out()}) {
      *n++ = size;
    }
  }
  return n;
}

// ---- convolutions -----------------------------------------------------------

// The matrix product of one group: the rows and columns of its result, and the
// number of products in each sum.
struct GroupProduct {
  // The name of its layout in text/convolution.cuh.
  const char* which;
  int64_t rows, columns, depth;
};

std::optional<Plan> plan_product(const Call& call, const Windows& s,
                                 const GroupProduct& p) {
  if (!has_one_float(call)) return std::nullopt;
  const Dtype dtype = call.results[0].dtype;
  // KTile of text/tile.cuh.
  const int64_t tile = dtype == Dtype::kF64 ? 32 : 64;
  const int64_t row_tiles = parts_of(p.rows, tile);
  const int64_t column_tiles = parts_of(p.columns, tile);
  int64_t most = std::max(call.results[0].elements(), p.depth + tile);
  for (const Argument& a : call.arguments) {
    if (!a.absent) most = std::max(most, a.type.elements());
  }
  // Positions in the margin count, too.
  for (const WindowAxis& axis : s.axes) {
    most = std::max(most, 4 * (axis.padded() + axis.reach() + axis.stride));
  }
  const bool is_small = most < int64_t{1} << 30;
  Launch launch = block_launch(
      make_source("convolution.cuh",
                  instance("convolution", {p.which, word_of(dtype),
                                           is_small ? "int32_t" : "int64_t"}) +
                      "(a);"),
      row_tiles * column_tiles * s.groups);
  const std::array<int64_t, 10> sizes = {row_tiles * column_tiles * s.groups,
                                         s.groups,
                                         row_tiles,
                                         column_tiles,
                                         p.rows,
                                         p.columns,
                                         p.depth,
                                         s.channels(),
                                         s.outputs(),
                                         s.n};
  write_axes(std::copy(sizes.begin(), sizes.end(), launch.n.begin()), s);
  const bool has_bias = call.arguments.size() > 2 && call.given(2);
  launch.in = {operand(0), operand(1), has_bias ? operand(2) : Slot{}};
  launch.out = {result(0)};
  return one_step(std::move(launch));
}

std::optional<Plan> plan_conv(const Call& call) {
  const Windows s = windows_of(call).value();
  const WindowAxis& h = s.axes[0];
  const WindowAxis& w = s.axes[1];
  return plan_product(call, s,
                      {"Forward", s.outputs(), s.n * h.out() * w.out(),
                       s.channels() * h.kernel * w.kernel});
}

std::optional<Plan> plan_conv_input_grad(const Call& call) {
  const Windows s = windows_of(call).value();
  const WindowAxis& h = s.axes[0];
  const WindowAxis& w = s.axes[1];
  return plan_product(call, s,
                      {"ByImage", s.channels(), s.n * h.in * w.in,
                       s.outputs() * h.kernel * w.kernel});
}

std::optional<Plan> plan_conv_weight_grad(const Call& call) {
  const Windows s = windows_of(call).value();
  const WindowAxis& h = s.axes[0];
  const WindowAxis& w = s.axes[1];
  return plan_product(
      call, s,
      {"ByWeight", s.outputs(), s.channels() * h.kernel * w.kernel,
       s.n * h.out() * w.out()});
}

// ---- pools ------------------------------------------------------------------

Launch pool_launch(const Call& call, const char* kernel, int64_t results) {
  Launch launch = each_launch(
      make_source("pool.cuh",
                  instance(kernel, {word_of(call.results[0].dtype)}) + "(a);"),
      results);
  int64_t* rest = write_axes(launch.n.data() + 1, windows_of(call).value());
  *rest = call.flag("count_include_pad") ? 1 : 0;
  launch.in = {operand(0)};
  launch.out = {result(0)};
  return launch;
}

template <const char* kKernel>
std::optional<Plan> plan_pool(const Call& call) {
  if (!has_one_float(call)) return std::nullopt;
  return one_step(pool_launch(call, kKernel, call.results[0].elements()));
}

std::optional<Plan> plan_max_pool_grad(const Call& call) {
  if (!has_one_float(call)) return std::nullopt;
  Plan plan;
  const int64_t windows = call.type(0).elements();
  const Slot places =
      scratch(plan.add_scratch(static_cast<size_t>(windows) * 8));
  Launch find = pool_launch(call, "max_pool_places", windows);
  find.in = {operand(1)};
  find.out = {places};
  Launch gather =
      pool_launch(call, "max_pool_grad", call.results[0].elements());
  gather.in.push_back(places);
  plan.steps = {std::move(find), std::move(gather)};
  return plan;
}

constexpr char kMaxPool[] = "max_pool";
constexpr char kAvgPool[] = "avg_pool";
constexpr char kAvgPoolGrad[] = "avg_pool_grad";

constexpr PlanRow kWindowPlans[] = {
    {"conv2d", plan_conv},
    {"conv2d_input_grad", plan_conv_input_grad},
    {"conv2d_weight_grad", plan_conv_weight_grad},
    {"max_pool2d", plan_pool<kMaxPool>},
    {"max_pool2d_grad", plan_max_pool_grad},
    {"avg_pool2d", plan_pool<kAvgPool>},
    {"avg_pool2d_grad", plan_pool<kAvgPoolGrad>},
};

}  // namespace

std::span<const PlanRow> window_plans() { return kWindowPlans; }

}  // namespace gt::exec::cuda

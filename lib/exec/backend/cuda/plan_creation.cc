// Plans the creation of values from a type, a few numbers and a seed. A part of
// a tensor has the elements that the whole tensor has there.
#include <bit>
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/source.h"
#include "exec/backend/element.h"
#include "exec/backend/philox.h"
#include "exec/memory/part_runs.h"
#include "ops/part.h"

namespace gt::exec::cuda {
namespace {

Launch creation(const Call& call, const std::string& body) {
  const Type& type = call.results[0];
  Launch launch =
      each_launch(make_source("layout.cuh", body + "(a);"), type.elements());
  const Part part = part_of(call).value();
  launch.n[1] = part.first();
  write_place(launch.n.data() + 2, type.shape, strides_of(part.whole));
  launch.out = {result(0)};
  return launch;
}

std::string_view result_word(const Call& call) {
  return word_of(call.results[0].dtype);
}

// The call's numbers are those of the whole tensor.
std::optional<Plan> plan_tensor(const Call& call) {
  const Type& type = call.results[0];
  Upload upload{result(0), std::vector<std::byte>(type.bytes())};
  each_of_part(PartRuns(call), [&](int64_t i, int64_t g) {
    const Number n = *parse_number(call.numbers[static_cast<size_t>(g)].text);
    const bool whole = n.kind != Number::Kind::kFloat && n.integer != 0;
    if (is_float(type.dtype) && !whole) {  // -0 too
      store_real(type.dtype, upload.bytes.data(), i, n.real);
    } else {
      store_int(type.dtype, upload.bytes.data(), i, n.integer);
    }
  });
  Plan plan;
  plan.steps.emplace_back(std::move(upload));
  return plan;
}

std::optional<Plan> plan_full(const Call& call) {
  Launch launch =
      creation(call, instance("fill", {result_word(call), source_of(call, 1)}));
  launch.in = {scalar_slot(call, 1, 0)};
  return one_step(std::move(launch));
}

std::optional<Plan> plan_arange(const Call& call) {
  const auto is_real = [&](size_t i) {
    return call.given(i) && is_float(call.type(i).dtype);
  };
  const bool real = is_float(call.results[0].dtype) || is_real(1) || is_real(2);
  Launch launch = creation(
      call, instance("arange", {result_word(call), real ? "true" : "false",
                                source_of(call, 1), source_of(call, 2)}));
  launch.in = {scalar_slot(call, 1, 0), scalar_slot(call, 2, 1)};
  return one_step(std::move(launch));
}

std::optional<Plan> plan_eye(const Call& call) {
  Launch launch = creation(call, instance("eye", {result_word(call)}));
  launch.n[70] = part_of(call).value().whole[1];
  return one_step(std::move(launch));
}

std::optional<Plan> plan_rand(const Call& call) {
  const std::string digits =
      std::to_string(traits(call.results[0].dtype).digits);
  Launch launch = creation(
      call, instance("rand", {result_word(call), digits, source_of(call, 1)}));
  launch.in = {scalar_slot(call, 1, 0)};
  return one_step(std::move(launch));
}

std::optional<Plan> plan_randn(const Call& call) {
  Launch launch = creation(
      call, instance("randn", {result_word(call), source_of(call, 1)}));
  launch.in = {scalar_slot(call, 1, 0), number(call.number("scale"))};
  return one_step(std::move(launch));
}

constexpr PlanRow kCreationPlans[] = {
    {"tensor", plan_tensor}, {"full", plan_full}, {"arange", plan_arange},
    {"eye", plan_eye},       {"rand", plan_rand}, {"randn", plan_randn},
};

}  // namespace

std::span<const PlanRow> creation_plans() { return kCreationPlans; }

}  // namespace gt::exec::cuda

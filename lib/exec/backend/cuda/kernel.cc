#include "exec/backend/cuda/kernel.h"

#include <algorithm>
#include <cstring>

#include "exec/backend/cuda/source.h"

namespace gt::exec::cuda {
namespace {

// Makes the launch that reports the wrong data found by the steps before it.
Launch tell_launch(const Call& call, const Plan& plan) {
  Launch launch = each_launch(
      plan.item ? make_items_source("fault.cuh", "tell_each(a, items);")
                : make_source("fault.cuh", "tell(a);"),
      1);
  launch.n[0] = 0;
  if (!plan.witness) return launch;
  const Argument& a = call.arguments[plan.witness->operand];
  launch.in = {operand(plan.witness->operand)};
  if (!a.literal) launch.n[0] = static_cast<int64_t>(size_of(a.type.dtype));
  launch.n[1] = plan.witness->each ? 1 : 0;
  return launch;
}

}  // namespace

Result<std::unique_ptr<CudaKernel>> CudaKernel::make(const Call& call,
                                                     Plan plan,
                                                     Products& products,
                                                     Attentions& attentions) {
  std::unique_ptr<CudaKernel> kernel(new CudaKernel(std::move(plan), products));
  for (const Argument& a : call.arguments) {
    kernel->literals_.push_back(a.literal);
    const bool is_memory = !a.literal && !a.absent && a.role != Role::kNumber;
    kernel->in_bytes_.push_back(is_memory ? a.type.bytes() : 0);
  }
  if (kernel->plan_.pointwise && kernel->plan_.pointwise->type.elements() > 0) {
    kernel->link_ = std::make_shared<const ChainLink>(*kernel->plan_.pointwise);
  }
  if (kernel->plan_.reducing && !call.arguments[0].literal) {
    kernel->end_ = std::make_shared<const ChainEnd>(
        *kernel->plan_.reducing, std::get<Launch>(kernel->plan_.steps[0]));
  }
  if (kernel->plan_.item) {
    kernel->item_ = std::make_unique<ItemRun>();
    for (size_t i = 0; i < call.result_count; ++i) {
      kernel->item_->out_bytes.push_back(call.results[i].bytes());
    }
  }
  if (kernel->plan_.attention) {
    kernel->attention_ = attentions.make(*kernel->plan_.attention);
  }
  if (kernel->attention_ != nullptr) {
    kernel->plan_.steps.clear();
    kernel->plan_.scratch = {kernel->attention_->workspace()};
  }
  if (kernel->plan_.explain != nullptr) {
    kernel->plan_.steps.emplace_back(tell_launch(call, kernel->plan_));
  }
  for (const Step& step : kernel->plan_.steps) {
    Gpu::Function function;
    std::unique_ptr<LibraryProduct> product;
    if (const auto* launch = std::get_if<Launch>(&step)) {
      function = products.device().gpu().function(launch->source);
    } else if (const auto* p = std::get_if<Product>(&step)) {
      auto made = LibraryProduct::make(products, *p);
      if (!made.ok()) return made.error();
      product = std::move(made.value());
    }
    kernel->functions_.push_back(function);
    kernel->products_.push_back(std::move(product));
  }
  return kernel;
}

bool CudaKernel::in_place(size_t operand, size_t result) const {
  return std::find(plan_.in_place.begin(), plan_.in_place.end(),
                   std::pair{operand, result}) != plan_.in_place.end();
}

// Uploads go through staging memory of the host, which is reused, so they
// cannot be replayed.
bool CudaKernel::may_be_recorded() const {
  return std::none_of(
      plan_.steps.begin(), plan_.steps.end(),
      [](const Step& step) { return std::holds_alternative<Upload>(step); });
}

Status CudaKernel::run(std::span<const void* const> in,
                       std::span<void* const> out) {
  if (Status s = device_.gpu().enter(); !s.ok()) return s;
  Addresses at{in, out, {}, 0};
  if (plan_.explain == nullptr) return run_whole(at);
  const auto told = device_.faults().begin();
  if (!told.ok()) return told.error();
  at.told = told.value();
  Status s = run_whole(at);
  if (s.ok()) {
    device_.faults().leave(at.told, plan_);
  } else {
    device_.faults().spoil(at.told);
  }
  return s;
}

Status CudaKernel::run_whole(Addresses& at) {
  if (plan_.scratch.empty()) return run_steps(at);
  auto scratch = device_.borrow(plan_.scratch);
  if (!scratch.ok()) return scratch.error();
  at.scratch = std::move(scratch.value());
  const Status s = attention_ != nullptr ? run_attention(at) : run_steps(at);
  // The memory is given back behind the steps, in stream order, so they have it
  // as long as they need it.
  device_.give_back(at.scratch);
  return s;
}

Status CudaKernel::run_steps(const Addresses& at) {
  if (item_ != nullptr) return run_item(at);
  if (end_ != nullptr) return run_reduction(at);
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const Status s = std::visit(
        [&](const auto& step) { return take(step, i, at); }, plan_.steps[i]);
    if (!s.ok()) return s;
  }
  return ok_status();
}

// The plan's steps are the work and, if it can find wrong data, the launch that
// reports it.
Status CudaKernel::run_item(const Addresses& at) {
  Batch::Run& run = item_->run;
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    auto made = ready(std::get<Launch>(plan_.steps[i]), i, at);
    if (!made.ok()) return made.error();
    (i == 0 ? run.work : run.tell.emplace()) = made.value();
  }
  const ItemSlots& slots = *plan_.item;
  const auto to_word = [&](const Slot& slot) { return word(slot, at); };
  std::transform(slots.in.begin(), slots.in.end(), run.item.in.begin(),
                 to_word);
  std::transform(slots.out.begin(), slots.out.end(), run.item.out.begin(),
                 to_word);
  run.kernel = reinterpret_cast<uint64_t>(run.work.function);
  run.item.n = slots.n;
  run.item.told = at.told;
  run.reads.clear();
  run.writes.clear();
  for (size_t i = 0; i < in_bytes_.size(); ++i) {
    if (in_bytes_[i] == 0) continue;
    run.reads.push_back({word(operand(i), at), in_bytes_[i]});
  }
  for (size_t i = 0; i < item_->out_bytes.size(); ++i) {
    run.writes.push_back({word(result(i), at), item_->out_bytes[i]});
  }
  return device_.launch_item(run);
}

// All steps of a plan that reduces are launches.
Status CudaKernel::run_reduction(const Addresses& at) {
  launches_.clear();
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const auto made = ready(std::get<Launch>(plan_.steps[i]), i, at);
    if (!made.ok()) return made.error();
    launches_.push_back(made.value());
  }
  others_.clear();
  for (size_t i = 1; i < in_bytes_.size(); ++i) {
    if (in_bytes_[i] == 0) continue;
    others_.push_back({word(operand(i), at), in_bytes_[i]});
  }
  return device_.launch_reduction(launches_, end_, word(operand(0), at),
                                  others_, word(result(0), at));
}

Status CudaKernel::run_attention(const Addresses& at) {
  LibraryAttention::Addresses addresses{};
  for (size_t i = 0; i < addresses.size(); ++i) {
    addresses[i] = word(plan_.attention->slots[i], at);
  }
  return attention_->run(addresses, at.scratch[0]);
}

Result<ReadyLaunch> CudaKernel::ready(const Launch& launch, size_t step,
                                      const Addresses& at) const {
  const Result<CUfunction>& function = functions_[step].get();
  if (!function.ok()) {
    return Error{"its kernel cannot be made: " + function.error().message};
  }
  ReadyLaunch made;
  made.function = function.value();
  made.blocks = launch.blocks;
  Args& args = made.args;
  for (size_t i = 0; i < launch.in.size(); ++i) {
    args.in[i] = word(launch.in[i], at);
  }
  for (size_t i = 0; i < launch.out.size(); ++i) {
    args.out[i] = word(launch.out[i], at);
  }
  args.fault = device_.faults().word();
  args.begun = device_.faults().begun_at();
  args.task = device_.task();
  args.told = at.told;
  args.base = device_.base();
  args.n = launch.n;
  return made;
}

Status CudaKernel::take(const Launch& launch, size_t step,
                        const Addresses& at) {
  const auto made = ready(launch, step, at);
  if (!made.ok()) return made.error();
  if (link_ == nullptr) return device_.launch(made.value());
  std::array<uint64_t, kIn> words;
  const auto leaves = link_->leaves();
  for (size_t k = 0; k < leaves.size(); ++k)
    words[k] = word(leaves[k].slot, at);
  return device_.launch_point_wise(
      made.value(), link_, {words.data(), leaves.size()}, word(result(0), at));
}

Status CudaKernel::take(const Product& product, size_t step,
                        const Addresses& at) {
  return products_[step]->run(word(product.a, at), word(product.b, at),
                              word(product.c, at), word(product.bias, at));
}

Status CudaKernel::take(const Upload& upload, size_t /*step*/,
                        const Addresses& at) {
  return device_.upload(upload.bytes.data(),
                        reinterpret_cast<void*>(word(upload.to, at)),
                        upload.bytes.size());
}

Status CudaKernel::take(const Clear& clear, size_t /*step*/,
                        const Addresses& at) {
  if (clear.bytes == 0) return ok_status();
  return check(device_.gpu().api(),
               device_.gpu().driver().cuMemsetD8Async(
                   word(clear.to, at), 0, clear.bytes, device_.stream()),
               "cuMemsetD8Async");
}

uint64_t CudaKernel::word(const Slot& slot, const Addresses& at) const {
  switch (slot.home) {
    case Slot::Home::kNone:
      return 0;
    case Slot::Home::kNumber:
      return slot.bits;
    case Slot::Home::kResult:
      return reinterpret_cast<uint64_t>(at.out[slot.index]);
    case Slot::Home::kScratch:
      return at.scratch[slot.index];
    case Slot::Home::kOperand:
      break;
  }
  const void* data = at.in[slot.index];
  if (data == nullptr || !literals_[slot.index]) {
    return reinterpret_cast<uint64_t>(data);
  }
  uint64_t bits = 0;
  std::memcpy(&bits, data, sizeof bits);
  return bits;
}

}  // namespace gt::exec::cuda

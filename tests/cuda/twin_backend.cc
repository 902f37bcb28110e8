#include "twin_backend.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "exec/backend/cuda/source.h"
#include "exec/backend/element.h"
#include "exec/backend/ref/ref.h"
#include "exec/memory/host_device.h"
#include "host_product.h"
#include "twin/compile.h"

// The kernels read this variable (twin/target.cuh).
extern "C" int gt_twin_backwards;
int gt_twin_backwards = 0;

namespace gt::exec {
namespace {

using cuda::Slot;

constexpr size_t kBatch = 60;  // texts in a run of the compiler

[[noreturn]] void give_up(const std::string& why) {
  (void)std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}

class TwinKernel final : public Kernel {
 public:
  TwinKernel(const Call& call, cuda::Plan plan, TwinKernels& kernels)
      : plan_(std::move(plan)) {
    for (const Argument& a : call.arguments) {
      literals_.push_back(a.literal);
      types_.push_back(a.type);
    }
    for (const size_t bytes : plan_.scratch) scratch_.emplace_back(bytes + 1);
    for (const cuda::Step& step : plan_.steps) {
      const auto* launch = std::get_if<cuda::Launch>(&step);
      functions_.push_back(launch == nullptr ? nullptr
                                             : kernels.find(launch->source));
    }
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    in_ = in;
    out_ = out;
    fault_ = ~uint64_t{0};
    for (std::vector<char>& piece : scratch_) {
      std::fill(piece.begin(), piece.end(), '\xa5');
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      std::visit([&](const auto& step) { take(step, functions_[i]); },
                 plan_.steps[i]);
    }
    if (fault_ == ~uint64_t{0}) return ok_status();
    GT_CHECK(plan_.explain != nullptr);
    return plan_.explain(static_cast<int64_t>(fault_),
                         [&](size_t k, int64_t i) { return peek(k, i); });
  }

  bool in_place(size_t operand, size_t result) const override {
    return std::find(plan_.in_place.begin(), plan_.in_place.end(),
                     std::pair{operand, result}) != plan_.in_place.end();
  }

 private:
  void take(const cuda::Launch& launch, TwinKernels::Function function) {
    cuda::Args args;
    for (size_t i = 0; i < launch.in.size(); ++i) {
      args.in[i] = word(launch.in[i]);
    }
    for (size_t i = 0; i < launch.out.size(); ++i) {
      args.out[i] = word(launch.out[i]);
    }
    args.fault = reinterpret_cast<uint64_t>(&fault_);
    args.n = launch.n;
    cuda::Items items;
    if (plan_.item) {
      items.count = 1;
      items.blocks = launch.blocks;
      cuda::Item& item = items.item[0];
      for (size_t i = 0; i < plan_.item->in.size(); ++i) {
        item.in[i] = word(plan_.item->in[i]);
      }
      for (size_t i = 0; i < plan_.item->out.size(); ++i) {
        item.out[i] = word(plan_.item->out[i]);
      }
      item.n = plan_.item->n;
    }
    function(&args, &items);
  }
  void take(const cuda::Product& p, TwinKernels::Function /*none*/) {
    for (const auto& start : p.starts) {
      for (int64_t i = 0; i < p.count; ++i) {
        host_product(p, at<const void>(p.a), start[0] + i * p.step[0],
                     at<const void>(p.b), start[1] + i * p.step[1],
                     at<void>(p.c), start[2] + i * p.step[2],
                     at<const void>(p.bias));
      }
    }
  }
  void take(const cuda::Upload& upload, TwinKernels::Function /*none*/) {
    std::copy(upload.bytes.begin(), upload.bytes.end(),
              at<std::byte>(upload.to));
  }
  void take(const cuda::Clear& clear, TwinKernels::Function /*none*/) {
    std::memset(at<void>(clear.to), 0, clear.bytes);
  }

  uint64_t word(const Slot& slot) const {
    switch (slot.home) {
      case Slot::Home::kNone:
        return 0;
      case Slot::Home::kNumber:
        return slot.bits;
      case Slot::Home::kResult:
        return reinterpret_cast<uint64_t>(out_[slot.index]);
      case Slot::Home::kScratch:
        return reinterpret_cast<uint64_t>(scratch_[slot.index].data());
      case Slot::Home::kOperand:
        break;
    }
    if (!literals_[slot.index]) {
      return reinterpret_cast<uint64_t>(in_[slot.index]);
    }
    uint64_t bits = 0;
    std::memcpy(&bits, in_[slot.index], sizeof bits);
    return bits;
  }
  template <typename T>
  T* at(const Slot& slot) const {
    return reinterpret_cast<T*>(word(slot));
  }
  Result<std::array<std::byte, 8>> peek(size_t k, int64_t i) const {
    std::array<std::byte, 8> bytes{};
    const size_t size = literals_[k] ? 8 : size_of(types_[k].dtype);
    std::memcpy(
        bytes.data(),
        static_cast<const char*>(in_[k]) + static_cast<size_t>(i) * size, size);
    return bytes;
  }

  cuda::Plan plan_;
  std::vector<TwinKernels::Function> functions_;
  std::vector<bool> literals_;
  std::vector<Type> types_;
  mutable std::vector<std::vector<char>> scratch_;
  std::span<const void* const> in_;
  std::span<void* const> out_;
  uint64_t fault_ = 0;
};

class TwinBackend final : public Backend {
 public:
  TwinBackend(TwinKernels& kernels, bool collects, bool fuses)
      : kernels_(kernels),
        collects_(collects),
        fuses_(fuses),
        device_(nullptr) {}
  std::string_view name() const override { return "twin"; }
  Device& device() override { return device_; }
  std::unique_ptr<Kernel> prepare(const Call& call) override {
    auto plan = fuses_ ? cuda::plan_of(call) : cuda::own_plan(call);
    if (!collects_) {
      if (!plan) return nullptr;
      return std::make_unique<TwinKernel>(call, std::move(*plan), kernels_);
    }
    if (plan) {
      for (const cuda::Step& step : plan->steps) {
        const auto* launch = std::get_if<cuda::Launch>(&step);
        if (launch != nullptr) kernels_.add(launch->source);
      }
    }
    const bool expands = !plan && !call.op->is_primitive();
    return expands ? nullptr : ref::kernel_of(call);
  }

 private:
  TwinKernels& kernels_;
  bool collects_, fuses_;
  HostDevice device_;
};

}  // namespace

void TwinKernels::add(const cuda::Source& source) {
  if (!ready_.contains(source.name)) waiting_[source.name] = source.text;
}

TwinKernels::Function TwinKernels::find(const cuda::Source& source) {
  add(source);
  if (waiting_.contains(source.name)) compile();
  return ready_.at(source.name);
}

void TwinKernels::compile() {
  std::vector<twin::Header> headers;
  for (const cuda::TextFile& file : cuda::text_files()) {
    headers.emplace_back(file.name, file.text);
  }
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    std::string text;
    std::vector<std::string> names;
    for (; names.size() < kBatch && at != waiting_.end(); ++at) {
      text += at->second;
      names.push_back(at->first);
    }
    std::string log;
    const std::string path = twin::compile(headers, text, log);
    if (path.empty()) give_up(log);
    void* object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) give_up(::dlerror());
    for (const std::string& name : names) {
      ready_[name] = reinterpret_cast<Function>(::dlsym(object, name.c_str()));
    }
  }
  waiting_.clear();
}

std::unique_ptr<Backend> make_twin_backend(TwinKernels& kernels, bool fuses) {
  return std::make_unique<TwinBackend>(kernels, false, fuses);
}
std::unique_ptr<Backend> make_collecting_backend(TwinKernels& kernels,
                                                 bool fuses) {
  return std::make_unique<TwinBackend>(kernels, true, fuses);
}

void run_backwards(bool backwards) { gt_twin_backwards = backwards ? 1 : 0; }

}  // namespace gt::exec

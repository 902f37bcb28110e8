// A plan made ready to run: its kernels are being compiled and the ways to
// compute its products are chosen, or a library does all of its work. A run
// gives the steps to the device's stream; the first run waits for the compiler.
#pragma once

#include <memory>
#include <vector>

#include "exec/backend/cuda/device.h"
#include "exec/backend/cuda/library_attention.h"
#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/product.h"
#include "exec/backend/kernel.h"

namespace gt::exec::cuda {

class CudaKernel final : public Kernel {
 public:
  // Makes a kernel that runs `plan`. Error: cuBLASLt's message. A failure of
  // the compiler is the error of each run instead.
  static Result<std::unique_ptr<CudaKernel>> make(const Call& call, Plan plan,
                                                  Products& products,
                                                  Attentions& attentions);

  // As memory/device.h says, this returns before the work is done, and leaves a
  // check if the plan can find wrong data.
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override;
  bool in_place(size_t operand, size_t result) const override;
  bool may_be_recorded() const override;

 private:
  // The addresses that one run uses.
  struct Addresses {
    std::span<const void* const> in;
    std::span<void* const> out;
    std::vector<CUdeviceptr> scratch;
    // The run's place for its check, if the plan can find wrong data
    // (faults.h).
    uint64_t told = 0;
  };

  CudaKernel(Plan plan, Products& products)
      : plan_(std::move(plan)), device_(products.device()) {}

  Status run_whole(Addresses& at);
  Status run_steps(const Addresses& at);
  Status run_item(const Addresses& at);
  Status run_reduction(const Addresses& at);
  Status run_attention(const Addresses& at);
  Status take(const Launch& launch, size_t step, const Addresses& at);
  Status take(const Product& product, size_t step, const Addresses& at);
  Status take(const Upload& upload, size_t step, const Addresses& at);
  Status take(const Clear& clear, size_t step, const Addresses& at);
  uint64_t word(const Slot& slot, const Addresses& at) const;
  Result<ReadyLaunch> ready(const Launch& launch, size_t step,
                            const Addresses& at) const;

  Plan plan_;
  std::shared_ptr<const ChainLink> link_;  // set if the plan is point-wise
  std::shared_ptr<const ChainEnd> end_;    // set if the plan reduces
  // Scratch vectors of run_reduction(), members only so that their memory is
  // reused: the launches of a run, and what it reads besides operand 0.
  std::vector<ReadyLaunch> launches_;
  std::vector<Extent> others_;
  // Size of each operand that is in memory, else 0.
  std::vector<size_t> in_bytes_;
  // Set if runs can be items of a launch: the last run, and the size of each
  // result.
  struct ItemRun {
    Batch::Run run;
    std::vector<size_t> out_bytes;
  };
  std::unique_ptr<ItemRun> item_;
  CudaDevice& device_;
  std::vector<bool> literals_;  // for each argument, whether it is a number
  // For each step its kernel, or an invalid future if the step launches none.
  std::vector<Gpu::Function> functions_;
  std::vector<std::unique_ptr<LibraryProduct>> products_;  // for each step
  std::unique_ptr<LibraryAttention> attention_;  // if set, replaces all steps
};

}  // namespace gt::exec::cuda

// A plan made ready: its kernels are being compiled, its products chosen, or a
// library has a way to do it all. A run gives them to the stream of the device,
// the first once they are compiled.
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
  // Error: what the library of products says. What the compiler says is that of
  // each run.
  static Result<std::unique_ptr<CudaKernel>> make(const Call& call, Plan plan,
                                                  Products& products,
                                                  Attentions& attentions);

  // As memory/device.h says: it returns before the work is done, and leaves a
  // check if the plan can find wrong data.
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override;
  bool in_place(size_t operand, size_t result) const override;
  bool may_be_recorded() const override;

 private:
  // The addresses of one run.
  struct Addresses {
    std::span<const void* const> in;
    std::span<void* const> out;
    std::vector<CUdeviceptr> scratch;
    uint64_t told = 0;  // if the plan can find wrong data
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
  std::shared_ptr<const ChainLink> link_;  // of a point-wise plan
  std::shared_ptr<const ChainEnd> end_;    // of one that reduces
  std::vector<ReadyLaunch> launches_;      // of a run of that
  std::vector<Extent> others_;             // what it reads beside operand 0
  std::vector<size_t> in_bytes_;           // of each operand in memory, else 0
  // Of a plan whose runs can be items: such a run, and the bytes of each
  // result.
  struct ItemRun {
    Batch::Run run;
    std::vector<size_t> out_bytes;
  };
  std::unique_ptr<ItemRun> item_;
  CudaDevice& device_;
  std::vector<bool> literals_;  // of each argument: whether it is a number
  std::vector<Gpu::Function> functions_;  // of each step; none: no launch
  std::vector<std::unique_ptr<LibraryProduct>> products_;  // of each step
  std::unique_ptr<LibraryAttention> attention_;  // in the stead of all steps
};

}  // namespace gt::exec::cuda

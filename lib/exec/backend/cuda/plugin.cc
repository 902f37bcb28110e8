// The plug-in of the cuda backend: gt-work --backend cuda loads it from
// lib/gt/cuda.so.
#include <stdexcept>

#include "exec/backend/cuda/kernel.h"
#include "exec/backend/registry.h"

namespace gt::exec::cuda {
namespace {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(std::unique_ptr<CudaDevice> device)
      : device_(std::move(device)),
        products_(*device_),
        attentions_(*device_) {}
  std::string_view name() const override { return "cuda"; }
  Device& device() override { return *device_; }
  std::unique_ptr<Kernel> prepare(const Call& call) override {
    auto plan = plan_of(call);
    if (!plan) return nullptr;
    auto kernel =
        CudaKernel::make(call, std::move(*plan), products_, attentions_);
    if (!kernel.ok()) throw std::runtime_error(kernel.error().message);
    return std::move(kernel.value());
  }

 private:
  std::unique_ptr<CudaDevice> device_;
  Products products_;
  Attentions attentions_;
};

Result<std::unique_ptr<Backend>> make(const BackendOptions& options) {
  auto gpu = Gpu::open(options.device);
  if (!gpu.ok()) return gpu.error();
  auto device = CudaDevice::make(std::move(gpu.value()));
  if (!device.ok()) return Error{"backend cuda: " + device.error().message};
  return std::unique_ptr<Backend>(
      std::make_unique<CudaBackend>(std::move(device.value())));
}

}  // namespace
}  // namespace gt::exec::cuda

extern "C" {
extern const gt::exec::BackendPlugin gt_backend;
const gt::exec::BackendPlugin gt_backend{.make = gt::exec::cuda::make,
                                         .devices = gt::exec::cuda::Gpu::list};
}

#include "exec/backend/cpu/cpu.h"

#include <oneapi/dnnl/dnnl.h>

#include <string>

#include "exec/backend/cpu/tiled.h"
#include "exec/backend/ref/ref.h"
#include "exec/backend/row_table.h"
#include "exec/memory/host_device.h"

namespace gt::exec {
namespace cpu {
namespace {

const KernelRow* row_of(const Call& call) {
  static const RowTable<KernelRow> table{
      pointwise_kernels(),   reduction_kernels(), network_kernels(),
      attention_kernels(),   norm_kernels(),      position_kernels(),
      clip_kernels(),        index_kernels(),     take_kernels(),
      order_kernels(),       optimizer_kernels(), product_kernels(),
      convolution_kernels(), pool_kernels(),      layout_kernels(),
      creation_kernels(),    statistic_kernels(), exponential_kernels()};
  return table.find(call.op->name);
}

// f16c is not asked for, since Clang 14 cannot do so; it is older than avx2 and
// comes with it.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

// oneDNN takes a limit only once, before its first use; later ones change
// nothing, as in a test that makes several backends.
const Loops& limit_to(const Loops& loops, dnnl_cpu_isa_t isa) {
  (void)dnnl_set_max_cpu_isa(isa);
  return loops;
}

// Returns the loops of an instruction set, of which "" is the best. Errors:
// this machine lacks it.
Result<const Loops*> loops_of(std::string_view isa) {
  if (isa.empty()) {
    return has_avx512() ? &avx512_loops()
           : has_avx2() ? &avx2_loops()
                        : &base_loops();
  }
  if (isa == "avx512" && has_avx512()) {
    return &limit_to(avx512_loops(), dnnl_cpu_isa_avx512_core);
  }
  if (isa == "avx2" && has_avx2()) {
    return &limit_to(avx2_loops(), dnnl_cpu_isa_avx2);
  }
  if (isa == "sse2") return &limit_to(base_loops(), dnnl_cpu_isa_sse41);
  return Error{"this machine lacks " + std::string(isa)};
}

class CpuBackend final : public Backend {
 public:
  CpuBackend(const Context& context, Arena* arena)
      : context_(context), device_(arena) {}
  std::string_view name() const override { return "cpu"; }
  std::unique_ptr<Kernel> prepare(const Call& call) override {
    if (const KernelRow* row = row_of(call); row != nullptr) {
      if (auto kernel = row->make(call, context_)) return kernel;
    }
    return ref::kernel_of(call);
  }
  std::unique_ptr<Kernel> fuse(std::span<const FusedStep> steps) override {
    return cpu::fuse(steps, context_.threads);
  }
  Device& device() override { return device_; }

 private:
  Context context_;
  HostDevice device_;
};

}  // namespace
}  // namespace cpu

std::string wrong_isa(std::string_view isa) {
  if (isa.empty() || isa == "sse2" || isa == "avx2" || isa == "avx512") {
    return "";
  }
  return "no instruction set '" + std::string(isa) + "': sse2, avx2 or avx512";
}

Result<std::unique_ptr<Backend>> make_cpu_backend(
    const BackendOptions& options) {
  const auto loops = cpu::loops_of(options.isa);
  if (!loops.ok()) return loops.error();
  return std::unique_ptr<Backend>(std::make_unique<cpu::CpuBackend>(
      cpu::Context{options.threads, loops.value()}, options.arena));
}

}  // namespace gt::exec

#include "exec/backend/ref/ref.h"

#include "exec/backend/row_table.h"
#include "exec/memory/host_device.h"

namespace gt::exec {
namespace ref {
namespace {

const KernelRow* row_of(const Call& call) {
  static const RowTable<KernelRow> table{
      pointwise_kernels(), reduction_kernels(), sort_kernels(),
      product_kernels(),   layout_kernels(),    index_kernels(),
      creation_kernels(),  optimizer_kernels()};
  return table.find(call.op->name);
}

class RefBackend final : public Backend {
 public:
  explicit RefBackend(Arena* arena) : device_(arena) {}
  std::string_view name() const override { return "ref"; }
  std::unique_ptr<Kernel> prepare(const Call& call) override {
    return kernel_of(call);
  }
  Device& device() override { return device_; }

 private:
  HostDevice device_;
};

}  // namespace

std::unique_ptr<Kernel> kernel_of(const Call& call) {
  const KernelRow* row = row_of(call);
  return row == nullptr ? nullptr : row->make(call);
}

}  // namespace ref

std::unique_ptr<Backend> make_ref_backend(const BackendOptions& options) {
  return std::make_unique<ref::RefBackend>(options.arena);
}

}  // namespace gt::exec

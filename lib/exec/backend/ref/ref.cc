#include "exec/backend/ref/ref.h"

#include <unordered_map>

#include "exec/memory/host_device.h"

namespace gt::exec {
namespace ref {
namespace {

using Table = std::unordered_map<std::string_view, KernelRow>;

const Table& table() {
  static const Table instance = [] {
    Table t;
    for (const auto& rows :
         {pointwise_kernels(), reduction_kernels(), sort_kernels(),
          product_kernels(), layout_kernels(), index_kernels(),
          creation_kernels(), optimizer_kernels()}) {
      for (const KernelRow& row : rows) {
        const bool fresh = t.emplace(row.op, row).second;
        GT_CHECK(fresh);
      }
    }
    return t;
  }();
  return instance;
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
  const auto it = table().find(call.op->name);
  return it == table().end() ? nullptr : it->second.make(call);
}

}  // namespace ref

std::unique_ptr<Backend> make_ref_backend(const BackendOptions& options) {
  return std::make_unique<ref::RefBackend>(options.arena);
}

}  // namespace gt::exec

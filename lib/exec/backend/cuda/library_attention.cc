#include "exec/backend/cuda/library_attention.h"

#ifdef GT_CUDA_CUDNN

// The frontend consists of headers alone, which look up cuDNN's functions in
// cudnn_dlhandle. With these macros they need no other library and write no
// log.
#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define NV_CUDNN_FRONTEND_DISABLE_LOGGING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>

#include <exception>
#include <string>
#include <unordered_map>

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}  // namespace cudnn_frontend

namespace gt::exec::cuda {
namespace {

namespace fe = cudnn_frontend;
using fe::graph::Graph;
using TensorPointer = std::shared_ptr<fe::graph::Tensor_attributes>;

// Older versions need CUDA's runtime library to be given lengths at each run,
// and gt does without that library.
constexpr size_t kLeastVersion = 91600;

Status check(fe::error_t result) {
  if (result.is_good()) return ok_status();
  return Error{"cuDNN: " + result.get_message()};
}

// Calls run() and returns its status; the frontend may also throw.
template <typename Run>
Status guarded(const Run& run) {
  try {
    return run();
  } catch (const std::exception& failure) {
    return Error{std::string("cuDNN: ") + failure.what()};
  }
}

// The task as a graph of cuDNN's frontend. Tensors are identified by their
// roles.
class AttentionGraph {
 public:
  AttentionGraph(const AttentionTask& task, int arch) : task_(task) {
    const auto type = task.dtype == Dtype::kF16 ? fe::DataType_t::HALF
                                                : fe::DataType_t::BFLOAT16;
    graph_.set_io_data_type(type)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT)
        .set_sm_version(arch);
    if (task.backwards) {
      add_backwards();
    } else {
      add_forwards();
    }
  }

  Status build(cudnnHandle_t handle) {
    fe::error_t result = graph_.validate();
    if (result.is_good()) result = graph_.build_operation_graph(handle);
    if (result.is_good()) {
      result = graph_.create_execution_plans({fe::HeurMode_t::A});
    }
    if (result.is_good()) result = graph_.check_support();
    if (result.is_good()) result = graph_.build_plans();
    if (result.is_good()) result = graph_.get_workspace_size(workspace_);
    return check(result);
  }

  size_t workspace() const { return static_cast<size_t>(workspace_); }

  Status run(cudnnHandle_t handle, const LibraryAttention::Addresses& at,
             CUdeviceptr workspace) {
    std::unordered_map<int64_t, void*> addresses;
    for (size_t role = 0; role < at.size(); ++role) {
      if (task_.slots[role].home == Slot::Home::kNone) continue;
      addresses[id_of(role)] = reinterpret_cast<void*>(at[role]);
    }
    return check(
        graph_.execute(handle, addresses, reinterpret_cast<void*>(workspace)));
  }

 private:
  static int64_t id_of(size_t role) { return static_cast<int64_t>(role) + 1; }

  void place(const TensorPointer& tensor, AttentionTask::Role role) const {
    const AttentionTask& t = task_;
    tensor->set_uid(id_of(role));
    if (role == AttentionTask::kLse) {
      tensor->set_dim({t.batch, t.heads, t.rows, 1})
          .set_stride({t.heads * t.rows, t.rows, 1, 1})
          .set_data_type(fe::DataType_t::FLOAT);
      return;
    }
    const bool is_key = role == AttentionTask::kK || role == AttentionTask::kGk;
    const bool is_value =
        role == AttentionTask::kV || role == AttentionTask::kGv;
    const bool is_query =
        role == AttentionTask::kQ || role == AttentionTask::kGq;
    const int64_t heads = is_key || is_value ? t.heads / t.group : t.heads;
    const int64_t length = is_key || is_value ? t.columns : t.rows;
    const int64_t size = is_key || is_query ? t.depth : t.width;
    const auto strides = t.strides(heads, length, size);
    tensor->set_dim({t.batch, heads, length, size})
        .set_stride({strides.begin(), strides.end()});
  }

  TensorPointer operand(AttentionTask::Role role) {
    TensorPointer tensor = graph_.tensor(fe::graph::Tensor_attributes());
    place(tensor, role);
    return tensor;
  }
  void result(const TensorPointer& tensor, AttentionTask::Role role) const {
    place(tensor, role);
    tensor->set_output(true);
  }

  template <typename Options>
  Options& limit(Options& options) const {
    options.set_attn_scale(static_cast<float>(task_.scale));
    if (task_.sees == AttentionTask::Sees::kAll) return options;
    const bool first = task_.sees == AttentionTask::Sees::kFromFirst;
    return options
        .set_diagonal_alignment(first ? fe::DiagonalAlignment_t::TOP_LEFT
                                      : fe::DiagonalAlignment_t::BOTTOM_RIGHT)
        .set_diagonal_band_right_bound(0);
  }

  void add_forwards() {
    const bool has_lse =
        task_.slots[AttentionTask::kLse].home != Slot::Home::kNone;
    fe::graph::SDPA_attributes options;
    options.set_name("attention").set_generate_stats(has_lse);
    const TensorPointer q = operand(AttentionTask::kQ);
    const TensorPointer k = operand(AttentionTask::kK);
    const TensorPointer v = operand(AttentionTask::kV);
    const auto made = graph_.sdpa(q, k, v, limit(options));
    result(made[0], AttentionTask::kO);
    if (has_lse) result(made[1], AttentionTask::kLse);
  }

  void add_backwards() {
    fe::graph::SDPA_backward_attributes options;
    options.set_name("attention_grad").set_deterministic_algorithm(true);
    const TensorPointer q = operand(AttentionTask::kQ);
    const TensorPointer k = operand(AttentionTask::kK);
    const TensorPointer v = operand(AttentionTask::kV);
    const TensorPointer o = operand(AttentionTask::kO);
    const TensorPointer go = operand(AttentionTask::kGo);
    const TensorPointer lse = operand(AttentionTask::kLse);
    const auto made = graph_.sdpa_backward(q, k, v, o, go, lse, limit(options));
    result(made[0], AttentionTask::kGq);
    result(made[1], AttentionTask::kGk);
    result(made[2], AttentionTask::kGv);
  }

  AttentionTask task_;
  Graph graph_;
  int64_t workspace_ = 0;
};

class CudnnAttention final : public LibraryAttention {
 public:
  CudnnAttention(CudaDevice& device, std::mutex& mutex, cudnnHandle_t handle,
                 const AttentionTask& task)
      : device_(device),
        mutex_(mutex),
        handle_(handle),
        graph_(task, device.gpu().arch()) {}

  Status build() { return graph_.build(handle_); }

  size_t workspace() const override { return graph_.workspace(); }

  Status run(const Addresses& at, CUdeviceptr workspace) override {
    const std::lock_guard lock(mutex_);
    return guarded([&] {
      // The work goes behind all that the device was given.
      if (fe::detail::set_stream(handle_, device_.stream()) !=
          CUDNN_STATUS_SUCCESS) {
        return Status(Error{"cuDNN does not take the stream"});
      }
      return graph_.run(handle_, at, workspace);
    });
  }

 private:
  CudaDevice& device_;
  std::mutex& mutex_;
  cudnnHandle_t handle_;
  AttentionGraph graph_;
};

}  // namespace

Attentions::~Attentions() {
  if (handle_ == nullptr || !device_.gpu().enter().ok()) return;
  (void)device_.finish();
  (void)fe::detail::destroy_handle(handle_);
}

cudnnContext* Attentions::handle() {
  if (is_looked_up_) return handle_;
  is_looked_up_ = true;
  const auto library = cudnn_library();
  if (!library.ok()) return nullptr;
  fe::cudnn_dlhandle = library.value();
  if (fe::detail::get_backend_version() < kLeastVersion) return nullptr;
  cudnnHandle_t made = nullptr;
  if (fe::detail::create_handle(&made) == CUDNN_STATUS_SUCCESS) handle_ = made;
  return handle_;
}

std::unique_ptr<LibraryAttention> Attentions::make(const AttentionTask& task) {
  if (!device_.gpu().enter().ok()) return nullptr;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<CudnnAttention> made;
  const Status s = guarded([&] {
    cudnnHandle_t own = handle();
    if (own == nullptr) return Status(Error{"there is no cuDNN"});
    made = std::make_unique<CudnnAttention>(device_, mutex_, own, task);
    return made->build();
  });
  if (!s.ok()) return nullptr;
  return made;
}

}  // namespace gt::exec::cuda

#else

namespace gt::exec::cuda {

Attentions::~Attentions() = default;

cudnnContext* Attentions::handle() { return handle_; }

std::unique_ptr<LibraryAttention> Attentions::make(
    const AttentionTask& /*task*/) {
  return nullptr;
}

}  // namespace gt::exec::cuda

#endif

// conv2d and its gradients in f32, by oneDNN, in the layouts that it likes
// best. All other dtypes are computed by the op's expansion, as windows and a
// matrix product.
#include <algorithm>
#include <vector>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/dnnl.h"
#include "ops/index_rule.h"
#include "ops/windows.h"

namespace gt::exec::cpu {
namespace {

using dnnl::memory;

// A tensor of the call: its number among oneDNN's arguments, and its row-major
// layout.
struct Tensor {
  int argument;
  memory::desc plain;
};

memory::desc row_major(const memory::dims& dims) {
  memory::dims strides(dims.size());
  int64_t step = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = step;
    step *= dims[d];
  }
  return {dims, memory::data_type::f32, strides};
}

// Describes the same tensor in any layout, so that oneDNN chooses the fastest.
memory::desc any_layout(const memory::desc& plain) {
  return {plain.dims(), memory::data_type::f32, memory::format_tag::any};
}

// The three tensors of a convolution and its keys, as oneDNN takes them.
struct Description {
  explicit Description(const Windows& s)
      : image(row_major({s.n, s.c, s.axes[0].in, s.axes[1].in})),
        weight(row_major({s.groups, s.outputs(), s.channels(), s.axes[0].kernel,
                          s.axes[1].kernel})),
        bias(row_major({s.o})),
        made(row_major({s.n, s.o, s.axes[0].out(), s.axes[1].out()})) {
    for (const WindowAxis& axis : s.axes) {
      strides.push_back(axis.stride);
      dilations.push_back(axis.dilation - 1);
      padding.push_back(axis.padding);
    }
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  }

  dnnl::convolution_forward::primitive_desc forward(bool with_bias) const {
    const auto kind = dnnl::prop_kind::forward;
    const auto how = dnnl::algorithm::convolution_direct;
    const auto x = any_layout(image);
    const auto w = any_layout(weight);
    const auto y = any_layout(made);
    const auto wanted =
        with_bias
            ? dnnl::convolution_forward::desc(kind, how, x, w, bias, y, strides,
                                              dilations, padding, padding)
            : dnnl::convolution_forward::desc(kind, how, x, w, y, strides,
                                              dilations, padding, padding);
    return {wanted, attributes, cpu_engine(), true};
  }

  dnnl::convolution_backward_data::primitive_desc by_image() const {
    return {dnnl::convolution_backward_data::desc(
                dnnl::algorithm::convolution_direct, any_layout(image),
                any_layout(weight), any_layout(made), strides, dilations,
                padding, padding),
            attributes, cpu_engine(), forward(false), true};
  }

  dnnl::convolution_backward_weights::primitive_desc by_weight() const {
    return {dnnl::convolution_backward_weights::desc(
                dnnl::algorithm::convolution_direct, any_layout(image),
                any_layout(weight), any_layout(made), strides, dilations,
                padding, padding),
            attributes, cpu_engine(), forward(false), true};
  }

  memory::desc image, weight, bias, made;
  memory::dims strides, dilations, padding;
  dnnl::primitive_attr attributes;
};

// A tensor as the call has it and as the primitive wants it. If the layouts
// differ, it is copied from one to the other.
class Side {
 public:
  Side(const memory::desc& plain, const memory::desc& wanted)
      : plain_(plain, cpu_engine(), nullptr),
        inner_(wanted, cpu_engine(), nullptr),
        is_copied_(plain != wanted) {
    if (!is_copied_) return;
    space_.reset(allocate_aligned(wanted.get_size()));
    inner_.set_data_handle(space_.get());
  }

  const memory& inner() const { return inner_; }
  void set(void* data) { (is_copied_ ? plain_ : inner_).set_data_handle(data); }
  void read(const dnnl::stream& stream) {
    if (is_copied_)
      dnnl::reorder(plain_, inner_).execute(stream, plain_, inner_);
  }
  void write(const dnnl::stream& stream) {
    if (is_copied_)
      dnnl::reorder(inner_, plain_).execute(stream, inner_, plain_);
  }

 private:
  memory plain_, inner_;
  bool is_copied_;
  Scratch space_;
};

class Convolution final : public Kernel {
 public:
  // `tensors` are the operands and, behind them, the result.
  Convolution(const dnnl::primitive_desc_base& made,
              const dnnl::primitive& primitive,
              const std::vector<Tensor>& tensors, int threads)
      : primitive_(primitive), stream_(cpu_engine()), threads_(threads) {
    for (const Tensor& t : tensors) {
      sides_.emplace_back(t.plain,
                          made.query_md(dnnl::query::exec_arg_md, t.argument));
      arguments_.emplace(t.argument, sides_.back().inner());
    }
    const memory::desc scratch = made.scratchpad_desc();
    scratch_.reset(allocate_aligned(scratch.get_size()));
    arguments_.emplace(DNNL_ARG_SCRATCHPAD,
                       memory(scratch, cpu_engine(), scratch_.get()));
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    set_threads(threads_);
    Side& result = sides_.back();
    for (size_t i = 0; i + 1 < sides_.size(); ++i) {
      // oneDNN uses the same type for memory that it reads and memory that it
      // writes.
      sides_[i].set(const_cast<void*>(in[i]));
      sides_[i].read(stream_);
    }
    result.set(out[0]);
    primitive_.execute(stream_, arguments_);
    result.write(stream_);
    return ok_status();
  }

 private:
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<Side> sides_;
  Scratch scratch_;
  std::unordered_map<int, memory> arguments_;
  int threads_;
};

template <typename Primitive, typename Made>
std::unique_ptr<Kernel> kernel_of(const Made& made,
                                  const std::vector<Tensor>& tensors,
                                  const Context& context) {
  if (!made || is_dnnl_reference(made.impl_info_str())) return nullptr;
  return std::make_unique<Convolution>(made, Primitive(made), tensors,
                                       context.threads);
}

// True if all tensors are f32 and none is empty.
bool is_for_dnnl(const Call& call) {
  const auto fits = [](const Type& type) {
    return type.dtype == Dtype::kF32 && type.elements() > 0;
  };
  return fits(call.results[0]) &&
         std::all_of(
             call.arguments.begin(), call.arguments.end(),
             [&](const Argument& a) { return !is_tensor(a) || fits(a.type); });
}

std::unique_ptr<Kernel> forward(const Call& call, const Context& context) {
  if (!is_for_dnnl(call)) return nullptr;
  set_threads(context.threads);
  const Description d(windows_of(call).value());
  std::vector<Tensor> tensors = {{DNNL_ARG_SRC, d.image},
                                 {DNNL_ARG_WEIGHTS, d.weight}};
  if (call.given(2)) tensors.push_back({DNNL_ARG_BIAS, d.bias});
  tensors.push_back({DNNL_ARG_DST, d.made});
  return kernel_of<dnnl::convolution_forward>(d.forward(call.given(2)), tensors,
                                              context);
}

std::unique_ptr<Kernel> by_image(const Call& call, const Context& context) {
  if (!is_for_dnnl(call)) return nullptr;
  set_threads(context.threads);
  const Description d(windows_of(call).value());
  return kernel_of<dnnl::convolution_backward_data>(
      d.by_image(),
      {{DNNL_ARG_DIFF_DST, d.made},
       {DNNL_ARG_WEIGHTS, d.weight},
       {DNNL_ARG_DIFF_SRC, d.image}},
      context);
}

std::unique_ptr<Kernel> by_weight(const Call& call, const Context& context) {
  if (!is_for_dnnl(call)) return nullptr;
  set_threads(context.threads);
  const Description d(windows_of(call).value());
  return kernel_of<dnnl::convolution_backward_weights>(
      d.by_weight(),
      {{DNNL_ARG_DIFF_DST, d.made},
       {DNNL_ARG_SRC, d.image},
       {DNNL_ARG_DIFF_WEIGHTS, d.weight}},
      context);
}

constexpr KernelRow kConvolutionKernels[] = {
    {"conv2d", forward},
    {"conv2d_input_grad", by_image},
    {"conv2d_weight_grad", by_weight},
};

}  // namespace

std::span<const KernelRow> convolution_kernels() { return kConvolutionKernels; }

}  // namespace gt::exec::cpu

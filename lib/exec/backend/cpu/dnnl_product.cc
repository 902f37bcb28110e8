#include "exec/backend/cpu/dnnl_product.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "exec/backend/cpu/dnnl.h"
#include "exec/backend/cpu/parallel.h"

namespace gt::exec::cpu {

const dnnl::engine& cpu_engine() {
  static const dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

void set_threads(int threads) {
#ifdef _OPENMP
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
#else
  (void)threads;
#endif
}

bool is_dnnl_reference(const char* impl_info) {
  return std::strstr(impl_info, "ref") != nullptr;
}

namespace {

dnnl::memory::data_type type_of(Dtype dtype) {
  return dtype == Dtype::kBf16 ? dnnl::memory::data_type::bf16
                               : dnnl::memory::data_type::f32;
}

// Describes row-major matrices, or their transposes, one after another. The
// rows of a matrix that has no batch may be `longer` elements further apart
// than their length.
dnnl::memory::desc matrices(Dtype dtype, const Shape& batch, int64_t rows,
                            int64_t columns, bool transposed,
                            int64_t longer = 0) {
  dnnl::memory::dims dims(batch.begin(), batch.end());
  dims.push_back(rows);
  dims.push_back(columns);
  dnnl::memory::dims strides(dims.size());
  strides[dims.size() - 1] = transposed ? rows + longer : 1;
  strides[dims.size() - 2] = transposed ? 1 : columns + longer;
  int64_t step = rows * columns;
  for (size_t d = batch.size(); d-- > 0;) {
    strides[d] = step;
    step *= batch[d];
  }
  return {dims, type_of(dtype), strides};
}

class MatmulPrimitive final : public DnnlProduct {
 public:
  MatmulPrimitive(const dnnl::matmul::primitive_desc& description, bool bias,
                  int threads)
      : primitive_(description),
        stream_(cpu_engine()),
        a_(description.src_desc(), cpu_engine(), nullptr),
        b_(description.weights_desc(), cpu_engine(), nullptr),
        c_(description.dst_desc(), cpu_engine(), nullptr),
        threads_(threads) {
    const auto scratch = description.scratchpad_desc();
    scratch_data_.reset(allocate_aligned(scratch.get_size()));
    scratch_ = dnnl::memory(scratch, cpu_engine(), scratch_data_.get());
    arguments_ = {{DNNL_ARG_SRC, a_.get()},
                  {DNNL_ARG_WEIGHTS, b_.get()},
                  {DNNL_ARG_DST, c_.get()},
                  {DNNL_ARG_SCRATCHPAD, scratch_.get()}};
    if (!bias) return;
    bias_ = dnnl::memory(description.bias_desc(), cpu_engine(), nullptr);
    arguments_.push_back({DNNL_ARG_BIAS, bias_.get()});
  }

  void run(const void* a, const void* b, const void* bias, void* c) override {
    set_threads(threads_);
    set(a_, a);
    set(b_, b);
    set(c_, c);
    if (arguments_.size() > 4) set(bias_, bias);
    const dnnl_status_t status = dnnl_primitive_execute(
        primitive_.get(), stream_.get(), static_cast<int>(arguments_.size()),
        arguments_.data());
    GT_CHECK(status == dnnl_success);
  }

 private:
  static void set(dnnl::memory& memory, const void* data) {
    // oneDNN uses the same type for memory that it reads and memory that it
    // writes.
    (void)dnnl_memory_set_data_handle(memory.get(), const_cast<void*>(data));
  }

  dnnl::matmul primitive_;
  dnnl::stream stream_;
  dnnl::memory a_, b_, c_, bias_, scratch_;
  Scratch scratch_data_;
  std::vector<dnnl_exec_arg_t> arguments_;
  int threads_;
};

// Copies a matrix to memory where its rows are further apart.
class Lengthened {
 public:
  static constexpr int64_t kBy = 16;

  Lengthened(int64_t rows, int64_t columns, int threads)
      : rows_(rows), columns_(columns), threads_(threads) {}

  const void* copy(const void* from, std::vector<float>& space) const {
    const int64_t wide = columns_ + kBy;
    const auto size = static_cast<size_t>(rows_ * wide);
    if (space.size() < size) space.resize(size);
    float* to = space.data();
    const auto* data = static_cast<const float*>(from);
    in_parallel(threads_, rows_, std::max<int64_t>(1, kWorthAThread / columns_),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) {
                    std::copy_n(data + i * columns_, columns_, to + i * wide);
                  }
                });
    return to;
  }

 private:
  int64_t rows_, columns_;
  int threads_;
};

// Decides which operands are copied to longer rows: those whose rows are 1 KiB
// long or a multiple of that. Such rows fall on few sets of the caches, and
// oneDNN's kernels for AVX2 read operands in place unless both m and n are
// large. Measured on Zen 3 with 1 thread, in GFLOP/s without and with copies,
// including the time for copying; x of [k,m] with ta, and b of [k,n]: k 1024, m
// 256, n 1024 37 and 72; m 1024, n 256 41 and 72; without ta, m 1024, k 1024, n
// 256 68 and 81; m 768, n 3072 83 and 78, which is not copied.
struct Lengthening {
  explicit Lengthening(const ProductShape& s) {
    const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
    const auto has = [isa](dnnl_cpu_isa_t which) {
      const auto wanted = static_cast<unsigned>(which);
      return (isa & wanted) == wanted;
    };
    if (!has(dnnl_cpu_isa_avx2) || has(dnnl_cpu_isa_avx512_core)) return;
    if (s.dtype != Dtype::kF32 || !s.batch.empty()) return;
    if (s.m * s.n >= kPacked * (s.m + s.n)) return;
    a = s.ta && s.m % 512 == 0 && s.n >= kReread && s.m * s.k <= kMost;
    b = (s.tb ? s.k : s.n) % 256 == 0 && s.m >= kReread && s.k * s.n <= kMost;
  }

  static constexpr int64_t kPacked = 256;
  // With this many reads of a row, the copy pays.
  static constexpr int64_t kReread = 128;
  static constexpr int64_t kMost = int64_t{2} << 20;
  bool a = false;
  bool b = false;
};

class LengthenedProduct final : public DnnlProduct {
 public:
  LengthenedProduct(std::unique_ptr<DnnlProduct> product, const ProductShape& s,
                    Lengthening which, int threads)
      : product_(std::move(product)),
        which_(which),
        a_(s.k, s.m, threads),
        b_(s.tb ? s.n : s.k, s.tb ? s.k : s.n, threads) {}

  void run(const void* a, const void* b, const void* bias, void* c) override {
    // The space belongs to the thread and not to a product, since each line has
    // a product of its own.
    thread_local std::vector<float> a_space, b_space;
    product_->run(which_.a ? a_.copy(a, a_space) : a,
                  which_.b ? b_.copy(b, b_space) : b, bias, c);
  }

 private:
  std::unique_ptr<DnnlProduct> product_;
  Lengthening which_;
  Lengthened a_, b_;
};

// dnnl_sgemm packs both matrices, which pays if they exceed the caches.
// Measured on Zen 5 with AVX-512 and 1 thread, in GFLOP/s of the primitive and
// of sgemm: 1024^3 249 and 251, 2048^3 227 and 249, 4096^3 215 and 250.
class Sgemm final : public DnnlProduct {
 public:
  Sgemm(const ProductShape& shape, int threads)
      : shape_(shape), threads_(threads) {}

  void run(const void* a, const void* b, const void* bias, void* c) override {
    set_threads(threads_);
    const ProductShape& s = shape_;
    auto* to = static_cast<float*>(c);
    if (s.bias) {
      const auto* row = static_cast<const float*>(bias);
      for (int64_t i = 0; i < s.m; ++i) std::copy_n(row, s.n, to + i * s.n);
    }
    const dnnl_status_t status =
        dnnl_sgemm(s.ta ? 'T' : 'N', s.tb ? 'T' : 'N', s.m, s.n, s.k, 1,
                   static_cast<const float*>(a), s.ta ? s.m : s.k,
                   static_cast<const float*>(b), s.tb ? s.k : s.n,
                   s.bias ? 1 : 0, to, s.n);
    GT_CHECK(status == dnnl_success);
  }

 private:
  ProductShape shape_;
  int threads_;
};

// Least m * n * k, about 1170^3.
constexpr int64_t kSgemmFrom = int64_t{3} << 29;

// Without bf16 instructions, oneDNN's bf16 takes three times as long as f32.
bool has_bf16() {
  const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
  constexpr auto kNeeded = static_cast<unsigned>(dnnl_cpu_isa_avx512_core_bf16);
  return (isa & kNeeded) == kNeeded;
}

}  // namespace

std::unique_ptr<DnnlProduct> make_dnnl_product(const ProductShape& shape,
                                               const Context& context) {
  const ProductShape& s = shape;
  if (s.dtype == Dtype::kBf16 && !has_bf16()) return nullptr;
  if (s.dtype == Dtype::kF32 && s.batch.empty() &&
      s.m * s.n * s.k >= kSgemmFrom) {
    return std::make_unique<Sgemm>(shape, context.threads);
  }
  set_threads(context.threads);
  const Lengthening longer(s);
  const auto a = matrices(s.dtype, s.a_batch, s.m, s.k, s.ta,
                          longer.a ? Lengthened::kBy : 0);
  const auto b = matrices(s.dtype, s.b_batch, s.k, s.n, s.tb,
                          longer.b ? Lengthened::kBy : 0);
  const auto c = matrices(s.to, s.batch, s.m, s.n, false);
  Shape ones = s.batch;
  for (size_t d = 0; d < ones.size(); ++d) ones[d] = 1;
  const auto bias = matrices(s.dtype, ones, 1, s.n, false);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::matmul::desc wanted =
      s.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
  const dnnl::matmul::primitive_desc found(wanted, attributes, cpu_engine(),
                                           true);
  if (!found) return nullptr;
  if (is_dnnl_reference(found.impl_info_str())) return nullptr;
  auto product =
      std::make_unique<MatmulPrimitive>(found, s.bias, context.threads);
  if (!longer.a && !longer.b) return product;
  return std::make_unique<LengthenedProduct>(std::move(product), s, longer,
                                             context.threads);
}

}  // namespace gt::exec::cpu

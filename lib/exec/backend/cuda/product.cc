#include "exec/backend/cuda/product.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "exec/backend/cuda/disk_cache.h"

namespace gt::exec::cuda {
namespace {

// The alignment of values, in bytes (memory/device.h).
constexpr uint64_t kOperandAlignment = 64;

cudaDataType_t cuda_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return CUDA_R_64F;
    case Dtype::kF16:
      return CUDA_R_16F;
    case Dtype::kBf16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

// Returns the alignment, in bytes, that all matrices of an operand have.
uint32_t alignment_of(const Product& product, size_t operand) {
  const auto size =
      static_cast<uint64_t>(size_of(operand == 2 ? product.to : product.dtype));
  uint64_t bits = kOperandAlignment;
  bits |= static_cast<uint64_t>(product.step[operand]) * size;
  for (const auto& start : product.starts) {
    bits |= static_cast<uint64_t>(start[operand]) * size;
  }
  return static_cast<uint32_t>(bits & (~bits + 1));  // the lowest bit
}

// The cache kind (disk_cache.h) under which algorithms are kept.
constexpr const char* kKind = "product";

// Returns a text of all that the choice of an algorithm depends on.
std::string text_of(const Product& p) {
  std::string out = std::string(to_string(p.dtype)) + " " +
                    std::string(to_string(p.to)) + (p.ta ? " ta" : "") +
                    (p.tb ? " tb" : "") +
                    (p.bias.home == Slot::Home::kNone ? "" : " bias");
  const int64_t numbers[] = {p.m,       p.n,       p.k,      p.count,
                             p.step[0], p.step[1], p.step[2]};
  for (const int64_t number : numbers) out += " " + std::to_string(number);
  for (size_t i = 0; i < 3; ++i)
    out += " " + std::to_string(alignment_of(p, i));
  return out + " " + std::to_string(CudaDevice::kWorkspace);
}

}  // namespace

Products::~Products() {
  if (handle_ == nullptr || !device_.gpu().enter().ok()) return;
  (void)device_.finish();
  (void)lt().cublasLtDestroy(handle_);
}

Result<cublasLtHandle_t> Products::handle() {
  const std::lock_guard lock(mutex_);
  if (handle_ == nullptr) {
    const Status s = check(lt().cublasLtCreate(&handle_), "cublasLtCreate");
    if (!s.ok()) return s.error();
  }
  return handle_;
}

Result<std::unique_ptr<LibraryProduct>> LibraryProduct::make(
    Products& products, const Product& product) {
  std::unique_ptr<LibraryProduct> made(new LibraryProduct(products, product));
  if (Status s = made->start(); !s.ok()) return s.error();
  return made;
}

LibraryProduct::~LibraryProduct() {
  const Lt& lt = products_.lt();
  for (cublasLtMatrixLayout_t layout : {a_, b_, c_}) {
    if (layout != nullptr) (void)lt.cublasLtMatrixLayoutDestroy(layout);
  }
  if (operation_ != nullptr) (void)lt.cublasLtMatmulDescDestroy(operation_);
}

Status LibraryProduct::start() {
  if (Status s = products_.device().gpu().enter(); !s.ok()) return s;
  if (Status s = describe(); !s.ok()) return s;
  return choose();
}

// The library's matrices are column-major, so it is asked for the transpose of
// c, which is the transpose of b times the transpose of a. That is why b comes
// first in its calls.
Status LibraryProduct::describe() {
  const Lt& lt = products_.lt();
  const Product& p = product_;
  const bool is_double = p.dtype == Dtype::kF64;
  Status s = check(
      lt.cublasLtMatmulDescCreate(
          &operation_, is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
          is_double ? CUDA_R_64F : CUDA_R_32F),
      "cublasLtMatmulDescCreate");
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute,
                       const auto& value) {
    if (!s.ok()) return;
    s = check(lt.cublasLtMatmulDescSetAttribute(operation_, attribute, &value,
                                                sizeof value),
              "cublasLtMatmulDescSetAttribute");
  };
  const auto operation = [](bool swapped) {
    return static_cast<int32_t>(swapped ? CUBLAS_OP_T : CUBLAS_OP_N);
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, operation(p.tb));
  set(CUBLASLT_MATMUL_DESC_TRANSB, operation(p.ta));
  if (p.bias.home != Slot::Home::kNone) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE,
        static_cast<uint32_t>(CUBLASLT_EPILOGUE_BIAS));
  }
  const auto layout = [&](cublasLtMatrixLayout_t& made, Dtype dtype,
                          int64_t rows, int64_t columns, int64_t step) {
    if (!s.ok()) return;
    s = check(lt.cublasLtMatrixLayoutCreate(
                  &made, cuda_type(dtype), static_cast<uint64_t>(columns),
                  static_cast<uint64_t>(rows), columns),
              "cublasLtMatrixLayoutCreate");
    const auto batch = [&](cublasLtMatrixLayoutAttribute_t attribute,
                           const auto& value) {
      if (!s.ok()) return;
      s = check(lt.cublasLtMatrixLayoutSetAttribute(made, attribute, &value,
                                                    sizeof value),
                "cublasLtMatrixLayoutSetAttribute");
    };
    if (p.count == 1) return;
    batch(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(p.count));
    batch(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, step);
  };
  layout(a_, p.dtype, p.ta ? p.k : p.m, p.ta ? p.m : p.k, p.step[0]);
  layout(b_, p.dtype, p.tb ? p.n : p.k, p.tb ? p.k : p.n, p.step[1]);
  layout(c_, p.to, p.m, p.n, p.step[2]);
  return s;
}

// The library's heuristics are asked once for each kind of GPU, version of the
// library and form of product. The library's manual says that the algorithm
// they choose may be kept and used again with the same version; the library is
// still asked whether it accepts the algorithm.
Status LibraryProduct::choose() {
  const auto handle = products_.handle();
  if (!handle.ok()) return handle.error();
  const auto name = products_.device().gpu().name();
  if (!name.ok()) return name.error();
  const std::string key = name.value() + " " +
                          std::to_string(products_.lt().cublasLtGetVersion()) +
                          " " + text_of(product_);
  const std::string kept = read_cached(kKind, key);
  if (kept.size() == sizeof algorithm_) {
    std::memcpy(&algorithm_, kept.data(), sizeof algorithm_);
    if (is_taken(handle.value())) return ok_status();
  }
  if (Status s = ask(handle.value()); !s.ok()) return s;
  write_cached(kKind, key,
               {reinterpret_cast<const char*>(&algorithm_), sizeof algorithm_});
  return ok_status();
}

bool LibraryProduct::is_taken(cublasLtHandle_t handle) {
  cublasLtMatmulHeuristicResult_t found{};
  const cublasStatus_t status = products_.lt().cublasLtMatmulAlgoCheck(
      handle, operation_, b_, a_, c_, c_, &algorithm_, &found);
  needs_workspace_ = found.workspaceSize > 0;
  return status == CUBLAS_STATUS_SUCCESS &&
         found.workspaceSize <= CudaDevice::kWorkspace;
}

Status LibraryProduct::ask(cublasLtHandle_t handle) {
  const Lt& lt = products_.lt();
  cublasLtMatmulPreference_t preference = nullptr;
  Status s = check(lt.cublasLtMatmulPreferenceCreate(&preference),
                   "cublasLtMatmulPreferenceCreate");
  if (!s.ok()) return s;
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                          const auto& value) {
    if (!s.ok()) return;
    s = check(lt.cublasLtMatmulPreferenceSetAttribute(preference, attribute,
                                                      &value, sizeof value),
              "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
         uint64_t{CudaDevice::kWorkspace});
  // In-place reduction is excluded, since its order of sums would depend on
  // timing.
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
         uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(product_, 1));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(product_, 0));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(product_, 2));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(product_, 2));
  cublasLtMatmulHeuristicResult_t best{};
  int count = 0;
  if (s.ok()) {
    s = check(
        lt.cublasLtMatmulAlgoGetHeuristic(handle, operation_, b_, a_, c_, c_,
                                          preference, 1, &best, &count),
        "cublasLtMatmulAlgoGetHeuristic");
  }
  (void)lt.cublasLtMatmulPreferenceDestroy(preference);
  if (!s.ok()) return s;
  if (count == 0) {
    return Error{"cuBLASLt has no way to multiply matrices of these sizes"};
  }
  algorithm_ = best.algo;
  needs_workspace_ = best.workspaceSize > 0;
  return ok_status();
}

Status LibraryProduct::run(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c,
                           CUdeviceptr bias) {
  const Lt& lt = products_.lt();
  CudaDevice& device = products_.device();
  const auto handle = products_.handle();
  if (!handle.ok()) return handle.error();
  const auto workspace = device.workspace();
  // On a GPU that is nearly full, what needs no workspace does without.
  if (!workspace.ok() && needs_workspace_) return workspace.error();
  if (bias != 0) {
    Status s = check(
        lt.cublasLtMatmulDescSetAttribute(
            operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
        "cublasLtMatmulDescSetAttribute");
    if (!s.ok()) return s;
  }
  const double one_f64 = 1;
  const double none_f64 = 0;
  const float one_f32 = 1;
  const float none_f32 = 0;
  const bool is_double = product_.dtype == Dtype::kF64;
  const void* one = is_double ? static_cast<const void*>(&one_f64) : &one_f32;
  const void* none =
      is_double ? static_cast<const void*>(&none_f64) : &none_f32;
  const auto at = [](CUdeviceptr base, int64_t element, Dtype dtype) {
    return reinterpret_cast<void*>(base + static_cast<CUdeviceptr>(element) *
                                              size_of(dtype));
  };
  for (const auto& start : product_.starts) {
    void* const to = at(c, start[2], product_.to);
    Status s = check(
        lt.cublasLtMatmul(
            handle.value(), operation_, one, at(b, start[1], product_.dtype),
            b_, at(a, start[0], product_.dtype), a_, none, to, c_, to, c_,
            &algorithm_,
            workspace.ok() ? reinterpret_cast<void*>(workspace.value())
                           : nullptr,
            workspace.ok() ? CudaDevice::kWorkspace : 0, device.stream()),
        "cublasLtMatmul");
    if (!s.ok()) return s;
  }
  return ok_status();
}

}  // namespace gt::exec::cuda

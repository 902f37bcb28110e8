// libcublasLt.so.13 of the fake device: products by plain loops, as the
// descriptions say.
#include <cublasLt.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "exec/backend/element.h"
#include "machine.h"

using gt::Dtype;
using gt::fake::wrong;

namespace {

// The beginning of each algorithm of this library.
constexpr uint64_t kAlgorithm = 0x6774;

struct Operation {
  cudaDataType_t scale;
  int32_t a_swapped = 0, b_swapped = 0;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  uint64_t bias = 0;
};
struct Layout {
  cudaDataType_t type;
  int64_t rows, columns, lead;  // column-major
  int32_t count = 1;
  int64_t step = 0;
};
struct Matrix {
  Layout layout;
  uint64_t data;
};
struct Job {
  Operation operation;
  Matrix a, b, d;
  uint64_t workspace;
  size_t workspace_bytes;
};

template <typename T, typename Handle>
T* of(Handle handle) {
  return reinterpret_cast<T*>(handle);
}

Dtype dtype_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F:
      return Dtype::kF64;
    case CUDA_R_16F:
      return Dtype::kF16;
    case CUDA_R_16BF:
      return Dtype::kBf16;
    case CUDA_R_32F:
      return Dtype::kF32;
    default:
      wrong("a product of a dtype that the fake device lacks");
  }
}

// Returns the workspace that a product needs; a small result needs none.
size_t needed_workspace(const Layout& d) {
  return d.rows * d.columns < 1024 ? 0 : 4096;
}

// The bytes from the beginning of the first matrix to the end of the last one.
size_t bytes_of(const Layout& l) {
  const int64_t last = (l.count - 1) * (l.step > 0 ? l.step : 0);
  const int64_t one = (l.columns - 1) * l.lead + l.rows;
  return static_cast<size_t>(last + one) * size_of(dtype_of(l.type));
}

// A matrix as rows of doubles, after its operation.
std::vector<double> rows_of(const Matrix& m, const void* data, bool swapped,
                            int64_t batch) {
  const Layout& l = m.layout;
  const int64_t rows = swapped ? l.columns : l.rows;
  const int64_t columns = swapped ? l.rows : l.columns;
  std::vector<double> out;
  out.reserve(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t at = swapped ? i * l.lead + j : j * l.lead + i;
      out.push_back(
          gt::exec::load_real(dtype_of(l.type), data, batch * l.step + at));
    }
  }
  return out;
}

// How many products are added up for an element of the result.
int64_t inner_of(const Job& job) {
  return job.operation.a_swapped == CUBLAS_OP_T ? job.a.layout.rows
                                                : job.a.layout.columns;
}

void multiply(const Job& job) {
  const void* a = gt_fake_at(job.a.data, bytes_of(job.a.layout));
  const void* b = gt_fake_at(job.b.data, bytes_of(job.b.layout));
  void* d = gt_fake_at(job.d.data, bytes_of(job.d.layout));
  const Layout& to = job.d.layout;
  const Dtype dtype = dtype_of(to.type);
  const bool biased = job.operation.epilogue == CUBLASLT_EPILOGUE_BIAS;
  const void* bias =
      biased ? gt_fake_at(job.operation.bias,
                          static_cast<size_t>(to.rows) * size_of(dtype))
             : nullptr;
  const bool a_swapped = job.operation.a_swapped == CUBLAS_OP_T;
  const bool b_swapped = job.operation.b_swapped == CUBLAS_OP_T;
  const int64_t inner = inner_of(job);
  // A library may overwrite all of its workspace.
  if (job.workspace_bytes > 0) {
    std::memset(gt_fake_at(job.workspace, job.workspace_bytes), 0xee, 4096);
  }
  std::vector<double> sums(static_cast<size_t>(to.columns));
  for (int64_t batch = 0; batch < to.count; ++batch) {
    const std::vector<double> x = rows_of(job.a, a, a_swapped, batch);
    const std::vector<double> y = rows_of(job.b, b, b_swapped, batch);
    for (int64_t i = 0; i < to.rows; ++i) {
      std::fill(sums.begin(), sums.end(),
                biased ? gt::exec::load_real(dtype, bias, i) : 0.0);
      for (int64_t k = 0; k < inner; ++k) {
        const double factor = x[static_cast<size_t>(i * inner + k)];
        const double* row = y.data() + k * to.columns;
        for (int64_t j = 0; j < to.columns; ++j) {
          sums[static_cast<size_t>(j)] += factor * row[j];
        }
      }
      for (int64_t j = 0; j < to.columns; ++j) {
        gt::exec::store_real(dtype, d, batch * to.step + j * to.lead + i,
                             sums[static_cast<size_t>(j)]);
      }
    }
  }
  for (const Matrix* m : {&job.a, &job.b, &job.d}) gt_fake_check(m->data);
}

// Flops as if in f16; those of wider dtypes count sixteen times.
double flops_of(const Job& job) {
  const Layout& d = job.d.layout;
  const double each = size_of(dtype_of(job.a.layout.type)) > 2 ? 16 : 1;
  return each * 2 * static_cast<double>(d.count) * static_cast<double>(d.rows) *
         static_cast<double>(d.columns) * static_cast<double>(inner_of(job));
}

template <typename T>
void put(T& to, const void* from, size_t bytes) {
  if (bytes != sizeof(T)) wrong("an attribute of another size");
  std::memcpy(&to, from, bytes);
}

bool fits(const Operation& o, const Layout& a, const Layout& b,
          const Layout& d) {
  const bool at = o.a_swapped == CUBLAS_OP_T;
  const bool bt = o.b_swapped == CUBLAS_OP_T;
  return (at ? a.columns : a.rows) == d.rows &&
         (bt ? b.rows : b.columns) == d.columns &&
         (at ? a.rows : a.columns) == (bt ? b.columns : b.rows) &&
         a.count == d.count && b.count == d.count && a.lead >= a.rows &&
         b.lead >= b.rows && d.lead >= d.rows && d.rows > 0 && d.columns > 0;
}

}  // namespace

#define GT_ENTER \
  if (gt_fake_fails()) return CUBLAS_STATUS_INTERNAL_ERROR;

extern "C" {

size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  GT_ENTER
  static int one;
  *handle = reinterpret_cast<cublasLtHandle_t>(&one);
  gt_fake_count(0, 1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t /*handle*/) {
  gt_fake_count(0, -1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made,
                                        cublasComputeType_t /*compute*/,
                                        cudaDataType_t scale) {
  GT_ENTER
  *made = of<cublasLtMatmulDescOpaque_t>(new Operation{scale});
  gt_fake_count(0, 1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete of<Operation>(operation);
  gt_fake_count(0, -1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
    const void* value, size_t bytes) {
  GT_ENTER
  auto* o = of<Operation>(operation);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      put(o->a_swapped, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_TRANSB:
      put(o->b_swapped, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      put(o->epilogue, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      put(o->bias, value, bytes);
      break;
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t lead) {
  GT_ENTER
  *made = of<cublasLtMatrixLayoutOpaque_t>(new Layout{
      type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), lead});
  gt_fake_count(0, 1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete of<Layout>(layout);
  gt_fake_count(0, -1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
    const void* value, size_t bytes) {
  GT_ENTER
  auto* l = of<Layout>(layout);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
    put(l->count, value, bytes);
  } else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) {
    put(l->step, value, bytes);
  } else {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(
    cublasLtMatmulPreference_t* preference) {
  GT_ENTER
  *preference = of<cublasLtMatmulPreferenceOpaque_t>(new int);
  gt_fake_count(0, 1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(
    cublasLtMatmulPreference_t preference) {
  delete of<int>(preference);
  gt_fake_count(0, -1);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t /*preference*/,
    cublasLtMatmulPreferenceAttributes_t /*attribute*/, const void* /*value*/,
    size_t /*bytes*/) {
  GT_ENTER
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t /*handle*/, cublasLtMatmulDesc_t operation,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t /*c*/, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t /*preference*/, int /*most*/,
    cublasLtMatmulHeuristicResult_t found[], int* count) {
  GT_ENTER
  *count = fits(*of<Operation>(operation), *of<Layout>(a), *of<Layout>(b),
                *of<Layout>(d))
               ? 1
               : 0;
  found[0] = {};
  found[0].algo.data[0] = kAlgorithm;
  found[0].workspaceSize = needed_workspace(*of<Layout>(d));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t /*handle*/,
                                       cublasLtMatmulDesc_t operation,
                                       cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t /*c*/,
                                       cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* found) {
  GT_ENTER
  if (!fits(*of<Operation>(operation), *of<Layout>(a), *of<Layout>(b),
            *of<Layout>(d)) ||
      algorithm->data[0] != kAlgorithm) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  *found = {};
  found->workspaceSize = needed_workspace(*of<Layout>(d));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(
    cublasLtHandle_t /*handle*/, cublasLtMatmulDesc_t operation,
    const void* /*alpha*/, const void* a, cublasLtMatrixLayout_t a_layout,
    const void* b, cublasLtMatrixLayout_t b_layout, const void* /*beta*/,
    const void* /*c*/, cublasLtMatrixLayout_t /*c_layout*/, void* d,
    cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm,
    void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  GT_ENTER
  if (algorithm->data[0] != kAlgorithm) return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto matrix = [](const void* data, cublasLtMatrixLayout_t layout) {
    return Matrix{*of<Layout>(layout), reinterpret_cast<uint64_t>(data)};
  };
  auto* job = new Job{*of<Operation>(operation),
                      matrix(a, a_layout),
                      matrix(b, b_layout),
                      matrix(d, d_layout),
                      reinterpret_cast<uint64_t>(workspace),
                      workspace_bytes};
  if (!fits(job->operation, job->a.layout, job->b.layout, job->d.layout) ||
      workspace_bytes < needed_workspace(job->d.layout)) {
    delete job;
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  gt_fake_give(
      stream, [](void* data) { multiply(*static_cast<Job*>(data)); }, job,
      [](void* data) { delete static_cast<Job*>(data); },
      bytes_of(job->a.layout) + bytes_of(job->b.layout) +
          bytes_of(job->d.layout),
      flops_of(*job));
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"

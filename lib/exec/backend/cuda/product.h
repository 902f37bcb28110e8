// Matrix products computed by cuBLASLt.
#pragma once

#include <memory>
#include <mutex>

#include "exec/backend/cuda/device.h"
#include "exec/backend/cuda/plan.h"

namespace gt::exec::cuda {

// The library on one device. Must outlive the LibraryProducts made with it.
class Products {
 public:
  explicit Products(CudaDevice& device) : device_(device) {}
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  // Returns the library's handle, which is made on the first call.
  Result<cublasLtHandle_t> handle();
  CudaDevice& device() { return device_; }
  const Lt& lt() { return device_.gpu().api().lt; }

 private:
  CudaDevice& device_;
  std::mutex mutex_;
  cublasLtHandle_t handle_ = nullptr;
};

// A product for which the library's heuristics chose an algorithm, now or in an
// earlier process (disk_cache.h). Sums are in f32 (f64 for f64), without TF32
// and without atomics.
class LibraryProduct {
 public:
  static Result<std::unique_ptr<LibraryProduct>> make(Products& products,
                                                      const Product& product);
  ~LibraryProduct();
  LibraryProduct(const LibraryProduct&) = delete;
  LibraryProduct& operator=(const LibraryProduct&) = delete;

  // Computes the product on the device's stream. The addresses are those of the
  // operands and the result; `bias` is 0 if there is none.
  Status run(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, CUdeviceptr bias);

 private:
  LibraryProduct(Products& products, const Product& product)
      : products_(products), product_(product) {}
  Status start();
  Status describe();
  Status choose();
  bool is_taken(cublasLtHandle_t handle);
  Status ask(cublasLtHandle_t handle);

  Products& products_;
  Product product_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
  bool needs_workspace_ = true;  // of the algorithm
};

}  // namespace gt::exec::cuda

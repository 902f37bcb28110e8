// Matrix products by cuBLASLt.
#pragma once

#include <memory>
#include <mutex>

#include "exec/backend/cuda/device.h"
#include "exec/backend/cuda/plan.h"

namespace gt::exec::cuda {

// The library on one device.
class Products {
 public:
  explicit Products(CudaDevice& device) : device_(device) {}
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  // The library's handle, made when it is first asked for.
  Result<cublasLtHandle_t> handle();
  CudaDevice& device() { return device_; }
  const Lt& lt() { return device_.gpu().api().lt; }

 private:
  CudaDevice& device_;
  std::mutex mutex_;
  cublasLtHandle_t handle_ = nullptr;
};

// A product whose way of computing the library's heuristics chose, now or in an
// earlier process. Sums are of f32 (f64 for f64), without TF32 and without
// atomics.
class LibraryProduct {
 public:
  static Result<std::unique_ptr<LibraryProduct>> make(Products& products,
                                                      const Product& product);
  ~LibraryProduct();
  LibraryProduct(const LibraryProduct&) = delete;
  LibraryProduct& operator=(const LibraryProduct&) = delete;

  // The addresses are those of the operands and of the result.
  Status run(CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, CUdeviceptr bias);

 private:
  LibraryProduct(Products& products, const Product& product)
      : products_(products), product_(product) {}
  Status start();
  Status describe();
  Status choose();
  bool is_taken(cublasLtHandle_t handle) const;
  Status ask(cublasLtHandle_t handle);

  Products& products_;
  Product product_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace gt::exec::cuda

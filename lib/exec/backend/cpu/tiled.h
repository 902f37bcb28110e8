// A kernel that computes its result element by element, from operands of as
// many elements or of one. So it may be run on any part of them, such as a
// tile that stays in the nearest cache, and with others on the same tile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "exec/backend/backend.h"

namespace gt::exec::cpu {

class Tiled : public Kernel {
 public:
  static constexpr size_t kMostOperands = 3;

  // The addresses of a run's operands.
  struct Operands {
    std::array<const void*, kMostOperands> at{};
    std::array<double, kMostOperands> scalars{};  // to which `at` may point
  };

  // Returns the bytes of an element of operand k; 0 if it is one value.
  virtual int64_t operand_size(size_t k) const = 0;
  virtual int64_t result_size() const = 0;
  // Returns the least elements for which a second thread pays.
  virtual int64_t least() const = 0;
  // Sets the addresses of the operands that are one value.
  virtual void load_scalars(std::span<const void* const> in,
                            Operands& operands) const = 0;
  // Computes n elements. It cannot fail where fusible_elements() is not 0. The
  // result may lie where an operand of the same element size does.
  virtual void run_tile(const void* const* operands, void* out,
                        int64_t n) const = 0;
};

// CpuBackend::fuse()
std::unique_ptr<Kernel> fuse(std::span<const FusedStep> steps, int threads);

}  // namespace gt::exec::cpu

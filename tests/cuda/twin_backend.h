// A backend with the kernels of the CUDA backend, compiled for the host. Plain
// loops do the products, for which a GPU has a library.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "exec/backend/backend.h"
#include "exec/backend/cuda/plan.h"

namespace gt::exec {

// Compiled kernels, and texts that wait until they are worth a run of the
// compiler.
class TwinKernels {
 public:
  using Function = void (*)(const cuda::Args*, const cuda::Items*);
  // Adds a text, which is compiled when the first kernel is asked for.
  void add(const cuda::Source& source);
  // Aborts with the words of the compiler if the text is wrong.
  Function find(const cuda::Source& source);

 private:
  void compile();
  std::map<std::string, std::string> waiting_;  // texts by their names
  std::map<std::string, Function> ready_;
};

// Ops without a plan are null; if not `fuses`, so are ops whose plan is made
// from their expansion. The kernels must outlive the backend.
std::unique_ptr<Backend> make_twin_backend(TwinKernels& kernels,
                                           bool fuses = true);

// A backend that computes nothing itself: it adds to `kernels` each kernel that
// the twin would need, and gives the reference's kernels.
std::unique_ptr<Backend> make_collecting_backend(TwinKernels& kernels,
                                                 bool fuses = true);

// Says in which order kernels run their blocks, and blocks their threads, from
// now on.
void run_backwards(bool backwards);

}  // namespace gt::exec

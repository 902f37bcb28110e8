// A backend whose kernels are those of the CUDA backend, compiled for the host.
// Its products, which a library does on a GPU, are plain loops.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "exec/backend/backend.h"
#include "exec/backend/cuda/plan.h"

namespace gt::exec {

// Compiled kernels, and texts that wait until enough of them are there to be
// worth a run of the compiler.
class TwinKernels {
 public:
  using Function = void (*)(const cuda::Args*, const cuda::Items*);
  // A text to be compiled when the first kernel is asked for.
  void add(const cuda::Source& source);
  // Aborts with the compiler's words if the text is wrong.
  Function find(const cuda::Source& source);

 private:
  void compile();
  std::map<std::string, std::string> waiting_;  // texts by their names
  std::map<std::string, Function> ready_;
};

// Ops without a plan are null. If not `fuses`, so are those whose plan is made
// from their expansion. The kernels outlive it.
std::unique_ptr<Backend> make_twin_backend(TwinKernels& kernels,
                                           bool fuses = true);

// Computes nothing itself: it adds each kernel that the twin would have to
// `kernels`, and gives the reference's in its place.
std::unique_ptr<Backend> make_collecting_backend(TwinKernels& kernels,
                                                 bool fuses = true);

// In which order kernels run blocks, and a block its threads, from now on.
void run_backwards(bool backwards);

}  // namespace gt::exec

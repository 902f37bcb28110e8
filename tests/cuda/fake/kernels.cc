// The part of the fake device's driver for kernels, which are functions of
// shared objects (nvrtc.cc), and for graphs of them. By chance, a launch runs
// blocks and threads from the first or from the last, so that a result that
// depends on their order shows.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>

#include "entry.h"
#include "exec/backend/cuda/plan.h"

using gt::exec::cuda::Args;
using gt::exec::cuda::Item;
using gt::exec::cuda::Items;
using gt::fake::Graph;
using gt::fake::is_capturing;
using gt::fake::Kernel;
using gt::fake::Machine;
using gt::fake::of;
using gt::fake::Work;
using gt::fake::wrong;

// A kernel that was launched or will be.
struct gt::fake::Kernel {
  void (*function)(const Args*, const Items*) = nullptr;
  int* backwards = nullptr;  // of its object, the order
  Args args;
  Items items;  // for a kernel that takes them
  uint64_t blocks = 1;
};

namespace {

// Where the object of each function has its gt_twin_backwards
// (twin/target.cuh).
std::map<CUfunction, int*> orders;

Graph* of(CUgraph graph) { return reinterpret_cast<Graph*>(graph); }
Graph* of(CUgraphExec graph) { return reinterpret_cast<Graph*>(graph); }

// Runs the kernel, with the addresses that its arguments have on the host.
void run_kernel(const Kernel& kernel) {
  Args args = kernel.args;
  Items items = kernel.items;
  gt::fake::Memory& memory = Machine::instance().memory;
  std::vector<uint64_t> used;
  const auto follow = [&](uint64_t& word) {
    if (!memory.is_device(word)) return;
    used.push_back(word);
    word = reinterpret_cast<uint64_t>(memory.at(word, 0));
  };
  for (uint64_t& word : args.in) follow(word);
  for (uint64_t& word : args.out) follow(word);
  follow(args.fault);
  follow(args.base);
  for (Item& item :
       std::span(items.item).first(static_cast<size_t>(items.count))) {
    for (uint64_t& word : item.in) follow(word);
    for (uint64_t& word : item.out) follow(word);
  }
  *kernel.backwards = Machine::instance().tosses() ? 1 : 0;
  kernel.function(&args, &items);
  for (const uint64_t address : used) memory.check(address);
}

// The bytes that it reads or writes; the memory at each address counts once.
uint64_t bytes_of(const Kernel& kernel, bool written) {
  std::set<uint64_t> addresses;
  const auto add = [&](const auto& one) {
    if (written) {
      addresses.insert(one.out.begin(), one.out.end());
    } else {
      addresses.insert(one.in.begin(), one.in.end());
    }
  };
  add(kernel.args);
  const auto count = static_cast<size_t>(kernel.items.count);
  for (const Item& item : std::span(kernel.items.item).first(count)) add(item);
  const gt::fake::Memory& memory = Machine::instance().memory;
  return std::accumulate(addresses.begin(), addresses.end(), uint64_t{0},
                         [&](uint64_t sum, uint64_t address) {
                           return sum + memory.bytes_at(address);
                         });
}

// How long it takes on a stream that keeps time. A kernel that writes very
// little is computed, since the host waits for what it says about wrong data.
// Some kernels of one block are given more memory than they can use, as the one
// that tells of a batch's items.
uint64_t cost_of(const Kernel& kernel) {
  constexpr uint64_t kLittle = 64;
  constexpr uint64_t kOfBlock = uint64_t{1} << 20;
  const Machine& m = Machine::instance();
  if (!m.keeps_time()) return 0;
  const uint64_t written = bytes_of(kernel, true);
  if (written <= kLittle) return 0;
  const uint64_t bytes = bytes_of(kernel, false) + written;
  return m.cost(kernel.blocks == 1 ? std::min(bytes, kOfBlock) : bytes, 0);
}

// Writes what the kernel would say of right data; see text/fault.cuh.
void say_it_is_right(const Kernel& kernel) {
  uint64_t base = 0;
  if (kernel.args.base != 0) {
    base = static_cast<const uint64_t*>(
        Machine::instance().memory.at(kernel.args.base, 16))[1];
  }
  const auto count = static_cast<size_t>(kernel.items.count);
  for (const Item& item : std::span(kernel.items.item).first(count)) {
    auto* told = reinterpret_cast<uint64_t*>(item.told + base);
    if (told == nullptr) continue;
    told[1] = UINT64_MAX;
    std::atomic_ref(told[0]).store(1);
  }
}

// A launch of the kernel as it is now.
Work work_of(const Kernel& kernel) {
  Machine& m = Machine::instance();
  const bool loses = m.loses();
  const uint64_t takes = cost_of(kernel);
  return {[kernel, loses, takes, &m] {
            m.pace();
            takes == 0 ? run_kernel(kernel) : say_it_is_right(kernel);
            m.is_lost = loses;
          },
          nullptr, 0, true, takes};
}

// Whether one graph may become the other, since only arguments differ.
bool are_alike(const Graph& a, const Graph& b) {
  return std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(),
                    b.nodes.end(), [](const Work& x, const Work& y) {
                      if (x.kernel == nullptr || y.kernel == nullptr) {
                        return x.kernel == y.kernel;
                      }
                      return x.kernel->function == y.kernel->function;
                    });
}

// The handle of a node is its number in the graph, from 1 on.
CUgraphNode node_of(size_t index) {
  return reinterpret_cast<CUgraphNode>(index + 1);
}

}  // namespace

extern "C" {

// ---- kernels ----------------------------------------------------------------

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_INVALID_IMAGE)
  const std::string text(static_cast<const char*>(image));
  constexpr std::string_view kHead = "twin:";
  if (!text.starts_with(kHead)) return CUDA_ERROR_INVALID_IMAGE;
  void* object =
      ::dlopen(text.substr(kHead.size()).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) return CUDA_ERROR_INVALID_IMAGE;
  ++m.modules;
  *module = static_cast<CUmodule>(object);
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule /*module*/) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  --m.modules;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module,
                             const char* name) {
  GT_ENTER_CONTEXT(CUDA_ERROR_NOT_FOUND)
  *function = static_cast<CUfunction>(::dlsym(module, name));
  auto* order = static_cast<int*>(::dlsym(module, "gt_twin_backwards"));
  if (*function == nullptr || order == nullptr) return CUDA_ERROR_NOT_FOUND;
  orders[*function] = order;
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                        unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared, CUstream stream,
                        void** parameters, void** /*extra*/) {
  GT_ENTER_CONTEXT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
  if (grid_x == 0 || grid_x > 0x7fffffff || grid_y != 1 || grid_z != 1 ||
      block_x != gt::exec::cuda::kThreads || block_y != 1 || block_z != 1 ||
      shared != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Kernel kernel;
  kernel.function =
      reinterpret_cast<void (*)(const Args*, const Items*)>(function);
  kernel.backwards = orders.at(function);
  std::memcpy(&kernel.args, parameters[0], sizeof kernel.args);
  // The real driver knows how many parameters a kernel has.
  if (parameters[1] != nullptr) {
    std::memcpy(&kernel.items, parameters[1], sizeof kernel.items);
  }
  kernel.blocks = grid_x;
  if (of(stream)->captured != nullptr) {
    Work node;
    node.kernel = std::make_shared<const Kernel>(kernel);
    m.give(of(stream), std::move(node));
    return CUDA_SUCCESS;
  }
  ++m.launches;
  m.give(of(stream), work_of(kernel));
  return CUDA_SUCCESS;
}

// ---- graphs -----------------------------------------------------------------

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_OUT_OF_MEMORY)
  if (mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
    wrong("a capture that other threads break");
  }
  of(stream)->captured = std::make_unique<Graph>();
  is_capturing = true;
  return CUDA_SUCCESS;
}
// The capture has ended, whatever this returns.
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  is_capturing = false;
  std::unique_ptr<Graph> captured;
  {
    const std::lock_guard lock(Machine::instance().mutex);
    captured = std::move(of(stream)->captured);
  }
  GT_ENTER_CONTEXT(CUDA_ERROR_OUT_OF_MEMORY)
  if (captured == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  m.graphs.insert(captured.get());
  *graph = reinterpret_cast<CUgraph>(captured.release());
  return CUDA_SUCCESS;
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  GT_ENTER_CONTEXT(CUDA_ERROR_INVALID_VALUE)
  if (of(graph)->nodes.empty()) {
    *count = 0;
  } else if (*count > 0) {
    *count = 1;
    nodes[0] = node_of(0);
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  if (m.graphs.erase(of(graph)) == 0) wrong("a graph is destroyed twice");
  delete of(graph);
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph,
                                     unsigned long long flags) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_OUT_OF_MEMORY)
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  auto* own = new Graph{of(graph)->nodes};
  m.graphs.insert(own);
  ++m.graphs_made;
  *made = reinterpret_cast<CUgraphExec>(own);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecUpdate(CUgraphExec graph, CUgraph from,
                           CUgraphExecUpdateResultInfo* info) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_OUT_OF_MEMORY)
  info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  if (!are_alike(*of(graph), *of(from))) {
    info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  of(graph)->nodes = of(from)->nodes;
  ++m.graphs_updated;
  return CUDA_SUCCESS;
}
// Launches that were made before keep their arguments.
CUresult cuGraphExecKernelNodeSetParams(
    CUgraphExec graph, CUgraphNode node,
    const CUDA_KERNEL_NODE_PARAMS* parameters) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_INVALID_VALUE)
  const size_t index = reinterpret_cast<size_t>(node) - 1;
  if (index >= of(graph)->nodes.size()) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<const Kernel>& kernel = of(graph)->nodes[index].kernel;
  if (kernel == nullptr || parameters->gridDimX != 1 ||
      parameters->blockDimX != gt::exec::cuda::kThreads ||
      parameters->func != reinterpret_cast<CUfunction>(kernel->function)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Kernel other = *kernel;
  std::memcpy(&other.args, parameters->kernelParams[0], sizeof other.args);
  kernel = std::make_shared<const Kernel>(other);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec graph) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  if (of(graph)->running > 0) wrong("a graph is destroyed that runs");
  if (m.graphs.erase(of(graph)) == 0) wrong("a graph is destroyed twice");
  delete of(graph);
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_OUT_OF_MEMORY)
  ++m.launches;
  ++m.graph_launches;
  Graph* own = of(graph);
  ++own->running;
  // This is a copy, since others may change the graph while this waits for
  // room.
  const std::vector<Work> nodes = own->nodes;
  for (const Work& node : nodes) {
    m.give(of(stream), node.kernel == nullptr ? node : work_of(*node.kernel));
  }
  m.give(of(stream), {[own] { --own->running; }});
  return CUDA_SUCCESS;
}

}  // extern "C"

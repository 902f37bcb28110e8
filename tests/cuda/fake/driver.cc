// libcuda.so.1 of the fake device: the functions of NVIDIA's driver that gt
// calls, on the host. Kernels are functions of shared objects, see nvrtc.cc.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "exec/backend/cuda/entry_points.h"
#include "exec/backend/cuda/plan.h"
#include "machine.h"

using gt::exec::cuda::Args;
using gt::fake::Event;
using gt::fake::Machine;
using gt::fake::Stream;
using gt::fake::Work;
using gt::fake::wrong;

namespace {

thread_local bool is_current = false;  // a context is, on this thread

// Each entry begins with it: the lock, and the failure that was asked for.
#define GT_ENTER(failure)              \
  Machine& m = Machine::instance();    \
  const std::lock_guard lock(m.mutex); \
  if (m.fails()) return failure;
#define GT_ENTER_CONTEXT(failure)                     \
  GT_ENTER(failure)                                   \
  if (!is_current) wrong("a call without a context"); \
  if (m.is_lost) return CUDA_ERROR_ILLEGAL_ADDRESS;

Stream* of(CUstream stream) { return reinterpret_cast<Stream*>(stream); }
Event* of(CUevent event) { return reinterpret_cast<Event*>(event); }

using Function = void (*)(const Args*);

CUresult lost_or_done() {
  return Machine::instance().is_lost ? CUDA_ERROR_ILLEGAL_ADDRESS
                                     : CUDA_SUCCESS;
}

// The kernel, with the addresses that its arguments have on the host.
void launch(Function function, Args args) {
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
  function(&args);
  for (const uint64_t address : used) memory.check(address);
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned /*flags*/) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  const char* gpus = std::getenv("GT_FAKE_GPUS");
  return gpus != nullptr && std::atoi(gpus) == 0 ? CUDA_ERROR_NO_DEVICE
                                                 : CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult /*error*/, const char** text) {
  *text = "FAKE";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory"
          : error == CUDA_ERROR_ILLEGAL_ADDRESS
              ? "an illegal memory access was encountered"
          : error == CUDA_ERROR_NO_DEVICE ? "no CUDA-capable device"
                                          : "the fake device was told to fail";
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  const char* gpus = std::getenv("GT_FAKE_GPUS");
  *count = gpus == nullptr ? 1 : std::atoi(gpus);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  std::snprintf(name, static_cast<size_t>(size), "fake device %d", device);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  std::snprintf(uuid->bytes, sizeof uuid->bytes, "fake %d", device);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                              CUdevice /*device*/) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  const char* set = std::getenv("GT_FAKE_CAPABILITY");
  const int major = set == nullptr ? 9 : std::atoi(set);
  *value =
      attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? major : 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  m.note_device(device);
  ++m.contexts;
  *context = reinterpret_cast<CUcontext>(&m);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice /*device*/) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  --m.contexts;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  is_current = context != nullptr;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice /*device*/) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  *pool = nullptr;
  return CUDA_SUCCESS;
}
CUresult cuMemPoolSetAttribute(CUmemoryPool /*pool*/,
                               CUmemPool_attribute /*attribute*/,
                               void* /*value*/) {
  GT_ENTER(CUDA_ERROR_UNKNOWN)
  return CUDA_SUCCESS;
}

// ---- streams and events -----------------------------------------------------

CUresult cuStreamCreate(CUstream* stream, unsigned /*flags*/) {
  GT_ENTER_CONTEXT(CUDA_ERROR_OUT_OF_MEMORY)
  auto* made = new Stream;
  m.streams.insert(made);
  *stream = reinterpret_cast<CUstream>(made);
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  m.drive([stream] { return of(stream)->work.empty(); });
  m.streams.erase(of(stream));
  delete of(stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  m.wait(of(stream));
  return lost_or_done();
}
CUresult cuStreamQuery(CUstream stream) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  m.do_some();
  if (m.is_lost) return CUDA_ERROR_ILLEGAL_ADDRESS;
  return of(stream)->work.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  if (!m.events.contains(of(event))) wrong("an event is gone");
  m.give(of(stream), {nullptr, of(event), of(event)->recorded});
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  GT_ENTER_CONTEXT(CUDA_ERROR_OUT_OF_MEMORY)
  auto* made = new Event;
  made->has_time = (flags & CU_EVENT_DISABLE_TIMING) == 0;
  m.events.insert(made);
  *event = reinterpret_cast<CUevent>(made);
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  // It goes once it was reached: who waits for it does not notice.
  m.drive([event] { return of(event)->done >= of(event)->recorded; });
  m.events.erase(of(event));
  delete of(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  Event* one = of(event);
  const uint64_t count = ++one->recorded;
  m.give(of(stream), {[one, count] {
           one->done = count;
           one->time = Machine::clock();
         }});
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  for (const Event* event : {of(begin), of(end)}) {
    if (!event->has_time || event->recorded == 0) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (event->done < event->recorded) return CUDA_ERROR_NOT_READY;
  }
  const auto took = static_cast<int64_t>(of(end)->time - of(begin)->time);
  *milliseconds = static_cast<float>(static_cast<double>(took) * 1e-6);
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  m.do_some();
  return of(event)->done >= of(event)->recorded ? CUDA_SUCCESS
                                                : CUDA_ERROR_NOT_READY;
}
CUresult cuEventSynchronize(CUevent event) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  m.drive([event] { return of(event)->done >= of(event)->recorded; });
  return lost_or_done();
}

// ---- memory -----------------------------------------------------------------

CUresult cuMemAllocAsync(CUdeviceptr* data, size_t bytes, CUstream stream) {
  GT_ENTER_CONTEXT(CUDA_ERROR_OUT_OF_MEMORY)
  const uint64_t address = m.memory.reserve(bytes);
  if (address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  m.give(of(stream), {[&m, address] { m.memory.begin(address); }});
  *data = address;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeAsync(CUdeviceptr data, CUstream stream) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  if (!m.memory.is_block(data)) wrong("memory is freed twice", data);
  m.give(of(stream), {[&m, data] { m.memory.end(data); }});
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** data, size_t bytes, unsigned /*flags*/) {
  GT_ENTER_CONTEXT(CUDA_ERROR_OUT_OF_MEMORY)
  *data = std::malloc(bytes);
  m.pinned[static_cast<char*>(*data)] = bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* data) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  if (m.pinned.erase(static_cast<char*>(data)) == 0) {
    wrong("memory of the host is freed twice");
  }
  std::free(data);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes,
                           CUstream stream) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  if (!m.is_pinned(from, bytes)) wrong("a copy from memory that may change");
  m.give(of(stream), {[&m, to, from, bytes] {
           std::memcpy(m.memory.at(to, bytes), from, bytes);
         }});
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  if (!m.is_pinned(to, bytes)) wrong("a copy to memory that may change");
  m.give(of(stream), {[&m, to, from, bytes] {
           std::memcpy(to, m.memory.at(from, bytes), bytes);
         }});
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  m.give(of(stream), {[&m, to, from, bytes] {
           std::memcpy(m.memory.at(to, bytes), m.memory.at(from, bytes), bytes);
         }});
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes,
                         CUstream stream) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  m.give(of(stream), {[&m, to, value, bytes] {
           std::memset(m.memory.at(to, bytes), value, bytes);
         }});
  return CUDA_SUCCESS;
}

// ---- kernels ----------------------------------------------------------------

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  GT_ENTER_CONTEXT(CUDA_ERROR_INVALID_IMAGE)
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
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  --m.modules;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module,
                             const char* name) {
  GT_ENTER_CONTEXT(CUDA_ERROR_NOT_FOUND)
  *function = static_cast<CUfunction>(::dlsym(module, name));
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
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
  Args args;
  std::memcpy(&args, parameters[0], sizeof args);
  const auto run = reinterpret_cast<Function>(function);
  const bool loses = m.loses();
  m.give(of(stream), {[&m, run, args, loses] {
                        m.pace();
                        launch(run, args);
                        m.is_lost = loses;
                      },
                      nullptr, 0, true});
  return CUDA_SUCCESS;
}

}  // extern "C"

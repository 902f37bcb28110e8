// libcuda.so.1 of the fake device: the functions of NVIDIA's driver that gt
// calls, on the host. The functions for kernels and graphs are in kernels.cc.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "entry.h"

using gt::fake::Event;
using gt::fake::is_current;
using gt::fake::Machine;
using gt::fake::Memory;
using gt::fake::of;
using gt::fake::Stream;
using gt::fake::wrong;

namespace {

CUresult lost_or_done() {
  return Machine::instance().is_lost ? CUDA_ERROR_ILLEGAL_ADDRESS
                                     : CUDA_SUCCESS;
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
          : error == CUDA_ERROR_NOT_SUPPORTED
              ? "operation not supported"
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
  *uuid = {};
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
  GT_ENTER_UNCAPTURED(CUDA_ERROR_OUT_OF_MEMORY)
  auto* made = new Stream;
  m.streams.insert(made);
  *stream = reinterpret_cast<CUstream>(made);
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  m.drive([stream] { return of(stream)->work.empty(); });
  m.streams.erase(of(stream));
  delete of(stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  m.wait(of(stream));
  return lost_or_done();
}
CUresult cuStreamQuery(CUstream stream) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  m.do_some();
  if (m.is_lost) return CUDA_ERROR_ILLEGAL_ADDRESS;
  return of(stream)->work.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  if (!m.events.contains(of(event))) wrong("an event is gone");
  m.give(of(stream), {nullptr, of(event), of(event)->recorded});
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_OUT_OF_MEMORY)
  auto* made = new Event;
  made->has_time = (flags & CU_EVENT_DISABLE_TIMING) == 0;
  m.events.insert(made);
  *event = reinterpret_cast<CUevent>(made);
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  // The event goes once it is reached, so a caller that waits for it does not
  // notice.
  m.drive([event] { return of(event)->done >= of(event)->recorded; });
  m.events.erase(of(event));
  delete of(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  Event* one = of(event);
  const uint64_t count = ++one->recorded;
  m.give(of(stream), {[&m, one, count, from = of(stream)] {
           one->done = count;
           one->time = m.keeps_time() ? from->busy_until : Machine::clock();
         }});
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
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
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  m.do_some();
  return of(event)->done >= of(event)->recorded && !m.is_late
             ? CUDA_SUCCESS
             : CUDA_ERROR_NOT_READY;
}
CUresult cuEventSynchronize(CUevent event) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  m.wait(of(event));
  return lost_or_done();
}

// ---- memory -----------------------------------------------------------------

CUresult cuMemAlloc(CUdeviceptr* data, size_t bytes) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_OUT_OF_MEMORY)
  const uint64_t address = m.memory.reserve(bytes, Memory::kPage);
  if (address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  m.memory.begin(address, false);  // little of a large one may be used
  *data = address;
  return CUDA_SUCCESS;
}
// This waits for everything that streams were given, as a driver may, and so
// does the end of another process's memory below.
CUresult cuMemFree(CUdeviceptr data) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  if (!m.memory.is_block(data)) wrong("memory is freed twice", data);
  m.finish();
  m.memory.end(data);
  return CUDA_SUCCESS;
}

// ---- memory of other processes ----------------------------------------------

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr data) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  if (std::getenv("GT_FAKE_NO_IPC") != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const Memory::Shown shown = m.memory.show(data);
  *handle = {};
  static_assert(sizeof shown <= sizeof handle->reserved);
  std::memcpy(handle->reserved, &shown, sizeof shown);
  return CUDA_SUCCESS;
}
CUresult cuIpcOpenMemHandle(CUdeviceptr* data, CUipcMemHandle handle,
                            unsigned flags) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  Memory::Shown shown;
  std::memcpy(&shown, handle.reserved, sizeof shown);
  if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *data = m.memory.open(shown);
  return *data == 0 ? CUDA_ERROR_MAP_FAILED : CUDA_SUCCESS;
}
CUresult cuIpcCloseMemHandle(CUdeviceptr data) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  m.finish();
  return m.memory.close(data) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocAsync(CUdeviceptr* data, size_t bytes, CUstream stream) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_OUT_OF_MEMORY)
  const uint64_t address = m.memory.reserve(bytes);
  if (address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  m.give(of(stream),
         {[&m, address] { m.memory.begin(address, !m.keeps_time()); }});
  *data = address;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeAsync(CUdeviceptr data, CUstream stream) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  if (!m.memory.is_block(data)) wrong("memory is freed twice", data);
  m.give(of(stream), {[&m, data] { m.memory.end(data); }});
  return CUDA_SUCCESS;
}
CUresult cuMemHostAlloc(void** data, size_t bytes, unsigned /*flags*/) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_OUT_OF_MEMORY)
  *data = std::malloc(bytes);
  m.pinned[static_cast<char*>(*data)] = bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* data) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  if (m.pinned.erase(static_cast<char*>(data)) == 0) {
    wrong("memory of the host is freed twice");
  }
  std::free(data);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes,
                           CUstream stream) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  if (!m.is_pinned(from, bytes)) wrong("a copy from memory that may change");
  m.give(of(stream), {[&m, to, from, bytes] {
                        std::memcpy(m.memory.at(to, bytes), from, bytes);
                      },
                      nullptr, 0, false, m.cost_to_host(bytes)});
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  GT_ENTER_UNCAPTURED(CUDA_ERROR_UNKNOWN)
  if (!m.is_pinned(to, bytes)) wrong("a copy to memory that may change");
  m.give(of(stream), {[&m, to, from, bytes] {
                        std::memcpy(to, m.memory.at(from, bytes), bytes);
                      },
                      nullptr, 0, false, m.cost_to_host(bytes)});
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  GT_ENTER_CONTEXT(CUDA_ERROR_UNKNOWN)
  m.note_copy(to, bytes);
  const uint64_t takes = m.cost(2 * bytes, 0);
  m.give(of(stream), {[&m, to, from, bytes, takes] {
                        if (takes != 0) return;
                        std::memcpy(m.memory.at(to, bytes),
                                    m.memory.at(from, bytes), bytes);
                      },
                      nullptr, 0, false, takes});
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

}  // extern "C"

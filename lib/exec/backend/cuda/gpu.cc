#include "exec/backend/cuda/gpu.h"

#include "base/launched.h"
#include "base/text.h"

namespace gt::exec::cuda {
namespace {

// The Gpu that backends share as long as one of them holds it.
std::mutex shared_mutex;
std::weak_ptr<Gpu> shared_gpu;

Error no_gpu(const std::string& why) {
  return Error{"backend cuda: " + why +
               "; run gt-work where there is a GPU that nvidia-smi shows, or "
               "with --backend cpu"};
}

// Returns the number that a launcher gave this worker among those of its host;
// 0 if none did.
Result<unsigned> local_rank() {
  const std::string text = launched::local_rank();
  unsigned rank = 0;
  if (text.empty() || read_number(text, rank)) return rank;
  return Error{"LOCAL_RANK, SLURM_LOCALID: '" + text +
               "' is no number from 0 on; --device says which GPU to use, too"};
}

// Loads the libraries and counts the GPUs. Error: the driver finds no GPU.
Result<const EntryPoints*> driver_of(int& count) {
  const auto loaded = entry_points();
  if (!loaded.ok()) return loaded.error();
  const EntryPoints& api = *loaded.value();
  Status s = check(api, api.driver.cuInit(0), "cuInit");
  if (!s.ok()) return no_gpu("the driver finds no GPU: " + s.error().message);
  s = check(api, api.driver.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (!s.ok()) return no_gpu(s.error().message);
  if (count == 0) return no_gpu("this host has no GPU");
  return &api;
}

// Chooses the GPU of a worker among `count` GPUs.
Result<int> choose(std::optional<unsigned> wanted, int count) {
  if (!wanted) {
    const auto rank = local_rank();
    if (!rank.ok()) return rank.error();
    return static_cast<int>(rank.value() % static_cast<unsigned>(count));
  }
  if (*wanted < static_cast<unsigned>(count)) return static_cast<int>(*wanted);
  return Error{"backend cuda: there is no GPU " + std::to_string(*wanted) +
               " on this host, which has " + std::to_string(count) +
               ", numbered from 0"};
}

Result<std::string> name_of(const EntryPoints& api, CUdevice device) {
  char name[256] = "";
  const Status s =
      check(api, api.driver.cuDeviceGetName(name, sizeof name, device),
            "cuDeviceGetName");
  return s.ok() ? Result<std::string>(name) : s.error();
}

}  // namespace

Result<std::vector<std::string>> Gpu::list() {
  int count = 0;
  const auto loaded = driver_of(count);
  if (!loaded.ok()) return loaded.error();
  const EntryPoints& api = *loaded.value();
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    const Status s =
        check(api, api.driver.cuDeviceGet(&device, i), "cuDeviceGet");
    if (!s.ok()) return no_gpu(s.error().message);
    auto name = name_of(api, device);
    if (!name.ok()) return no_gpu(name.error().message);
    names.push_back(std::move(name.value()));
  }
  return names;
}

Result<std::shared_ptr<Gpu>> Gpu::open(std::optional<unsigned> number) {
  const std::lock_guard lock(shared_mutex);
  if (auto gpu = shared_gpu.lock()) return gpu;
  int count = 0;
  const auto loaded = driver_of(count);
  if (!loaded.ok()) return loaded.error();
  const EntryPoints& api = *loaded.value();
  const Driver& driver = api.driver;
  const auto chosen = choose(number, count);
  if (!chosen.ok()) return chosen.error();
  CUdevice device = 0;
  int major = 0;
  int minor = 0;
  Status s =
      check(api, driver.cuDeviceGet(&device, chosen.value()), "cuDeviceGet");
  const auto ask = [&](CUdevice_attribute what, int& value) {
    if (!s.ok()) return;
    s = check(api, driver.cuDeviceGetAttribute(&value, what, device),
              "cuDeviceGetAttribute");
  };
  ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, major);
  ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, minor);
  if (!s.ok()) return no_gpu(s.error().message);
  if (major < 8) {
    return no_gpu("the GPU has compute capability " + std::to_string(major) +
                  "." + std::to_string(minor) + ", and gt needs 8.0");
  }
  std::shared_ptr<Gpu> gpu(new Gpu(api, device, major * 10 + minor));
  if (s = gpu->start(); !s.ok()) return no_gpu(s.error().message);
  shared_gpu = gpu;
  return gpu;
}

Status Gpu::start() {
  Status s = check(api_, driver().cuDevicePrimaryCtxRetain(&context_, device_),
                   "cuDevicePrimaryCtxRetain");
  if (!s.ok()) return s;
  if (s = enter(); !s.ok()) return s;
  s = check(api_,
            driver().cuStreamCreate(&memory_stream_, CU_STREAM_NON_BLOCKING),
            "cuStreamCreate");
  if (!s.ok()) return s;
  // Freed memory is kept by the process, since the pool above (memory/pool.h)
  // will ask for it again.
  CUmemoryPool pool = nullptr;
  s = check(api_, driver().cuDeviceGetDefaultMemPool(&pool, device_),
            "cuDeviceGetDefaultMemPool");
  if (!s.ok()) return s;
  cuuint64_t keep = ~cuuint64_t{0};
  return check(api_,
               driver().cuMemPoolSetAttribute(
                   pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep),
               "cuMemPoolSetAttribute");
}

Gpu::~Gpu() {
  background_.end();
  if (context_ == nullptr) return;
  (void)enter();
  for (CUmodule module : modules_) (void)driver().cuModuleUnload(module);
  if (memory_stream_ != nullptr) {
    (void)driver().cuStreamSynchronize(memory_stream_);
    (void)driver().cuStreamDestroy(memory_stream_);
  }
  (void)driver().cuDevicePrimaryCtxRelease(device_);
}

Result<std::string> Gpu::name() const { return name_of(api_, device_); }

Result<std::string> Gpu::uuid() const {
  CUuuid id;
  const Status s =
      check(api_, driver().cuDeviceGetUuid(&id, device_), "cuDeviceGetUuid");
  if (!s.ok()) return s.error();
  return std::string(id.bytes, sizeof id.bytes);
}

Status Gpu::enter() {
  return check(api_, driver().cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

void* Gpu::allocate(size_t bytes) {
  if (!enter().ok()) return nullptr;
  const std::lock_guard lock(memory_mutex_);
  CUdeviceptr data = 0;
  if (driver().cuMemAllocAsync(&data, bytes == 0 ? 1 : bytes, memory_stream_) !=
      CUDA_SUCCESS) {
    return nullptr;
  }
  // Waiting costs little, since this stream has nothing else to do, and it
  // makes the memory usable on any stream.
  if (driver().cuStreamSynchronize(memory_stream_) != CUDA_SUCCESS) {
    (void)driver().cuMemFreeAsync(data, memory_stream_);
    return nullptr;
  }
  return reinterpret_cast<void*>(data);
}

Status Gpu::release(void* data, CUstream stream) {
  return check(
      api_,
      driver().cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(data), stream),
      "cuMemFreeAsync");
}

Gpu::Function Gpu::function(const Source& source) {
  const std::lock_guard lock(kernels_mutex_);
  Function& function = functions_[source.name];
  if (function.valid()) return function;
  auto made = std::make_shared<std::promise<Result<CUfunction>>>();
  function = made->get_future().share();
  background_.add([this, made, source] { made->set_value(load(source)); });
  return function;
}

Result<CUfunction> Gpu::load(const Source& source) {
  if (Status s = enter(); !s.ok()) return s.error();
  const auto code = compiler_.compile(source);
  if (!code.ok()) return code.error();
  CUmodule module = nullptr;
  Status s =
      check(api_, driver().cuModuleLoadData(&module, code.value().c_str()),
            "cuModuleLoadData");
  if (!s.ok()) return s.error();
  {
    const std::lock_guard lock(kernels_mutex_);
    modules_.push_back(module);
  }
  CUfunction function = nullptr;
  s = check(
      api_,
      driver().cuModuleGetFunction(&function, module, source.name.c_str()),
      "cuModuleGetFunction");
  if (!s.ok()) return s.error();
  return function;
}

}  // namespace gt::exec::cuda

#include "exec/backend/cuda/entry_points.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <vector>

namespace gt::exec::cuda {
namespace {

struct Library {
  // What the library is, for messages.
  const char* sense;
  std::initializer_list<const char*> files;
  // Whether the library is in the folder of CUDA's toolkit.
  bool in_toolkit;
  const char* remedy;
  const char* least = "CUDA 12";  // the version that gt needs
};

const Library kDriver = {
    "NVIDIA's driver",
    {"libcuda.so.1"},
    false,
    "install the driver, or run gt-work with --backend cpu"};
const Library kNvrtc = {
    "NVRTC, which compiles kernels,",
    {"libnvrtc.so.13", "libnvrtc.so.12"},
    true,
    "install it with CUDA's toolkit (gt-cuda(7) says how), or name its folder "
    "in GT_CUDA_PATH"};
const Library kLt = {
    "cuBLASLt, which multiplies matrices,",
    {"libcublasLt.so.13", "libcublasLt.so.12"},
    true,
    "install it with CUDA's toolkit (gt-cuda(7) says how), or name its folder "
    "in GT_CUDA_PATH"};

#ifdef GT_CUDA_NCCL
const Library kNccl = {"NCCL, which brings values from GPU to GPU,",
                       {"libnccl.so.2"},
                       true,
                       "install it, or name its folder in GT_CUDA_PATH",
                       "NCCL 2.18"};
#endif

#ifdef GT_CUDA_CUDNN
const Library kCudnn = {"cuDNN, which computes attention,",
                        {"libcudnn.so.9"},
                        true,
                        "install it, or name its folder in GT_CUDA_PATH"};
#endif

// Returns the folders to look in, in order; "" stands for where the system
// looks.
std::vector<std::string> folders_for(const Library& library) {
  std::vector<std::string> folders;
  if (const char* set = std::getenv("GT_CUDA_PATH"); set != nullptr) {
    std::istringstream list(set);
    for (std::string one; std::getline(list, one, ':');) {
      if (!one.empty()) folders.push_back(one + "/");
    }
    return folders;
  }
  folders.emplace_back();
  if (!library.in_toolkit) return folders;
  std::vector<std::string> homes = {"/usr/local/cuda"};
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr) {
    homes.insert(homes.begin(), home);
  }
  for (const std::string& home : homes) {
    folders.push_back(home + "/lib64/");
    folders.push_back(home + "/lib/");
  }
  return folders;
}

// Loads a library, which stays loaded.
Result<void*> open(const Library& library) {
  std::string names;
  for (const char* file : library.files) {
    names += (names.empty() ? "" : " or ") + std::string(file);
  }
  std::string why;
  for (const std::string& folder : folders_for(library)) {
    for (const char* file : library.files) {
      const std::string path = folder + file;
      void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle != nullptr) return handle;
      // If a file is there but cannot be loaded, the message tells why.
      const std::string said = ::dlerror();
      if (!said.starts_with(path + ": cannot open")) why = said;
    }
  }
  return Error{
      "backend cuda: " + std::string(library.sense) + " is not on this host: " +
      (why.empty() ? "there is no " + names : why) + "; " + library.remedy};
}

template <typename F>
void look_up(void* library, const char* name, F*& function,
             std::string& missing) {
  function = reinterpret_cast<F*>(::dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = name;
}

// Returns an error if the library lacks the function `missing`.
Status complete(const Library& library, const std::string& missing) {
  if (missing.empty()) return ok_status();
  return Error{"backend cuda: " + std::string(library.sense) +
               " is too old: it lacks " + missing + "; gt needs " +
               library.least + " or later"};
}

// The four functions below each fill one table, looking up each function by its
// name.
#define GT_CUDA_NAME(name) #name
#define GT_CUDA_LOOK_UP(name) \
  look_up(file.value(), GT_CUDA_NAME(name), table.name, missing);

Result<Driver> load_driver() {
  const auto file = open(kDriver);
  if (!file.ok()) return file.error();
  Driver table;
  std::string missing;
#define GT_CUDA_DRIVER GT_CUDA_LOOK_UP
#include "exec/backend/cuda/entry_points.def"
  if (const Status s = complete(kDriver, missing); !s.ok()) return s.error();
  return table;
}

Result<Nvrtc> load_nvrtc() {
  const auto file = open(kNvrtc);
  if (!file.ok()) return file.error();
  Nvrtc table;
  std::string missing;
#define GT_CUDA_NVRTC GT_CUDA_LOOK_UP
#include "exec/backend/cuda/entry_points.def"
  if (const Status s = complete(kNvrtc, missing); !s.ok()) return s.error();
  return table;
}

Result<Lt> load_lt() {
  const auto file = open(kLt);
  if (!file.ok()) return file.error();
  Lt table;
  std::string missing;
#define GT_CUDA_LT GT_CUDA_LOOK_UP
#include "exec/backend/cuda/entry_points.def"
  if (const Status s = complete(kLt, missing); !s.ok()) return s.error();
  return table;
}

#ifdef GT_CUDA_NCCL
Result<Nccl> load_nccl() {
  const auto file = open(kNccl);
  if (!file.ok()) return file.error();
  Nccl table;
  std::string missing;
#define GT_CUDA_NCCL_ENTRY GT_CUDA_LOOK_UP
#include "exec/backend/cuda/entry_points.def"
  if (const Status s = complete(kNccl, missing); !s.ok()) return s.error();
  return table;
}
#endif

#undef GT_CUDA_LOOK_UP
#undef GT_CUDA_NAME

// The first result that made the context unusable. A process has one context,
// and after such a result every call on it returns the same result.
std::atomic<int> lost = CUDA_SUCCESS;

bool is_final(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
      return true;
    default:
      return false;
  }
}

Result<EntryPoints> load() {
  const auto driver = load_driver();
  if (!driver.ok()) return driver.error();
  const auto nvrtc = load_nvrtc();
  if (!nvrtc.ok()) return nvrtc.error();
  const auto lt = load_lt();
  if (!lt.ok()) return lt.error();
  return EntryPoints{driver.value(), nvrtc.value(), lt.value()};
}

}  // namespace

Result<Nvrtc> nvrtc_entry_points() { return load_nvrtc(); }

#ifdef GT_CUDA_NCCL
Result<const Nccl*> nccl_entry_points() {
  static const Result<Nccl> loaded = load_nccl();
  if (!loaded.ok()) return loaded.error();
  return &loaded.value();
}
#endif

#ifdef GT_CUDA_CUDNN
Result<void*> cudnn_library() {
  static const Result<void*> loaded = open(kCudnn);
  return loaded;
}
#endif

Result<const EntryPoints*> entry_points() {
  static const Result<EntryPoints> loaded = load();
  if (!loaded.ok()) return loaded.error();
  return &loaded.value();
}

CUresult lost_context() { return static_cast<CUresult>(lost.load()); }

Status check(const EntryPoints& api, CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return ok_status();
  if (is_final(result)) {
    int none = CUDA_SUCCESS;
    lost.compare_exchange_strong(none, result);
  }
  const char* text = nullptr;
  if (api.driver.cuGetErrorString(result, &text) != CUDA_SUCCESS ||
      text == nullptr) {
    text = "an error that the driver does not know";
  }
  return Error{std::string(call) + ": " + text};
}

Status check(const EntryPoints& api, nvrtcResult result, const char* call) {
  if (result == NVRTC_SUCCESS) return ok_status();
  return Error{std::string(call) + ": " +
               api.nvrtc.nvrtcGetErrorString(result)};
}

Status check(cublasStatus_t result, const char* call) {
  if (result == CUBLAS_STATUS_SUCCESS) return ok_status();
  return Error{std::string(call) + ": status " +
               std::to_string(static_cast<int>(result)) + " of cuBLAS"};
}

}  // namespace gt::exec::cuda

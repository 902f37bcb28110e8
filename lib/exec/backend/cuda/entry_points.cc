#include "exec/backend/cuda/entry_points.h"

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <vector>

namespace gt::exec::cuda {
namespace {

struct Library {
  const char* sense;  // what it is, for messages
  std::initializer_list<const char*> files;
  bool in_toolkit;  // whether the toolkit's folder has it
  const char* remedy;
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

// Where to look, in order; "" is where the system looks.
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

// A library stays loaded.
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
      // A file that is there but cannot be loaded is worth telling.
      const std::string said = ::dlerror();
      if (!said.starts_with(path + ": cannot open")) why = said;
    }
  }
  return Error{"backend cuda: " + std::string(library.sense) +
               " is not on this host: " +
               (why.empty() ? "there is no " + names : why) + "; " +
               library.remedy};
}

template <typename F>
bool look_up(void* library, const char* name, F*& function,
             std::string& missing) {
  function = reinterpret_cast<F*>(::dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = name;
  return function != nullptr;
}

Status too_old(const Library& library, const std::string& missing) {
  if (missing.empty()) return ok_status();
  return Error{"backend cuda: " + std::string(library.sense) +
               " is too old: it lacks " + missing +
               "; gt needs CUDA 12 or later"};
}

Result<EntryPoints> load() {
  EntryPoints api;
  std::string missing;
#define GT_CUDA_NAME(name) #name
#define GT_CUDA_LOOK_UP(name) \
  look_up(library.value(), GT_CUDA_NAME(name), table.name, missing);
  {
    const auto library = open(kDriver);
    if (!library.ok()) return library.error();
    Driver& table = api.driver;
    GT_CUDA_DRIVER(GT_CUDA_LOOK_UP)
    if (Status s = too_old(kDriver, missing); !s.ok()) return s.error();
  }
  {
    const auto library = open(kNvrtc);
    if (!library.ok()) return library.error();
    Nvrtc& table = api.nvrtc;
    GT_CUDA_NVRTC(GT_CUDA_LOOK_UP)
    if (Status s = too_old(kNvrtc, missing); !s.ok()) return s.error();
  }
  {
    const auto library = open(kLt);
    if (!library.ok()) return library.error();
    Lt& table = api.lt;
    GT_CUDA_LT(GT_CUDA_LOOK_UP)
    if (Status s = too_old(kLt, missing); !s.ok()) return s.error();
  }
#undef GT_CUDA_LOOK_UP
#undef GT_CUDA_NAME
  return api;
}

}  // namespace

Result<const EntryPoints*> entry_points() {
  static const Result<EntryPoints> loaded = load();
  if (!loaded.ok()) return loaded.error();
  return &loaded.value();
}

Status check(const EntryPoints& api, CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return ok_status();
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

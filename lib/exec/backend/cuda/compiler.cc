#include "exec/backend/cuda/compiler.h"

#include <algorithm>
#include <memory>

#include "base/digest.h"
#include "exec/backend/cuda/disk_cache.h"

namespace gt::exec::cuda {
namespace {

// The digest of all files that kernel texts include, since a change to one of
// them changes every kernel.
const std::string& digest_of_texts() {
  static const std::string digest = [] {
    Digest all;
    for (const TextFile& file : text_files()) {
      all.add(file.name);
      all.add(file.text);
    }
    return digest_text(all.value());
  }();
  return digest;
}

const char* target_text() {
  for (const TextFile& file : text_files()) {
    if (std::string_view(file.name) == "gpu_target.cuh") return file.text;
  }
  return "";
}

}  // namespace

Compiler::Compiler(const EntryPoints& api, int arch) : api_(api) {
  int major = 0;
  int minor = 0;
  if (api.nvrtc.nvrtcVersion(&major, &minor) == NVRTC_SUCCESS) {
    version_ = std::to_string(major) + "." + std::to_string(minor);
  }
  int count = 0;
  std::vector<int> known;
  if (api.nvrtc.nvrtcGetNumSupportedArchs(&count) == NVRTC_SUCCESS) {
    known.resize(static_cast<size_t>(std::max(count, 0)));
    if (api.nvrtc.nvrtcGetSupportedArchs(known.data()) != NVRTC_SUCCESS) {
      known.clear();
    }
  }
  int best = 0;
  for (const int one : known) {
    if (one <= arch) best = std::max(best, one);
  }
  // A target "compute_..." makes PTX, which the driver translates for the GPU.
  const bool exact = best == arch || known.empty();
  target_ = (exact ? "sm_" : "compute_") + std::to_string(exact ? arch : best);
}

Result<std::string> Compiler::compile(const Source& source) {
  // Without NVRTC's version, code of different versions could not be told
  // apart, so nothing is kept.
  if (version_.empty()) return compile_new(source);
  const std::string key =
      source.name + " " + target_ + " " + version_ + " " + digest_of_texts();
  std::string cached = read_cached("kernel", key);
  if (!cached.empty()) return cached;
  auto made = compile_new(source);
  if (made.ok()) write_cached("kernel", key, made.value());
  return made;
}

Result<std::string> Compiler::compile_new(const Source& source) const {
  const Nvrtc& nvrtc = api_.nvrtc;
  std::vector<const char*> texts = {target_text()};
  std::vector<const char*> names = {"target.cuh"};
  for (const TextFile& file : text_files()) {
    texts.push_back(file.text);
    names.push_back(file.name);
  }
  nvrtcProgram program = nullptr;
  Status s =
      check(api_,
            nvrtc.nvrtcCreateProgram(
                &program, source.text.c_str(), source.name.c_str(),
                static_cast<int>(texts.size()), texts.data(), names.data()),
            "nvrtcCreateProgram");
  if (!s.ok()) return s.error();
  const auto destroy = [&nvrtc](nvrtcProgram p) {
    (void)nvrtc.nvrtcDestroyProgram(&p);
  };
  const std::unique_ptr<_nvrtcProgram, decltype(destroy)> owner(program,
                                                                destroy);
  const std::string arch = "--gpu-architecture=" + target_;
  std::vector<const char*> options(std::begin(kCompileOptions),
                                   std::end(kCompileOptions));
  options.push_back(arch.c_str());
  s = check(api_,
            nvrtc.nvrtcCompileProgram(program, static_cast<int>(options.size()),
                                      options.data()),
            "nvrtcCompileProgram");
  size_t size = 0;
  if (!s.ok()) {
    std::string log;
    if (nvrtc.nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS) {
      log.resize(size);
      if (size > 0) (void)nvrtc.nvrtcGetProgramLog(program, log.data());
    }
    return Error{s.error().message + ": " + log.substr(0, 2000)};
  }
  const bool exact = target_.starts_with("sm_");
  s = check(api_,
            exact ? nvrtc.nvrtcGetCUBINSize(program, &size)
                  : nvrtc.nvrtcGetPTXSize(program, &size),
            "the size of a kernel");
  if (!s.ok()) return s.error();
  std::string code(size, '\0');
  s = check(api_,
            exact ? nvrtc.nvrtcGetCUBIN(program, code.data())
                  : nvrtc.nvrtcGetPTX(program, code.data()),
            "the code of a kernel");
  if (!s.ok()) return s.error();
  return code;
}

}  // namespace gt::exec::cuda

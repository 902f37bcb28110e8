// libnvrtc.so.13 of the fake device: it compiles a kernel for the host, and the
// code that it returns is the path of the shared object.
#include <nvrtc.h>

#include <cstring>
#include <string>
#include <vector>

#include "../twin/compile.h"
#include "machine.h"

struct _nvrtcProgram {
  std::string text;
  std::vector<gt::twin::Header> headers;
  std::string code, log;
  bool is_text = false;  // text that the driver translates
};

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) {
  return result == NVRTC_ERROR_COMPILATION ? "the kernel cannot be compiled"
                                           : "the fake device was told to fail";
}
nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (gt_fake_fails()) return NVRTC_ERROR_INTERNAL_ERROR;
  *major = 0;
  *minor = 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  if (gt_fake_fails()) return NVRTC_ERROR_INTERNAL_ERROR;
  *count = 2;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetSupportedArchs(int* archs) {
  if (gt_fake_fails()) return NVRTC_ERROR_INTERNAL_ERROR;
  archs[0] = 80;
  archs[1] = 90;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* text,
                               const char* /*name*/, int count,
                               const char* const* headers,
                               const char* const* names) {
  if (gt_fake_fails()) return NVRTC_ERROR_OUT_OF_MEMORY;
  auto* made = new _nvrtcProgram{text, {}, {}, {}, false};
  for (int i = 0; i < count; ++i) {
    // The host's own target.cuh is used instead.
    if (std::string_view(names[i]) == "target.cuh") continue;
    made->headers.emplace_back(names[i], headers[i]);
  }
  gt_fake_count(1, 0);
  *program = made;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  gt_fake_count(-1, 0);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count,
                                const char* const* options) {
  if (gt_fake_fails()) return NVRTC_ERROR_INTERNAL_ERROR;
  bool has_arch = false;
  for (int i = 0; i < count; ++i) {
    const std::string_view option = options[i];
    program->is_text = option == "--gpu-architecture=compute_90";
    has_arch |= program->is_text || option == "--gpu-architecture=sm_90";
    if (has_arch) break;
  }
  if (!has_arch) return NVRTC_ERROR_INVALID_OPTION;
  const std::string path =
      gt::twin::compile(program->headers, program->text, program->log);
  if (path.empty()) return NVRTC_ERROR_COMPILATION;
  program->code = "twin:" + path;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* size) {
  *size = program->log.size();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  std::memcpy(log, program->log.data(), program->log.size());
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) {
  if (gt_fake_fails()) return NVRTC_ERROR_INTERNAL_ERROR;
  *size = program->is_text ? 0 : program->code.size();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* code) {
  if (gt_fake_fails() || program->is_text) return NVRTC_ERROR_INTERNAL_ERROR;
  std::memcpy(code, program->code.data(), program->code.size());
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* size) {
  if (gt_fake_fails() || !program->is_text) return NVRTC_ERROR_INTERNAL_ERROR;
  *size = program->code.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* code) {
  if (gt_fake_fails()) return NVRTC_ERROR_INTERNAL_ERROR;
  std::memcpy(code, program->code.c_str(), program->code.size() + 1);
  return NVRTC_SUCCESS;
}

}  // extern "C"

# lib/exec/backend/cuda: the backend for GPUs, a plug-in of gt-work that links no
# library of CUDA. The plans and the texts of kernels say what a GPU has to do; they
# are built everywhere, since tests run them on the host. The plug-in itself needs
# CUDA's headers.

set(cuda_home "${PROJECT_SOURCE_DIR}/lib/exec/backend/cuda")
file(GLOB cuda_texts CONFIGURE_DEPENDS "${cuda_home}/text/*.cuh")
list(APPEND cuda_texts "${PROJECT_SOURCE_DIR}/lib/exec/backend/formulas.def"
  "${PROJECT_SOURCE_DIR}/lib/exec/backend/philox.def")
string(REPLACE ";" "|" cuda_inputs "${cuda_texts}")
set(cuda_inc "${PROJECT_BINARY_DIR}/gen/exec/backend/cuda/texts.inc")
add_custom_command(OUTPUT "${cuda_inc}"
  COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${cuda_inc}" "-DINPUTS=${cuda_inputs}"
    -P "${PROJECT_SOURCE_DIR}/cmake/Embed.cmake"
  DEPENDS ${cuda_texts} "${PROJECT_SOURCE_DIR}/cmake/Embed.cmake" VERBATIM
  COMMENT "Embedding the texts of kernels")

file(GLOB cuda_plans CONFIGURE_DEPENDS "${cuda_home}/plan*.cc"
  "${cuda_home}/source.cc" "${cuda_home}/fusion.cc"
  "${cuda_home}/fused_kernel.cc")
add_library(gt_cuda_plans OBJECT EXCLUDE_FROM_ALL ${cuda_plans} "${cuda_inc}")
target_link_libraries(gt_cuda_plans PUBLIC gt_flags gt_version)
set_target_properties(gt_cuda_plans PROPERTIES POSITION_INDEPENDENT_CODE ON)
# They write the text of a kernel, once for each shape.
target_compile_options(gt_cuda_plans PRIVATE $<$<CONFIG:Release>:-Os>)

if(NOT GT_CUDA)
  return()
endif()
file(GLOB cuda_sources CONFIGURE_DEPENDS "${cuda_home}/*.cc")
list(REMOVE_ITEM cuda_sources ${cuda_plans})
add_library(gt_cuda_device OBJECT ${cuda_sources})
target_include_directories(gt_cuda_device SYSTEM PUBLIC "${CUDA_INCLUDE_DIR}")
target_link_libraries(gt_cuda_device PUBLIC gt_flags gt_version)
if(NCCL_INCLUDE_DIR)
  target_include_directories(gt_cuda_device SYSTEM PUBLIC "${NCCL_INCLUDE_DIR}")
  target_compile_definitions(gt_cuda_device PUBLIC GT_CUDA_NCCL)
endif()
if(GT_CUDNN)
  target_include_directories(gt_cuda_device SYSTEM PUBLIC
    "${CUDNN_FRONTEND_INCLUDE_DIR}" "${CUDNN_INCLUDE_DIR}")
  target_compile_definitions(gt_cuda_device PUBLIC GT_CUDA_CUDNN)
  # cudnn_frontend is 40,000 lines of headers that only choose what a library
  # computes, so -O1 is enough for them.
  set_source_files_properties("${cuda_home}/library_attention.cc" PROPERTIES
    COMPILE_OPTIONS -O1)
endif()
set_target_properties(gt_cuda_device PROPERTIES POSITION_INDEPENDENT_CODE ON)
add_library(cuda MODULE $<TARGET_OBJECTS:gt_cuda_device>
  $<TARGET_OBJECTS:gt_cuda_plans>)
target_link_libraries(cuda PRIVATE gt_flags)
set_target_properties(cuda PROPERTIES PREFIX ""
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/gt")

# Libraries that Debian ships without a usable CMake package, and CUDA, which
# is looked for and never required. A missing one names the remedy.

set(remedy "run scripts/packages install build")

find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp)
if(NOT CLI11_INCLUDE_DIR)
  message(FATAL_ERROR "CLI11 (CLI/CLI.hpp) not found: ${remedy}")
endif()

find_path(XXHASH_INCLUDE_DIR xxhash.h)
if(NOT XXHASH_INCLUDE_DIR)
  message(FATAL_ERROR "xxHash (xxhash.h) not found: ${remedy}")
endif()

find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(DNNL_LIBRARY dnnl)
if(NOT DNNL_INCLUDE_DIR OR NOT DNNL_LIBRARY)
  message(FATAL_ERROR "oneDNN (libdnnl) not found: ${remedy}")
endif()
add_library(gt_dnnl INTERFACE)
target_include_directories(gt_dnnl SYSTEM INTERFACE ${DNNL_INCLUDE_DIR})
target_link_libraries(gt_dnnl INTERFACE ${DNNL_LIBRARY})

find_path(ZMQ_INCLUDE_DIR zmq.h)
find_library(ZMQ_LIBRARY zmq)
if(NOT ZMQ_INCLUDE_DIR OR NOT ZMQ_LIBRARY)
  message(FATAL_ERROR "ZeroMQ (libzmq) not found: ${remedy}")
endif()
add_library(gt_zmq INTERFACE)
target_include_directories(gt_zmq SYSTEM INTERFACE ${ZMQ_INCLUDE_DIR})
target_link_libraries(gt_zmq INTERFACE ${ZMQ_LIBRARY})

find_path(YAML_CPP_INCLUDE_DIR yaml-cpp/parser.h)
find_library(YAML_CPP_LIBRARY yaml-cpp)
if(NOT YAML_CPP_INCLUDE_DIR OR NOT YAML_CPP_LIBRARY)
  message(FATAL_ERROR "yaml-cpp (yaml-cpp/parser.h) not found: ${remedy}")
endif()
add_library(gt_yaml INTERFACE)
target_include_directories(gt_yaml SYSTEM INTERFACE ${YAML_CPP_INCLUDE_DIR})
target_link_libraries(gt_yaml INTERFACE ${YAML_CPP_LIBRARY})

if(GT_OPENMP)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()

find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND)
  message(STATUS "CUDA: ${CUDAToolkit_VERSION} found")
else()
  message(STATUS "CUDA: not found, not needed")
endif()

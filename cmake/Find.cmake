# Finds libraries that Debian ships without a usable CMake package, and CUDA, which
# is optional. If one is missing, the message says what to do.

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

# Where scripts/packages unpacks headers whose -dev package was not installed;
# then the library has no name without a version.
set(headers "${PROJECT_SOURCE_DIR}/build/headers")
find_path(ZMQ_INCLUDE_DIR zmq.h PATHS "${headers}")
find_library(ZMQ_LIBRARY NAMES zmq libzmq.so.5)
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

find_path(CURSES_INCLUDE_DIR ncurses.h)
find_library(CURSES_LIBRARY ncursesw)
find_library(TINFO_LIBRARY tinfo)
if(NOT CURSES_INCLUDE_DIR OR NOT CURSES_LIBRARY OR NOT TINFO_LIBRARY)
  message(FATAL_ERROR "ncurses (libncursesw) not found: ${remedy}")
endif()
add_library(gt_curses INTERFACE)
target_include_directories(gt_curses SYSTEM INTERFACE ${CURSES_INCLUDE_DIR})
target_link_libraries(gt_curses INTERFACE ${CURSES_LIBRARY} ${TINFO_LIBRARY})

find_path(MICROHTTPD_INCLUDE_DIR microhttpd.h PATHS "${headers}")
find_library(MICROHTTPD_LIBRARY NAMES microhttpd libmicrohttpd.so.12)
if(NOT MICROHTTPD_INCLUDE_DIR OR NOT MICROHTTPD_LIBRARY)
  message(FATAL_ERROR "libmicrohttpd not found: ${remedy}")
endif()
add_library(gt_microhttpd INTERFACE)
target_include_directories(gt_microhttpd SYSTEM INTERFACE
  ${MICROHTTPD_INCLUDE_DIR})
target_link_libraries(gt_microhttpd INTERFACE ${MICROHTTPD_LIBRARY})

if(GT_OPENMP)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()

# Only the headers are needed: the functions are looked up at run time.
find_path(CUDA_INCLUDE_DIR cuda.h HINTS ENV CUDA_HOME /usr/local/cuda
  PATH_SUFFIXES include targets/x86_64-linux/include)
foreach(header IN ITEMS cuda.h nvrtc.h cublasLt.h)
  if(NOT CUDA_INCLUDE_DIR OR NOT EXISTS "${CUDA_INCLUDE_DIR}/${header}")
    list(APPEND cuda_missing ${header})
  endif()
endforeach()
if(cuda_missing)
  list(JOIN cuda_missing ", " cuda_missing)
  message(STATUS "CUDA: no ${cuda_missing}, so the backend cuda is not built; "
    "man/gt-cuda.7 says how to get it")
else()
  set(GT_CUDA ON)
  file(STRINGS "${CUDA_INCLUDE_DIR}/cuda.h" cuda_version
    REGEX "define CUDA_VERSION ")
  string(REGEX REPLACE ".*CUDA_VERSION +([0-9]+)" "\\1" cuda_version
    "${cuda_version}")
  math(EXPR cuda_major "${cuda_version} / 1000")
  math(EXPR cuda_minor "${cuda_version} % 1000 / 10")
  message(STATUS "CUDA: headers of ${cuda_major}.${cuda_minor} in "
    "${CUDA_INCLUDE_DIR}, so the backend cuda is built")
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS "${CUDA_INCLUDE_DIR}")
  if(NOT NCCL_INCLUDE_DIR)
    message(STATUS "CUDA: no nccl.h, so GPUs exchange values through the host")
  endif()
  # -D CUDNN_FRONTEND_INCLUDE_DIR=FOLDER names a folder, as -D
  # CUDNN_INCLUDE_DIR=FOLDER does.
  find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS "${CUDA_INCLUDE_DIR}")
  find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend.h
    HINTS "${CUDNN_INCLUDE_DIR}" "${CUDA_INCLUDE_DIR}")
  set(frontend_version 0)
  if(EXISTS "${CUDNN_FRONTEND_INCLUDE_DIR}/cudnn_frontend_version.h")
    file(STRINGS "${CUDNN_FRONTEND_INCLUDE_DIR}/cudnn_frontend_version.h"
      frontend_version REGEX "define CUDNN_FRONTEND_M[A-Z]+_VERSION +[0-9]")
    string(REGEX REPLACE "[^0-9;]" "" frontend_version "${frontend_version}")
    list(JOIN frontend_version "." frontend_version)
  endif()
  if(CUDNN_INCLUDE_DIR AND frontend_version VERSION_GREATER_EQUAL 1.16)
    set(GT_CUDNN ON)
    message(STATUS "CUDA: headers of cuDNN's frontend ${frontend_version} in "
      "${CUDNN_FRONTEND_INCLUDE_DIR}, so cuDNN computes attention where it is")
  else()
    message(STATUS "CUDA: no cudnn.h, or no cudnn_frontend.h of 1.16 or later, "
      "so attention is without cuDNN; man/gt-cuda.7 says how to get them")
  endif()
endif()

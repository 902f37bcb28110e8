# gt_layer(NAME [LIBRARY ...]): lib/NAME becomes the static library gt_NAME.
# All of the folder is taken, sub-folders too, apart from cuda/ (a plug-in, not
# part of this build). The links given are all that the folder may include;
# scripts/lint checks the same order in the sources. A folder without sources
# yet is an empty interface library, so that what stands above it links.
function(gt_layer name)
  set(target gt_${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/lib/${name}/*.cc")
  list(FILTER sources EXCLUDE REGEX "/cuda/|_test\\.cc$")
  if(sources)
    add_library(${target} STATIC ${sources})
    # Files of rows and of kernels name their tables and helpers alike, so each
    # is compiled by itself, as is what is compiled for other processors.
    list(FILTER sources INCLUDE REGEX "/lib/ops/|/backend/(cpu|ref)/|_avx2\\.cc$")
    set_source_files_properties(${sources} PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON)
    list(FILTER sources INCLUDE REGEX "_avx2\\.cc$")
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -mavx2)
    endif()
    target_link_libraries(${target} PUBLIC gt_flags ${ARGN})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE gt_flags ${ARGN})
  endif()
endfunction()

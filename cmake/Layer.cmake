# gt_layer(NAME [LIBRARY ...]) makes the static library gt_NAME of all sources in
# lib/NAME and its sub-folders, except cuda/, which is a plug-in. The libraries
# given are all that the folder may include; scripts/lint checks the same order in
# the sources. A folder without sources is an empty interface library, so that the
# layers above it can link.
function(gt_layer name)
  set(target gt_${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/lib/${name}/*.cc")
  list(FILTER sources EXCLUDE REGEX "/cuda/|_test\\.cc$")
  if(sources)
    add_library(${target} STATIC ${sources})
    # Files for other processors are compiled by themselves.
    list(FILTER sources INCLUDE REGEX "_avx2\\.cc$")
    set_source_files_properties(${sources} PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -mavx2)
    endif()
    target_link_libraries(${target} PUBLIC gt_flags ${ARGN})
    gt_even_batches(${target})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE gt_flags ${ARGN})
  endif()
endfunction()

# gt_even_batches(TARGET) compiles a library in as few batches of up to 34 files as
# may be, all of the same size: each batch costs a second or two for what all of
# them include, and the last to end is not one that began last.
function(gt_even_batches target)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources files)
  math(EXPR batches "(${files} + 33) / 34")
  math(EXPR size "(${files} + ${batches} - 1) / ${batches}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

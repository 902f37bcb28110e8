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
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE gt_flags ${ARGN})
  endif()
endfunction()

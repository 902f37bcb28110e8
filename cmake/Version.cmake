# gt_version: gen/base/version.h declares gt::kVersion, and gen/version.cc defines
# it. Each build makes the definition anew but writes it only if it changes, so a
# commit costs one small compilation and the links. An archive made by git has the
# commit in cmake/commit.
#
# Run as a script (cmake -P) this same file writes the definition.

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_policy(VERSION 3.25)
  file(STRINGS "${source_dir}/cmake/commit" id LIMIT_COUNT 1)
  if(id MATCHES "^[0-9a-f]+$")
    string(SUBSTRING "${id}" 0 12 id)
  else()
    execute_process(
      COMMAND git rev-parse --short=12 HEAD
      WORKING_DIRECTORY "${source_dir}"
      OUTPUT_VARIABLE id OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(id)
    string(APPEND version " (${id})")
  endif()
  file(CONFIGURE OUTPUT "${output}" CONTENT
"#include \"base/version.h\"

namespace gt {
const char kVersion[] = \"${version}\";
}
")
  return()
endif()

set(gen "${PROJECT_BINARY_DIR}/gen")
file(CONFIGURE OUTPUT "${gen}/base/version.h" CONTENT
"// The release and the commit that this was built from, as --version says it.
#pragma once

namespace gt {

extern const char kVersion[];

}  // namespace gt
")
add_custom_target(gt_version_id
  COMMAND ${CMAKE_COMMAND} -Dversion=${PROJECT_VERSION}
    "-Dsource_dir=${PROJECT_SOURCE_DIR}" "-Doutput=${gen}/version.cc"
    -P "${CMAKE_CURRENT_LIST_FILE}"
  BYPRODUCTS "${gen}/version.cc"
  COMMENT "Naming the version" VERBATIM)
add_library(gt_version STATIC "${gen}/version.cc")
target_link_libraries(gt_version PUBLIC gt_flags)
add_dependencies(gt_version gt_version_id)

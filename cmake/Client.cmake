# lib/client: libgt, the C++ client library, shared and static. It contains all of
# gt that it needs, of which only what gt/c.h declares can be seen from outside. The
# C++ interface is headers over that; gt/ops.h among them is made from the op table.

set(client_layers gt_version gt_base gt_stream gt_file gt_ops)  # its layers
# GCC would mark some symbols as unique in a process, which could not be hidden in
# libgt.a.
set(not_unique $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
foreach(layer IN LISTS client_layers)
  set_target_properties(${layer} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${layer} PRIVATE -fno-semantic-interposition
    ${not_unique})
endforeach()

file(GLOB client_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/lib/client/*.cc")
add_library(gt_client OBJECT ${client_sources})
set_target_properties(gt_client PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
target_compile_options(gt_client PRIVATE ${not_unique})
target_link_libraries(gt_client PUBLIC gt_ops)
target_include_directories(gt_client PRIVATE
  "${PROJECT_SOURCE_DIR}/lib/client/include")

# gt/ops.h is made from the op table.
set(client_headers "${PROJECT_BINARY_DIR}/include")
foreach(tool IN ITEMS ops_header op_examples op_calls)
  string(REPLACE "_" "-" program gt-${tool})
  add_executable(${program}
    lib/client/generate/${tool}.cc lib/client/generate/functions.cc)
  target_link_libraries(${program} PRIVATE gt_ops)
  target_compile_options(${program} PRIVATE -O0)  # it runs once
  set_target_properties(${program} PROPERTIES EXCLUDE_FROM_ALL ON
    UNITY_BUILD OFF RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tools")
endforeach()
add_custom_command(
  OUTPUT "${client_headers}/gt/ops.h" "${client_headers}/gt/methods.h"
  COMMAND ${CMAKE_COMMAND} -E make_directory "${client_headers}/gt"
  COMMAND gt-ops-header "${client_headers}/gt"
  DEPENDS gt-ops-header
  COMMENT "Writing gt/ops.h from the op table")
add_custom_target(gt_client_headers DEPENDS "${client_headers}/gt/ops.h")

add_library(client SHARED $<TARGET_OBJECTS:gt_client>)
target_link_libraries(client PRIVATE gt_ops)
set(exports "${PROJECT_SOURCE_DIR}/cmake/client.exports")
target_link_options(client PRIVATE
  "LINKER:--version-script=${exports}" "LINKER:-z,defs"
  "LINKER:-z,nodelete")  # it has threads, and is called at exit
set_target_properties(client PROPERTIES LINK_DEPENDS "${exports}")

# An archive cannot hide its symbols. So libgt.a has a single object, in which only
# gt_* is global, and no other name of gt collides with one of the program. The
# groups of code made by templates are dissolved, or the linker would replace one of
# gt's, which is local here, by the program's.
set(objects $<TARGET_OBJECTS:gt_client>)
foreach(layer IN LISTS client_layers)
  list(APPEND objects $<TARGET_OBJECTS:${layer}>)
endforeach()
set(one_object "${PROJECT_BINARY_DIR}/gen/libgt.o")
add_custom_command(OUTPUT "${one_object}"
  COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o "${one_object}"
    ${objects}
  COMMAND ${CMAKE_OBJCOPY} --wildcard "--keep-global-symbol=gt_*"
    "${one_object}"
  DEPENDS ${objects} COMMAND_EXPAND_LISTS VERBATIM
  COMMENT "Hiding what is gt's own in libgt.a")
add_library(client_static STATIC "${one_object}")
target_link_libraries(client_static PUBLIC fmt::fmt Threads::Threads
  ${CMAKE_DL_LIBS})
set_target_properties(client PROPERTIES
  OUTPUT_NAME gt VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set_target_properties(client_static PROPERTIES
  LINKER_LANGUAGE CXX OUTPUT_NAME gt ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
foreach(library client client_static)
  add_dependencies(${library} gt_client_headers)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/lib/client/include>
    $<BUILD_INTERFACE:${client_headers}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${library} INTERFACE cxx_std_20)
endforeach()
add_library(gt::client ALIAS client)
add_library(gt::client_static ALIAS client_static)

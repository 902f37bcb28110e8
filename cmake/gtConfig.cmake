# find_package(gt) gives gt::client, and gt::client_static if fmt is found.
include("${CMAKE_CURRENT_LIST_DIR}/gtTargets.cmake")
find_package(Threads QUIET)
find_package(fmt QUIET)
if(fmt_FOUND AND Threads_FOUND)
  include("${CMAKE_CURRENT_LIST_DIR}/gtStaticTargets.cmake")
endif()

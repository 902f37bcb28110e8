# Before the first file is installed: is all there, and what does the prefix mean?
foreach(file IN LISTS built)
  if(NOT EXISTS "${file}")
    file(RELATIVE_PATH file "${build}" "${file}")
    list(APPEND missing "${file}")
  endif()
endforeach()
if(missing)
  list(JOIN missing ", " missing)
  message(FATAL_ERROR "nothing is installed, since these are not built yet: "
    "${missing}. Build them and install again: "
    "cmake --build ${build} --target programs")
endif()

# Below a system's prefix the dynamic linker, pkg-config and Python look by
# themselves.
set(is_system OFF)
if(CMAKE_INSTALL_PREFIX MATCHES "^/usr(/local)?/?$")
  set(is_system ON)
endif()

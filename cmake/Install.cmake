# cmake --install: programs, the scripts that are programs, man pages, completions,
# data, libgt, and gt for Python. Each belongs to a component, which is a package of
# cmake/Package.cmake. It installs all or nothing: what the target programs has not
# built yet is told first. What depends on the prefix, which is known when it is
# installed, is done by scripts in cmake/install.

set(data "${CMAKE_INSTALL_DATADIR}/gt")
set(built "${ops_page}" "${client_headers}/gt/ops.h")
foreach(target IN ITEMS client client_static)
  list(APPEND built $<TARGET_FILE:${target}>)
endforeach()
foreach(source IN LISTS programs)
  cmake_path(GET source STEM program)
  list(APPEND built $<TARGET_FILE:${program}>)
endforeach()
if(TARGET cuda)
  list(APPEND built $<TARGET_FILE:cuda>)
endif()
install(CODE "
  set(build \"${PROJECT_BINARY_DIR}\")
  set(built \"${built}\")
  set(libdir \"${CMAKE_INSTALL_LIBDIR}\")
  set(source \"${PROJECT_SOURCE_DIR}\")" ALL_COMPONENTS)
install(SCRIPT cmake/install/Check.cmake ALL_COMPONENTS)

foreach(source IN LISTS programs)
  cmake_path(GET source STEM program)
  install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    COMPONENT programs)
endforeach()
if(TARGET cuda)
  install(TARGETS cuda LIBRARY DESTINATION lib/gt COMPONENT programs)
endif()

# The scripts also get links in the build tree's bin, so that one folder is all of
# PATH.
file(GLOB tools CONFIGURE_DEPENDS scripts/gt-*)
foreach(tool IN LISTS tools)
  install(PROGRAMS ${tool} DESTINATION ${CMAKE_INSTALL_BINDIR}
    COMPONENT programs)
  cmake_path(GET tool FILENAME name)
  file(MAKE_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  file(CREATE_LINK ${tool} "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}" SYMBOLIC)
endforeach()
foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS man/*.${section})
  if(section EQUAL 3)
    set(component dev)
  else()
    set(component programs)
  endif()
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
      COMPONENT ${component})
  endif()
endforeach()
install(FILES "${ops_page}" DESTINATION ${CMAKE_INSTALL_MANDIR}/man7
  COMPONENT programs)

# Completions: bash and fish look for a file of the program's name.
foreach(file IN LISTS programs tools)
  cmake_path(GET file STEM program)
  install(FILES share/completions/gt.bash RENAME ${program} COMPONENT programs
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES share/completions/gt.fish RENAME ${program}.fish
    COMPONENT programs
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endforeach()
install(FILES share/completions/gt.zsh RENAME _gt COMPONENT programs
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
set(candidates share/completions/candidates)  # which all of them ask
install(PROGRAMS ${candidates} DESTINATION ${data}/completions
  COMPONENT programs)
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/${data}/completions")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${candidates}"
  "${PROJECT_BINARY_DIR}/${data}/completions/candidates" SYMBOLIC)

# As in the source tree, so that the examples find their data, and what the pages
# show can be typed, in either.
install(DIRECTORY share DESTINATION ${data} COMPONENT doc
  PATTERN completions EXCLUDE PATTERN gdb EXCLUDE PATTERN python EXCLUDE)
# The pages as HTML, if scripts/docs has made them.
install(DIRECTORY "${PROJECT_BINARY_DIR}/docs/" COMPONENT doc OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gt/html)
install(DIRECTORY configs examples DESTINATION ${data} COMPONENT doc
  USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
# gt-cluster reads these scripts beside itself.
install(DIRECTORY scripts/cluster DESTINATION ${data} COMPONENT programs)

# ---- libgt ------------------------------------------------------------------

install(TARGETS client EXPORT gtTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT library NAMELINK_COMPONENT dev)
install(TARGETS client_static EXPORT gtStaticTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY lib/client/include/gt "${client_headers}/gt"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
  FILES_MATCHING PATTERN "*.h")

# find_package(gt): only users of the static library need fmt, so the two libraries
# are exported apart.
include(CMakePackageConfigHelpers)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/gt")
foreach(export IN ITEMS gtTargets gtStaticTargets)
  install(EXPORT ${export} NAMESPACE gt:: DESTINATION ${package} COMPONENT dev)
endforeach()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gtConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/gtConfig.cmake "${PROJECT_BINARY_DIR}/gtConfigVersion.cmake"
  DESTINATION ${package} COMPONENT dev)

file(RELATIVE_PATH prefix_of_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/gt.pc.in gt.pc @ONLY)
install(SCRIPT cmake/install/PkgConfig.cmake COMPONENT dev)

# gdb looks for the printer by the library's own path, below this folder. The prefix
# is known only at installation.
install(FILES share/gdb/gt.py
  DESTINATION "${CMAKE_INSTALL_DATADIR}/gdb/auto-load\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}"
  RENAME libgt.so.${PROJECT_VERSION}-gdb.py COMPONENT dev)

install(SCRIPT cmake/install/Python.cmake COMPONENT programs)

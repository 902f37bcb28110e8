# cmake --install: programs (named beside their targets), the scripts that are
# programs, man pages, completions, data, and libgt. Each belongs to a component,
# which is a package of cmake/Package.cmake. libgt is optional here, since the
# target programs does not build it.

set(data "${CMAKE_INSTALL_DATADIR}/gt")

# They stand beside the others in the build tree too: one folder is all of PATH.
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
foreach(home IN ITEMS bash:bash-completion/completions zsh:zsh/site-functions
                      fish:fish/vendor_completions.d)
  string(REPLACE ":" ";" home ${home})
  list(GET home 0 shell)
  list(GET home 1 folder)
  install(DIRECTORY share/completions/${shell}/
    DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder}
    COMPONENT programs OPTIONAL)
endforeach()
# As in the source tree, so that the examples find their data, and what the pages
# show can be typed, in either.
install(DIRECTORY share DESTINATION ${data} COMPONENT doc
  PATTERN completions EXCLUDE PATTERN gdb EXCLUDE PATTERN python EXCLUDE)
# The pages as HTML, if scripts/docs has made them.
install(DIRECTORY "${PROJECT_BINARY_DIR}/docs/" COMPONENT doc OPTIONAL
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gt/html)
# For programs in Python, which need nothing but the programs.
install(DIRECTORY share/python DESTINATION ${data}/share COMPONENT programs
  PATTERN __pycache__ EXCLUDE)
install(DIRECTORY configs examples DESTINATION ${data} COMPONENT doc
  USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
# What gt-cluster reads beside itself.
install(DIRECTORY scripts/cluster DESTINATION ${data} COMPONENT programs)

# ---- libgt ------------------------------------------------------------------

install(TARGETS client EXPORT gtTargets OPTIONAL
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT library NAMELINK_COMPONENT dev)
install(TARGETS client_static EXPORT gtStaticTargets OPTIONAL
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY lib/client/include/gt "${client_headers}/gt"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev OPTIONAL
  FILES_MATCHING PATTERN "*.h")

# find_package(gt): of fmt only the static library's user has need, so the two
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
install(FILES "${PROJECT_BINARY_DIR}/gt.pc"
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# gdb looks for it by the library's own path, below this folder; the prefix is
# known when it is installed.
install(FILES share/gdb/gt.py
  DESTINATION "${CMAKE_INSTALL_DATADIR}/gdb/auto-load\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}"
  RENAME libgt.so.${PROJECT_VERSION}-gdb.py COMPONENT dev)

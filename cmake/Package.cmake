# cpack, run in a build folder, makes a Debian package of each component in
# packages/ there. The packages and what is in them:
#
#   gt          the programs, their pages and completions, and the module gt for Python
#   libgt0      libgt.so, by the number of its interface
#   libgt-dev   headers, libgt.a, find_package(gt), gt.pc, gdb's printer
#   gt-doc      examples, configs and data, which the pages show, and the pages
#               as HTML

set(library libgt${PROJECT_VERSION_MAJOR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gt)
set(CPACK_PACKAGE_CONTACT "gt developers <gt@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Tensor programs as lines of text")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
# The place of gdb's printer contains the prefix, so the prefix must be known.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE
  OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL programs library dev doc)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME gt)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS "gt-doc, openssh-client, python3, python3-numpy")
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION
  "Filters that check, differentiate, spread and run tensor programs.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS gt)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
  "The library of C++ programs that write the lines of a gt program.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libgt-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "${library} (= ${PROJECT_VERSION}), libfmt-dev")
set(CPACK_COMPONENT_DEV_DESCRIPTION
  "Headers and the static library of gt's C++ client.")

set(CPACK_DEBIAN_DOC_PACKAGE_NAME gt-doc)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_RECOMMENDS gt)
set(CPACK_COMPONENT_DOC_DESCRIPTION
  "Examples, configs and data of gt, and its manual as HTML.")

foreach(pair IN ITEMS programs:gt library:${library} dev:libgt-dev doc:gt-doc)
  string(REGEX MATCH "(.*):(.*)" pair ${pair})
  install(FILES LICENSE COMPONENT ${CMAKE_MATCH_1} RENAME copyright
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CMAKE_MATCH_2})
endforeach()
include(CPack)

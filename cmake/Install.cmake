# cmake --install: programs (named beside their targets), the scripts that are
# programs, man pages, completions, data.

set(data "${CMAKE_INSTALL_DATADIR}/gt")

# They stand beside the others in the build tree too: one folder is all of PATH.
file(GLOB tools CONFIGURE_DEPENDS scripts/gt-*)
foreach(tool IN LISTS tools)
  install(PROGRAMS ${tool} DESTINATION ${CMAKE_INSTALL_BINDIR})
  cmake_path(GET tool FILENAME name)
  file(MAKE_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  file(CREATE_LINK ${tool} "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name}" SYMBOLIC)
endforeach()
foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS man/*.${section})
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()
foreach(home IN ITEMS bash:bash-completion/completions zsh:zsh/site-functions
                      fish:fish/vendor_completions.d)
  string(REPLACE ":" ";" home ${home})
  list(GET home 0 shell)
  list(GET home 1 folder)
  install(DIRECTORY share/completions/${shell}/
    DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} OPTIONAL)
endforeach()
# As in the source tree, so that the examples find their data, and what the pages
# show can be typed, in either.
install(DIRECTORY share DESTINATION ${data}
  PATTERN completions EXCLUDE PATTERN __pycache__ EXCLUDE)
install(DIRECTORY configs examples DESTINATION ${data} USE_SOURCE_PERMISSIONS
  PATTERN __pycache__ EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# What gt-cluster reads beside itself.
install(DIRECTORY scripts/cluster DESTINATION ${data})

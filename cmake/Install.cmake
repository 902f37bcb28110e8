# cmake --install: programs (named beside their targets), the scripts that are
# programs, man pages, completions, data.

set(data "${CMAKE_INSTALL_DATADIR}/gt")

file(GLOB tools CONFIGURE_DEPENDS scripts/gt-*)
if(tools)
  install(PROGRAMS ${tools} DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(section 1 5 7)
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
install(DIRECTORY share/ DESTINATION ${data}
  PATTERN completions EXCLUDE)
install(DIRECTORY examples DESTINATION ${data} OPTIONAL USE_SOURCE_PERMISSIONS)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

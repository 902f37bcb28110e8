# After the last file: the dynamic linker learns of libgt.so, and the user of what
# is not found by itself.
if("$ENV{DESTDIR}" STREQUAL "")
  if(is_system)
    find_program(LDCONFIG ldconfig PATHS /sbin /usr/sbin)
    execute_process(COMMAND "${LDCONFIG}" RESULT_VARIABLE status ERROR_QUIET)
    if(NOT status EQUAL 0)
      message(NOTICE "Programs find libgt.so once root has run: ldconfig")
    endif()
  else()
    set(lines "export PATH=${CMAKE_INSTALL_PREFIX}/bin:$PATH"
      "export PKG_CONFIG_PATH=${CMAKE_INSTALL_PREFIX}/${libdir}/pkgconfig")
  endif()
  if(NOT python_finds_it)
    list(APPEND lines "export PYTHONPATH=${modules}")
  endif()
  if(lines)
    list(JOIN lines "\n  " lines)
    message(NOTICE "gt is found there with these lines in the shell's profile:\n"
      "  ${lines}")
  endif()
endif()

# The module gt, where python3 looks below the prefix. Debian's packages, in /usr, have one
# folder for all versions of Python; elsewhere the version is in its name.
set(modules "${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages")
set(python_finds_it ON)
if(NOT (CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version))
  execute_process(
    COMMAND python3 -c "import sysconfig; print(sysconfig.get_path('purelib'))"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${found}" NORMALIZE python_finds_it)
  if(python_finds_it)
    set(modules "${found}")
  endif()
endif()
file(INSTALL "${source}/share/python/gt" DESTINATION "${modules}"
  FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)

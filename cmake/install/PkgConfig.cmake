# gt.pc. A program that is linked by it finds libgt.so in a prefix where the dynamic
# linker does not look, too.
file(READ "${build}/gt.pc" text)
if(NOT is_system)
  string(REPLACE " -lgt" " -Wl,-rpath,\${libdir} -lgt" text "${text}")
endif()
file(WRITE "${build}/install/gt.pc" "${text}")
file(INSTALL "${build}/install/gt.pc"
  DESTINATION "${CMAKE_INSTALL_PREFIX}/${libdir}/pkgconfig")

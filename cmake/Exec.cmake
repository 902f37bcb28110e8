# What lib/exec has that other layers have not: oneDNN, OpenMP, and flags for its
# kernels. Contraction stays off, so that a value has the same bits by every
# instruction set. Giving up errno and traps changes no value, and lets loops over
# exp() and sqrt() become vectors.

get_target_property(exec_kind gt_exec TYPE)
if(exec_kind STREQUAL "INTERFACE_LIBRARY")
  return()
endif()

target_link_libraries(gt_exec PUBLIC gt_dnnl ${CMAKE_DL_LIBS})
if(GT_OPENMP)
  target_link_libraries(gt_exec PUBLIC OpenMP::OpenMP_CXX)
endif()
set(float_flags -fno-math-errno -fno-trapping-math -Wno-float-conversion)
target_compile_options(gt_exec PRIVATE ${float_flags})

# What -O3 takes longer pays for the loops of this backend alone.
get_target_property(exec_sources gt_exec SOURCES)
set(cpu_sources ${exec_sources})
list(FILTER cpu_sources INCLUDE REGEX "/backend/cpu/")
list(FILTER exec_sources EXCLUDE REGEX "/backend/cpu/")
add_library(gt_exec_cpu OBJECT ${cpu_sources})
target_link_libraries(gt_exec_cpu PRIVATE
  $<TARGET_PROPERTY:gt_exec,INTERFACE_LINK_LIBRARIES>)
target_compile_options(gt_exec_cpu PRIVATE ${float_flags}
  $<$<CONFIG:Release>:-O3>)
set_target_properties(gt_exec PROPERTIES
  SOURCES "${exec_sources};$<TARGET_OBJECTS:gt_exec_cpu>")

# The name of a kernel's file says which instruction set it may use. Its functions
# are called only if the machine has that.
set(avx2_flags -mavx2 -mfma -mf16c)
set(avx512_flags -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c
  -mprefer-vector-width=512)
foreach(source IN LISTS cpu_sources)
  foreach(isa avx2 avx512)
    if(source MATCHES "_${isa}\\.cc$")
      set_source_files_properties(${source} PROPERTIES
        COMPILE_OPTIONS "${${isa}_flags}")
    endif()
  endforeach()
  if(source MATCHES "/loops_base\\.cc$")  # its loops have macros of their own
    set_source_files_properties(${source} PROPERTIES
      SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(source MATCHES "/integer_loops\\.cc$")  # integer formulas wrap around
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -fwrapv)
  endif()
endforeach()

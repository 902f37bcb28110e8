# What lib/exec has beyond the other layers: oneDNN, OpenMP, and the flags of
# its kernels. Contraction stays off so that a value has the same bits whichever
# instruction set computes it; errno and traps are given up, which changes no
# value and lets loops over exp() and sqrt() become vectors.

get_target_property(exec_kind gt_exec TYPE)
if(exec_kind STREQUAL "INTERFACE_LIBRARY")
  return()
endif()

target_link_libraries(gt_exec PUBLIC gt_dnnl ${CMAKE_DL_LIBS})
if(GT_OPENMP)
  target_link_libraries(gt_exec PUBLIC OpenMP::OpenMP_CXX)
endif()
target_compile_options(gt_exec PRIVATE
  -fno-math-errno -fno-trapping-math -Wno-float-conversion
  $<$<CONFIG:Release>:-O3>)

# A kernel file's name says which instruction set it may use; its functions
# are called only after the machine was asked.
set(avx2_flags -mavx2 -mfma -mf16c)
set(avx512_flags -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c
  -mprefer-vector-width=512)
get_target_property(exec_sources gt_exec SOURCES)
foreach(source IN LISTS exec_sources)
  foreach(isa avx2 avx512)
    if(source MATCHES "_${isa}\\.cc$")
      set_source_files_properties(${source} PROPERTIES
        COMPILE_OPTIONS "${${isa}_flags}")
    endif()
  endforeach()
  if(source MATCHES "/integer_loops\\.cc$")  # formulas of integers wrap
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -fwrapv)
  endif()
endforeach()

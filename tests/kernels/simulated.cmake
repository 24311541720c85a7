# AVX-512 on a CPU without it (tests/isa/irsim.sh): the same tests on the same text. AUTO: where /proc/cpuinfo does not
# name it, since elsewhere the real ones run.
set(INFC_SIM512 AUTO CACHE STRING "test AVX-512 kernels simulated: ON, OFF, or AUTO (on CPUs without it)")
set(simulate ${INFC_SIM512})
if(simulate STREQUAL AUTO)
  set(simulate ON)
  if(EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo flags REGEX "avx512vl" LIMIT_COUNT 1)
    if(flags)
      set(simulate OFF)
    endif()
  endif()
endif()
find_program(INFC_CLANG22 clang-22)
find_program(INFC_LLVM_LINK22 llvm-link-22)
if(NOT simulate OR NOT x86_64_avx512 IN_LIST levels)
  return()
endif()
if(NOT INFC_CLANG22 OR NOT INFC_LLVM_LINK22)
  message(STATUS "kernels: AVX-512 is not tested: this CPU lacks it, and simulating it needs clang-22 and llvm-link-22")
  return()
endif()

# kernels_simulate(OBJECT SOURCE flags)
function(kernels_simulate object source flags)
  set(script ${CMAKE_SOURCE_DIR}/tests/isa/irsim.sh)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -E env CLANG=${INFC_CLANG22} LLVM_LINK=${INFC_LLVM_LINK22} ${script} ${object}
      "-march=x86-64-v4 -O1 -std=c11 -ffp-contract=off -fno-math-errno -I${CMAKE_SOURCE_DIR} ${flags}" ${source}
    DEPENDS ${source} ${script} ${CMAKE_SOURCE_DIR}/tests/isa/sim512.c ${ARGN} VERBATIM)
endfunction()
set(dir ${CMAKE_CURRENT_BINARY_DIR})
set(level x86_64_avx512)
kernels_simulate(${dir}/text_sim.o ${dir}/text_${level}.c "")
add_executable(kernels_${level}_sim ${drivers} ${dir}/text_sim.o)
add_dependencies(kernels_${level}_sim kernels_text_${level}) # it makes the text
target_compile_definitions(kernels_${level}_sim PRIVATE LEVEL=${level} LEVEL_${level} SIMULATED)
target_link_libraries(kernels_${level}_sim PRIVATE infk_reference m)
kernels_add_test(kernels_${level}_sim full kernels_${level}_sim --hash-expect ${hash})

# And linear layers with dot products of bytes and with tiles.
set(level x86_64_amx)
kernels_simulate(${dir}/tiles_sim.o ${tiles_text} "-mavx512vnni -include ${CMAKE_SOURCE_DIR}/tests/isa/tiles.h"
  ${CMAKE_SOURCE_DIR}/tests/isa/tiles.h)
add_executable(kernels_${level}_sim ${drivers} ${dir}/tiles_sim.o)
add_dependencies(kernels_${level}_sim kernels_tiles_memory)
target_compile_definitions(kernels_${level}_sim PRIVATE LEVEL=${level} LEVEL_${level} SIMULATED)
target_link_libraries(kernels_${level}_sim PRIVATE infk_reference m)
kernels_add_test(kernels_${level}_sim full kernels_${level}_sim)

# And products of half floats.
foreach(level x86_64_bf16 x86_64_fp16 x86_64_amx_bf16)
  set(half -mavx512bf16)
  if(level STREQUAL x86_64_fp16)
    set(half -mavx512fp16)
  endif()
  kernels_simulate(${dir}/pairs_${level}_sim.o ${dir}/text_${level}.c
    "-mavx512vnni ${half} -include ${CMAKE_SOURCE_DIR}/tests/isa/tiles.h" ${CMAKE_SOURCE_DIR}/tests/isa/tiles.h)
  add_executable(kernels_${level}_sim ${drivers} ${dir}/pairs_${level}_sim.o)
  add_dependencies(kernels_${level}_sim kernels_text_x86_64_bf16 kernels_text_x86_64_fp16 kernels_text_x86_64_amx_bf16_memory)
  target_compile_definitions(kernels_${level}_sim PRIVATE LEVEL=${level} LEVEL_${level} SIMULATED VT_IN_MEMORY)
  target_link_libraries(kernels_${level}_sim PRIVATE infk_reference m)
  kernels_add_test(kernels_${level}_sim full kernels_${level}_sim)
endforeach()
set(level x86_64_avx512)

file(GLOB vocabulary CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/templates/simd/*.h)
kernels_simulate(${dir}/simd_sim.o ${CMAKE_CURRENT_SOURCE_DIR}/simd_test.c
  "-DLEVEL_HEADER=\"templates/simd/${level}.h\" -DLEVEL_${level} -DSIMULATED -D_GNU_SOURCE" ${vocabulary})
add_executable(simd_${level}_sim ${dir}/simd_sim.o)
set_target_properties(simd_${level}_sim PROPERTIES LINKER_LANGUAGE C)
target_link_libraries(simd_${level}_sim PRIVATE m)
kernels_add_test(simd_${level}_sim full simd_${level}_sim)

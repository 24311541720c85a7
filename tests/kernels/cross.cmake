# The levels of other architectures cross-compiled and run under qemu-user. Small cases only differ in speed: emulation
# is slow, so every fifth is run (--every), and the hash of all references, which covers all cases, must be the host's.
# Nothing is sanitized there, so builds with sanitizers leave it out.
if(INFC_SANITIZE)
  return()
endif()
# Clang, for gcc takes ten minutes over the widest tiles of riscv64; the libc is that of the cross gcc.
find_program(INFC_CROSS_CC clang-22)
set(common_flags -O1 -Wno-pass-failed -std=gnu17 -static -ffp-contract=off -fno-math-errno -ffunction-sections -Wl,--gc-sections
  -I${CMAKE_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/runtime/include)
list(TRANSFORM drivers PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE common_sources)
list(APPEND common_sources ${CMAKE_BINARY_DIR}/generated/reference_kernels.c ${CMAKE_SOURCE_DIR}/templates/reference.c
  ${CMAKE_SOURCE_DIR}/templates/kernel_table.c)
set(cross_archs "")
foreach(arch aarch64 riscv64)
  find_program(INFC_CC_${arch} ${arch}-linux-gnu-gcc)
  find_program(INFC_QEMU_${arch} qemu-${arch})
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL arch)
    continue()
  endif()
  if(NOT INFC_CROSS_CC OR NOT INFC_CC_${arch} OR NOT INFC_QEMU_${arch})
    message(STATUS "kernels: not tested on ${arch}: clang-22, ${arch}-linux-gnu-gcc or qemu-${arch} is missing")
    continue()
  endif()
  # At -O1 loops whose counts come from inlining are not unrolled, which clang says of each.
  set(flags --target=${arch}-linux-gnu ${common_flags})
  set(program ${CMAKE_CURRENT_BINARY_DIR}/kernels_${arch})
  set(sources ${common_sources} ${CMAKE_CURRENT_BINARY_DIR}/text_generic.c)
  # Nothing here selects a kernel: what kernel_table.c needs for that is left out by the linker.
  add_custom_command(OUTPUT ${program}
    COMMAND ${INFC_CROSS_CC} ${flags} -DLEVEL=generic -DLEVEL_generic ${sources} -lm -o ${program}
    DEPENDS ${sources} ${CMAKE_CURRENT_SOURCE_DIR}/kernel_case.h VERBATIM)
  set(vocabulary_program ${CMAKE_CURRENT_BINARY_DIR}/simd_${arch})
  add_custom_command(OUTPUT ${vocabulary_program}
    COMMAND ${INFC_CROSS_CC} ${flags} -DLEVEL_HEADER="templates/simd/generic.h" -DLEVEL_generic
      ${CMAKE_CURRENT_SOURCE_DIR}/simd_test.c -lm -o ${vocabulary_program}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/simd_test.c ${CMAKE_SOURCE_DIR}/templates/simd/generic.h
      ${CMAKE_SOURCE_DIR}/templates/simd/scalar.h ${CMAKE_SOURCE_DIR}/templates/simd/poly.h VERBATIM)
  add_custom_target(kernels_cross_${arch} ALL DEPENDS ${program} ${vocabulary_program})
  add_dependencies(kernels_cross_${arch} kernels_text_generic infk_reference_text)
  kernels_add_test(kernels_${arch} qemu-${arch} ${INFC_QEMU_${arch}} ${program} --hash-expect ${hash} --every 5)
  kernels_add_test(simd_${arch} qemu-${arch} ${INFC_QEMU_${arch}} ${vocabulary_program})
  list(APPEND cross_archs ${arch})
endforeach()

# Levels of aarch64; with i8mm the same text takes other instructions.
if(aarch64 IN_LIST cross_archs)
  set(level aarch64_dotprod)
  infk_instances(${CMAKE_CURRENT_BINARY_DIR}/text_${level}.c ${level})
  set(sources ${common_sources} ${CMAKE_CURRENT_BINARY_DIR}/text_${level}.c)
  foreach(features dotprod dotprod+i8mm)
    string(REPLACE + _ name aarch64_${features})
    set(program ${CMAKE_CURRENT_BINARY_DIR}/kernels_${name})
    add_custom_command(OUTPUT ${program}
      COMMAND ${INFC_CROSS_CC} --target=aarch64-linux-gnu -march=armv8.2-a+${features} ${common_flags} -DLEVEL=${level}
        -DLEVEL_${level} ${sources} -lm -o ${program}
      DEPENDS ${sources} ${CMAKE_CURRENT_SOURCE_DIR}/kernel_case.h VERBATIM)
    add_custom_target(kernels_cross_${name} ALL DEPENDS ${program})
    add_dependencies(kernels_cross_${name} infk_reference_text)
    kernels_add_test(kernels_${name} qemu-aarch64 ${INFC_QEMU_aarch64} -cpu max ${program} --hash-expect ${hash} --every 5)
  endforeach()
endif()

# The levels of other architectures cross-compiled and run under qemu-user. Small cases only differ in speed: emulation
# is slow, so every fifth is run (--every), and the hash of all references, which covers all cases, must be the host's.
# At the longer ones of the vector lengths that a program runs at it is a sample of every seventh, without the hash.
# Nothing is sanitized there, so builds with sanitizers leave it out.
if(INFC_SANITIZE)
  return()
endif()
# Clang, for gcc takes ten minutes over the widest tiles of riscv64; the libc is that of the cross gcc.
find_program(INFC_CROSS_CC clang-22)
set(common_flags -O1 -Wno-pass-failed -std=gnu17 -ffp-contract=off -fno-math-errno -ffunction-sections
  -I${CMAKE_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/runtime/include)
set(link_flags -static -Wl,--gc-sections -lm)
list(TRANSFORM cases PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE common_sources)
list(APPEND common_sources ${CMAKE_BINARY_DIR}/generated/reference_kernels.c ${CMAKE_SOURCE_DIR}/templates/reference.c
  ${CMAKE_SOURCE_DIR}/templates/kernel_table.c ${CMAKE_SOURCE_DIR}/templates/kernel_memory.c
  ${CMAKE_SOURCE_DIR}/templates/kernel_fast.c)
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
    COMMAND ${INFC_CROSS_CC} ${flags} -DLEVEL=generic -DLEVEL_generic ${sources} ${CMAKE_CURRENT_SOURCE_DIR}/kernels_test.c
      ${link_flags} -o ${program}
    DEPENDS ${sources} ${CMAKE_CURRENT_SOURCE_DIR}/kernels_test.c ${CMAKE_CURRENT_SOURCE_DIR}/kernel_case.h VERBATIM)
  set(vocabulary_program ${CMAKE_CURRENT_BINARY_DIR}/simd_${arch})
  add_custom_command(OUTPUT ${vocabulary_program}
    COMMAND ${INFC_CROSS_CC} ${flags} -DLEVEL_HEADER="templates/simd/generic.h" -DLEVEL_generic
      ${CMAKE_CURRENT_SOURCE_DIR}/simd_test.c ${link_flags} -o ${vocabulary_program}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/simd_test.c ${CMAKE_SOURCE_DIR}/templates/simd/generic.h
      ${CMAKE_SOURCE_DIR}/templates/simd/scalar.h ${CMAKE_SOURCE_DIR}/templates/simd/poly.h VERBATIM)
  add_custom_target(kernels_cross_${arch} ALL DEPENDS ${program} ${vocabulary_program})
  add_dependencies(kernels_cross_${arch} kernels_text_generic infk_reference_text)
  kernels_add_test(kernels_${arch} qemu-${arch} ${INFC_QEMU_${arch}} ${program} --hash-expect ${hash} --every 5)
  kernels_add_test(simd_${arch} qemu-${arch} ${INFC_QEMU_${arch}} ${vocabulary_program})
  list(APPEND cross_archs ${arch})
endforeach()

# A level of another architecture: its kernels and its vocabulary, once for each list of arguments of the emulator.
function(kernels_cross_level arch level name march)
  if(NOT arch IN_LIST cross_archs)
    return()
  endif()
  set(text ${CMAKE_CURRENT_BINARY_DIR}/text_${level}.c)
  if(NOT TARGET kernels_text_${level})
    infk_instances(${text} ${level} ${cross_folder})
    add_custom_target(kernels_text_${level} DEPENDS ${text})
  endif()
  set(flags --target=${arch}-linux-gnu ${march} ${common_flags} -DLEVEL=${level} -DLEVEL_${level}
    -DLEVEL_HEADER="templates/simd/${level}.h")
  set(kernels ${CMAKE_CURRENT_BINARY_DIR}/kernels_${name})
  set(vocabulary ${CMAKE_CURRENT_BINARY_DIR}/simd_${name})
  set(adapters ${CMAKE_CURRENT_BINARY_DIR}/adapter_${name})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/text_${name}.o)
  file(GLOB headers ${CMAKE_SOURCE_DIR}/templates/simd/*.h)
  set(tests "")
  foreach(test IN ITEMS kernels adapter simd)
    list(APPEND tests ${CMAKE_CURRENT_SOURCE_DIR}/${test}_test.c)
  endforeach()
  add_custom_command(OUTPUT ${kernels} ${adapters} ${vocabulary} ${object}
    COMMAND ${INFC_CROSS_CC} ${flags} -c ${text} -o ${object}
    COMMAND ${INFC_CROSS_CC} ${flags} ${common_sources} ${CMAKE_CURRENT_SOURCE_DIR}/kernels_test.c ${object} ${link_flags} -o ${kernels}
    COMMAND ${INFC_CROSS_CC} ${flags} ${common_sources} ${CMAKE_CURRENT_SOURCE_DIR}/adapter_test.c ${object} ${link_flags} -o ${adapters}
    COMMAND ${INFC_CROSS_CC} ${flags} ${CMAKE_CURRENT_SOURCE_DIR}/simd_test.c ${link_flags} -o ${vocabulary}
    DEPENDS ${common_sources} ${text} ${headers} ${tests} ${CMAKE_CURRENT_SOURCE_DIR}/kernel_case.h VERBATIM)
  add_custom_target(kernels_cross_${name} ALL DEPENDS ${kernels} ${adapters} ${vocabulary})
  add_dependencies(kernels_cross_${name} infk_reference_text kernels_text_${level})
  set(arguments --hash-expect ${hash} --every 5)
  if(cross_folder)
    set(arguments --every 5)
  endif()
  foreach(cpu IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "${name}_${cpu}" test)
    kernels_add_test(kernels_${test} qemu-${arch} ${INFC_QEMU_${arch}} -cpu ${cpu} ${kernels} ${arguments})
    kernels_add_test(adapter_${test} qemu-${arch} ${INFC_QEMU_${arch}} -cpu ${cpu} ${adapters})
    set(arguments --sample 7)
    kernels_add_test(simd_${test} qemu-${arch} ${INFC_QEMU_${arch}} -cpu ${cpu} ${vocabulary})
  endforeach()
endfunction()

# The same text takes other instructions with dotprod, i8mm and SVE. Code for vectors of 128 bits must not depend on
# their length.
kernels_cross_level(aarch64 aarch64_neon aarch64_neon -march=armv8-a max)
kernels_cross_level(aarch64 aarch64_neon aarch64_neon_dotprod -march=armv8.2-a+dotprod max)
kernels_cross_level(aarch64 aarch64_neon aarch64_neon_i8mm -march=armv8.2-a+dotprod+i8mm max)
kernels_cross_level(aarch64 aarch64_neon aarch64_neon_sve -march=armv8.2-a+sve max,sve128=on max,sve256=on max,sve512=on)
# Products of bf16 in pairs: only their folder differs.
set(cross_folder halves)
kernels_cross_level(aarch64 aarch64_bf16 aarch64_bf16 -march=armv8.2-a+dotprod+i8mm+bf16 max)
set(cross_folder "")
set(v "rv64,v=true,vext_spec=v1.0")
kernels_cross_level(riscv64 riscv64_v riscv64_v -march=rv64gcv ${v},vlen=128 ${v},vlen=256 ${v},vlen=512)
kernels_cross_level(riscv64 riscv64_v riscv64_v_zvl512b -march=rv64gcv_zvl512b ${v},vlen=512)

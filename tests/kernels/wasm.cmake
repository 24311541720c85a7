# WebAssembly: the generic level and the one with vectors, on WASI's C library under node. Results and references have
# the host's hash, as in cross.cmake; a memory without pages that cannot be read is why over-reads show on the host alone.
if(INFC_SANITIZE)
  return()
endif()
find_program(INFC_NODE node)
find_program(INFC_WASM_LD wasm-ld-22)
find_file(INFC_WASI_LIBC wasm32-wasi/libc.a PATHS /usr/lib)
if(NOT INFC_CROSS_CC OR NOT INFC_NODE OR NOT INFC_WASM_LD OR NOT INFC_WASI_LIBC)
  message(STATUS "kernels: not tested on wasm32: clang-22, node, wasm-ld-22 (lld-22) or wasi-libc is missing")
  return()
endif()
set(wasm_flags --target=wasm32-wasi -Wno-deprecated ${common_flags})
set(wasm_memory -Wl,--initial-memory=201326592) # node 20's WASI crashes at the end where memory has grown
file(GLOB wasm_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/templates/simd/*.h ${CMAKE_CURRENT_SOURCE_DIR}/*.h)

# References and cases, the same for both.
set(wasm_common ${CMAKE_CURRENT_BINARY_DIR}/common_wasm32.o)
add_custom_command(OUTPUT ${wasm_common}
  COMMAND ${INFC_CROSS_CC} ${wasm_flags} -nostdlib -Wl,-r ${common_sources} -o ${wasm_common}
  DEPENDS ${common_sources} ${wasm_headers} VERBATIM)
add_custom_target(kernels_wasm32_common DEPENDS ${wasm_common})
add_dependencies(kernels_wasm32_common infk_reference_text)

# kernels_wasm_level(LEVEL NAME flags...)
function(kernels_wasm_level level name)
  set(flags ${wasm_flags} ${ARGN} -DLEVEL=${level} -DLEVEL_${level} -DLEVEL_HEADER="templates/simd/${level}.h")
  set(text ${CMAKE_CURRENT_BINARY_DIR}/text_${level}.c)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/text_${name}.o)
  add_custom_command(OUTPUT ${object} COMMAND ${INFC_CROSS_CC} ${flags} -c ${text} -o ${object} DEPENDS ${text} VERBATIM)
  set(programs "")
  foreach(test kernels kv adapter simd)
    set(program ${CMAKE_CURRENT_BINARY_DIR}/${test}_${name}.wasm)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${test}_test.c)
    set(objects ${wasm_common} ${object})
    set(arguments "")
    if(test STREQUAL simd)
      set(objects "") # the vocabulary alone
    elseif(test STREQUAL kernels)
      set(arguments --hash-expect ${hash} --every 5)
    endif()
    add_custom_command(OUTPUT ${program} COMMAND ${INFC_CROSS_CC} ${flags} ${source} ${objects} -lm ${wasm_memory} -o ${program}
      DEPENDS ${source} ${objects} ${wasm_headers} VERBATIM)
    list(APPEND programs ${program})
    kernels_add_test(${test}_${name} full ${INFC_NODE} --no-warnings ${CMAKE_CURRENT_SOURCE_DIR}/run_wasi.mjs ${program}
      ${arguments})
  endforeach()
  add_custom_target(kernels_programs_${name} ALL DEPENDS ${programs})
  add_dependencies(kernels_programs_${name} kernels_wasm32_common kernels_text_${level})
endfunction()
kernels_wasm_level(generic wasm32)
kernels_wasm_level(wasm_simd128 wasm32_simd128 -msimd128)

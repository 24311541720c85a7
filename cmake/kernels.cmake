# kernels.cmake - kernel texts: infc_kernels (the table), infc_emit_text (templates and runtime sources as bytes, and
# kernels as C text), infk_expand (prints kernels), infk_reference (the references compiled for the host).
set(generated ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${generated})

add_library(infc_kernels STATIC templates/kernel_table.c templates/kernel_memory.c templates/kernel_fast.c)
target_link_libraries(infc_kernels PUBLIC infc_base)

find_path(XXHASH_DIR xxhash.h REQUIRED)
find_path(STB_DIR stb_image.h PATH_SUFFIXES stb REQUIRED)
file(GLOB_RECURSE embedded CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
  ${CMAKE_SOURCE_DIR}/templates/*.[ch] ${CMAKE_SOURCE_DIR}/templates/*.in ${CMAKE_SOURCE_DIR}/templates/*.def ${CMAKE_SOURCE_DIR}/templates/*.ld
  ${CMAKE_SOURCE_DIR}/templates/*.mjs
  ${CMAKE_SOURCE_DIR}/runtime/*.[ch] ${CMAKE_SOURCE_DIR}/runtime/*.def)
set(pairs "")
foreach(file IN LISTS embedded)
  list(APPEND pairs "${CMAKE_SOURCE_DIR}/${file}|${file}")
endforeach()
list(APPEND pairs "${XXHASH_DIR}/xxhash.h|runtime/third_party/xxhash.h"
  "${STB_DIR}/stb_image.h|runtime/third_party/stb_image.h")
list(TRANSFORM pairs REPLACE "\\|.*" "" OUTPUT_VARIABLE inputs)
# The list is handed over in a file: a command line has its limits.
file(CONFIGURE OUTPUT ${generated}/embedded.cmake CONTENT "set(FILES \"@pairs@\")\ninclude(\${SCRIPT})\n" @ONLY)
add_custom_command(OUTPUT ${generated}/embedded.c
  COMMAND ${CMAKE_COMMAND} -DOUT=${generated}/embedded.c -DSCRIPT=${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    -P ${generated}/embedded.cmake
  DEPENDS ${inputs} ${generated}/embedded.cmake cmake/embed.cmake VERBATIM)

add_library(infc_emit_text STATIC compiler/emit/expand.c compiler/emit/kernel_text.c compiler/emit/embedded.c
  ${generated}/embedded.c)
target_link_libraries(infc_emit_text PUBLIC infc_kernels)

add_executable(infk_expand cmake/infk_expand.c)
target_link_libraries(infk_expand PRIVATE infc_emit_text)

# infk_instances(OUT args...): a C file printed by infk_expand. One that stays as it was is not touched: infk_expand has
# all of runtime/ in it, and kernels take minutes to compile.
function(infk_instances out)
  add_custom_command(OUTPUT ${out} COMMAND infk_expand ${ARGN} > ${out}.new
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${out}.new ${out} DEPENDS infk_expand VERBATIM)
endfunction()

infk_instances(${generated}/reference_kernels.c reference)
add_custom_target(infk_reference_text DEPENDS ${generated}/reference_kernels.c)
add_library(infk_reference STATIC templates/reference.c ${generated}/reference_kernels.c)
add_dependencies(infk_reference infk_reference_text)
target_link_libraries(infk_reference PUBLIC infc_kernels)
# On x86-64 the same text again with hardware fma, which gives the same bits 20 times faster; reference.c chooses.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_library(infk_reference_fma OBJECT ${generated}/reference_kernels.c)
  target_compile_options(infk_reference_fma PRIVATE -mavx2 -mfma)
  target_compile_definitions(infk_reference_fma PRIVATE
    infk_reference_rows=infk_reference_fma_rows infk_reference_n=infk_reference_fma_n)
  add_dependencies(infk_reference_fma infk_reference_text)
  target_sources(infk_reference PRIVATE $<TARGET_OBJECTS:infk_reference_fma>)
  target_compile_definitions(infk_reference PRIVATE INFK_REFERENCE_FMA)
endif()

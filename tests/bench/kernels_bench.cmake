# Speed of kernels, for each level: `cmake --build BUILD --target kernels_bench_LEVEL`, then run it on an idle machine.
set(tiles_generic DENSE=infk_f32_conv_dense4x16__generic DENSE_I8=infk_f32i8_conv_dense4x16__generic
  DEPTH=infk_f32_conv_depth4x16__generic MATVEC=infk_f32_matmul_4x16__generic
  MATVEC_I8=infk_f32i8_matmul_4x16__generic MATMUL=infk_f32_matmul_4x16__generic
  MATMUL_I8=infk_f32i8_matmul_4x16__generic)
set(s __x86_64_avx2)
set(tiles_x86_64_avx2 DENSE=infk_f32_conv_dense6x16${s} DENSE_I8=infk_f32i8_conv_dense6x16${s}
  DEPTH=infk_f32_conv_depth6x16${s} MATVEC=infk_f32_matmul_1x64${s} MATVEC_I8=infk_f32i8_matmul_1x64${s}
  MATMUL=infk_f32_matmul_6x16${s} MATMUL_I8=infk_f32i8_matmul_6x16${s})
set(s __x86_64_avx512)
set(tiles_x86_64_avx512 DENSE=infk_f32_conv_dense14x32${s} DENSE_I8=infk_f32i8_conv_dense14x32${s}
  DEPTH=infk_f32_conv_depth8x16${s} MATVEC=infk_f32_matmul_1x128${s} MATVEC_I8=infk_f32i8_matmul_1x128${s}
  MATMUL=infk_f32_matmul_14x32${s} MATMUL_I8=infk_f32i8_matmul_14x32${s} WIDE)
foreach(level IN LISTS levels)
  add_executable(kernels_bench_${level} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/kernels_bench.c)
  add_dependencies(kernels_bench_${level} kernels_text_${level}) # it makes the text
  target_compile_options(kernels_bench_${level} PRIVATE -O3 ${flags_${level}})
  target_compile_definitions(kernels_bench_${level} PRIVATE
    TEXT="${CMAKE_CURRENT_BINARY_DIR}/text_${level}.c" LEVEL_${level} ${tiles_${level}})
endforeach()

# attend and kv_store, likewise: kv_bench_LEVEL.
find_package(Threads REQUIRED)
set(attend_generic generic)
set(attend_x86_64_avx2 x86_64_avx2)
set(attend_x86_64_avx512 x86_64_avx512)
set(attend_x86_64_vnni x86_64_vnni)
foreach(level IN LISTS levels)
  add_executable(kv_bench_${level} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/kv_bench.c)
  add_dependencies(kv_bench_${level} kernels_text_${level})
  target_compile_options(kv_bench_${level} PRIVATE -O3 ${flags_${level}})
  target_compile_definitions(kv_bench_${level} PRIVATE TEXT="${CMAKE_CURRENT_BINARY_DIR}/text_${level}.c" LEVEL_${level}
    ATTEND=infk_i8_attend_int8__${attend_${level}} STORE=infk_f32i32_kv_store_rows__generic)
  target_link_libraries(kv_bench_${level} PRIVATE Threads::Threads)
endforeach()

# Linear layers over weights of GGUF files: `--target keep_bench_LEVEL`.
set(keep_tiles_generic 2x16 2x16)
set(keep_tiles_x86_64_avx2 4x16 4x32)
set(keep_tiles_x86_64_avx512 8x16 8x16)
set(keep_tiles_x86_64_vnni 8x16 8x16)
foreach(level IN LISTS levels)
  list(GET keep_tiles_${level} 0 linear)
  list(GET keep_tiles_${level} 1 gated)
  add_executable(keep_bench_${level} EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/bench/keep_bench.c)
  add_dependencies(keep_bench_${level} kernels_text_${level})
  target_compile_options(keep_bench_${level} PRIVATE -O3 ${flags_${level}})
  target_link_libraries(keep_bench_${level} PRIVATE Threads::Threads)
  target_compile_definitions(keep_bench_${level} PRIVATE TEXT="${CMAKE_CURRENT_BINARY_DIR}/text_${level}.c"
    LEVEL=${level} LEVEL_${level} LINEAR_TILE=${linear} GATED_TILE=${gated})
endforeach()

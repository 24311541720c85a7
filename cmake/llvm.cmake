# llvm.cmake - MLIR 22 through its C API, by path: no C++ compiler and no find_package chain is needed.
set(INFC_LLVM_PREFIX /usr/lib/llvm-22 CACHE PATH "prefix of LLVM/MLIR 22")
set(lib ${INFC_LLVM_PREFIX}/lib)
find_library(INFC_MLIR MLIR PATHS ${lib} NO_DEFAULT_PATH REQUIRED)
find_library(INFC_LLVM NAMES LLVM-22 HINTS ${lib} REQUIRED) # Debian: beside the system libraries
add_library(mlirc INTERFACE)
target_include_directories(mlirc SYSTEM INTERFACE ${INFC_LLVM_PREFIX}/include)
# The archives of the C API first, then the shared libraries they need, then the C++ runtime they refer to.
target_link_libraries(mlirc INTERFACE
  ${lib}/libMLIRCAPIIRDL.a ${lib}/libMLIRCAPIFunc.a ${lib}/libMLIRCAPITransforms.a ${lib}/libMLIRCAPIIR.a
  ${INFC_MLIR} ${INFC_LLVM} stdc++)
target_link_options(mlirc INTERFACE -Wl,-rpath,${lib} -Wl,--as-needed)

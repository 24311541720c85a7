#include "compiler/emit/sample_text.h"
#include "mlir-c/IR.h"

/* sample_ir.h - fine: ir over base and MLIR. */
#include "../base/sample_base.h"
#include <mlir-c/IR.h>

// The CUDA backend as a module: entry point of assay_cuda.so.
#include "kernels/device/module.h"

#include "kernels/core/version.h"
#include "kernels/cuda/backend.h"

extern "C" __attribute__((visibility("default"))) const assay::ModuleEntry* assay_module() {
  static const assay::ModuleEntry entry{assay::version::build_id, []() -> assay::Backend* {
                                          return assay::cuda::make_backend().release();
                                        }};
  return &entry;
}

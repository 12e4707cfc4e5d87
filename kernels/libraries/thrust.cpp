// Thrust: `--kernels thrust`. On the CPU by its OpenMP system.
#include <thrust/execution_policy.h>
#include <thrust/system/omp/execution_policy.h>
#include <thrust/version.h>

#include "kernels/libraries/library.h"
#include "kernels/libraries/thrust_ops.h"

namespace assay::libraries {
namespace {

struct OpenMp {
  static auto policy(void* /*stream*/) { return thrust::omp::par; }
};

Made made(const Problem& problem) {
#ifdef ASSAY_THRUST_ON_GPUS
  if (problem.is_on_gpu()) return by_cuda(problem);
#endif
  return by_type<OpenMp>(problem);
}

Library open() {
  Library library{.name = "Thrust " + std::to_string(THRUST_MAJOR_VERSION) + "." +
                          std::to_string(THRUST_MINOR_VERSION) + "." +
                          std::to_string(THRUST_SUBMINOR_VERSION)};
  const auto offer = [&](std::initializer_list<const char*> ops, const char* dtypes) {
    for (const char* op : ops) library.offers.push_back({op, dtypes, made});
  };
#ifdef ASSAY_THRUST_ON_GPUS
  library.on_gpus = true;
#endif
  offer({"copy",
         "neg",
         "abs",
         "add",
         "sub",
         "mul",
         "min",
         "max",
         "less",
         "equal",
         "square",
         "reduce_min",
         "reduce_max",
         "argmin",
         "argmax",
         "sum",
         "prod",
         "sum_axis",
         "reduce_max_axis",
         "scan",
         "scan_axis",
         "sort",
         "transpose",
         "gather"},
        "f64,f32,i64,i32");
  offer({"div", "pow", "sqrt", "relu", "exp", "log", "tanh", "dot", "norm2"}, "f64,f32");
  return library;
}

}  // namespace
}  // namespace assay::libraries

extern "C" __attribute__((visibility("default"))) const assay_kernel_table* assay_kernels() {
  return assay::libraries::table_of(assay::libraries::open);
}

#include "kernels/ops/deviations.h"

namespace assay {
namespace {

/// All floats that NCCL reduces here. No case reduces 8-bit floats.
const std::vector<DType> nccl_floats{DType::f32, DType::f64, DType::f16, DType::bf16};

constexpr std::string_view nccl_source =
    "https://github.com/NVIDIA/nccl, src/device/reduce_kernel.h (until 2.18 in "
    "src/collectives/device): fminf, fmaxf, fmin, fmax, __hmin and __hmax, of which the CUDA Math "
    "API says that of NaN and a number they give the number";

/// Until 2.9 NCCL compares f32 and f64 with (x < y) ? x : y, so the order of the ranks decides.
/// This is not declared, and fails.
const Deviation deviations[] = {
    {.id = "nccl-min-drops-nan",
     .library = "NCCL",
     .from = "2.10",
     .op = "allreduce",
     .reduce = "min",
     .dtypes = nccl_floats,
     .where = Deviation::Where::nan_beside_numbers,
     .source = nccl_source},
    {.id = "nccl-max-drops-nan",
     .library = "NCCL",
     .from = "2.10",
     .op = "allreduce",
     .reduce = "max",
     .dtypes = nccl_floats,
     .where = Deviation::Where::nan_beside_numbers,
     .source = nccl_source},
};

}  // namespace

std::span<const Deviation> declared_deviations() { return deviations; }

}  // namespace assay

#include "kernels/ops/deviations.h"

#include <limits>

namespace assay {
namespace {

/// All floats that NCCL reduces here. No case reduces 8-bit floats.
const std::vector<Format> nccl_floats{DType::f32, DType::f64, DType::f16, DType::bf16};

const std::vector<std::string_view> nccl_reductions{"allreduce", "reduce", "reduce_scatter"};

constexpr std::string_view nccl_source =
    "https://github.com/NVIDIA/nccl, src/device/reduce_kernel.h (until 2.18 in "
    "src/collectives/device): fminf, fmaxf, fmin, fmax, __hmin and __hmax, of which the CUDA Math "
    "API says that of NaN and a number they give the number";

constexpr std::string_view pytorch_cast_source =
    "https://github.com/pytorch/pytorch, c10/util/BFloat16.h, Half.h, Float8_e4m3fn.h and "
    "Float8_e5m2.h (later in torch/headeronly/util): the constructors take a float";

/// Until 2.9 NCCL compares f32 and f64 with (x < y) ? x : y, so the order of the ranks decides.
/// This is not declared, and fails.
const Deviation deviations[] = {
    {.id = "nccl-min-drops-nan",
     .library = "NCCL",
     .from = "2.10",
     .ops = nccl_reductions,
     .reduce = "min",
     .formats = nccl_floats,
     .where = Deviation::Where::nan_beside_numbers,
     .source = nccl_source},
    {.id = "nccl-max-drops-nan",
     .library = "NCCL",
     .from = "2.10",
     .ops = nccl_reductions,
     .reduce = "max",
     .formats = nccl_floats,
     .where = Deviation::Where::nan_beside_numbers,
     .source = nccl_source},
    {.id = "nccl-nvls-not-repeatable",
     .library = "NCCL",
     .by = nvls_of_old_driver,
     .from = "2.17",  // the first with NVLS
     .ops = {"allreduce", "reduce_scatter"},
     .reduce = "sum",
     .formats = nccl_floats,
     .where = Deviation::Where::launches_differ,
     .source = "https://github.com/NVIDIA/nccl/issues/1497, 2360: NVSwitches add in an order that "
               "differs from call to call, until the drivers of CUDA 12.8; all ranks get the same"},
    {.id = "pytorch-cast-through-f32",
     .library = "PyTorch",
     .from = "1.13",
     .ops = {"cast"},
     .formats = {DType::f64, DType::i64, DType::i32, DType::u64, DType::u32},
     .where = Deviation::Where::rounded_through_f32,
     .source = pytorch_cast_source},
    {.id = "pytorch-fma-through-f32",
     .library = "PyTorch",
     .from = "1.13",
     .ops = {"fma"},
     .formats = {DType::bf16, DType::f16},
     .where = Deviation::Where::rounded_through_f32,
     .source = "https://github.com/pytorch/pytorch/pull/55221, "
               "aten/src/ATen/native/cpu/PointwiseOpsKernel.cpp: addcmul widens narrow floats to "
               "float, and rounds self + value * a * b to float and then back"},
    {.id = "pytorch-e5m2-overflows",
     .library = "PyTorch",
     .from = "2.1",
     .ops = {"cast"},
     .formats = {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i64, DType::i32,
                 DType::u64, DType::u32, DType::u16, DType::e5m2},
     .where = Deviation::Where::not_saturated,
     .source = "https://github.com/pytorch/pytorch/pull/104242, c10/util/Float8_e5m2.h: what is "
               "rounded beyond 57344 becomes infinity, and infinities stay"},
    {.id = "pytorch-sigmoid-zero",
     .library = "PyTorch",
     .from = "1.13",
     .ops = {"sigmoid"},
     .formats = {DType::f64, DType::f32, DType::bf16},
     .where = Deviation::Where::reciprocal_overflows,
     .value = 0,
     .source = "https://github.com/pytorch/pytorch, aten/src/ATen/native/cpu/UnaryOpsKernel.cpp: "
               "1 / (1 + exp(-x)), where exp(-x) overflows for x < -88.7 (f64: x < -709.7)"},
    {.id = "pytorch-exp-overflows-early",
     .library = "PyTorch",
     .from = "1.13",
     .ops = {"exp"},
     .formats = {DType::f64},
     .where = Deviation::Where::argument_above,
     .argument = 709.7827111,
     .value = std::numeric_limits<double>::infinity(),
     .source = "https://github.com/shibatch/sleef, src/libm/sleefsimddp.c, xexp: infinity above "
               "709.78271114955742909"},
    {.id = "numpy-norm-unscaled",
     .library = "NumPy",
     .ops = {"norm2", "norm2_axis"},
     .formats = {DType::f64, DType::f32},
     .where = Deviation::Where::squares_out_of_range,
     .source = "https://github.com/numpy/numpy, numpy/linalg/_linalg.py (before 2.0 linalg.py): "
               "norm is sqrt(dot(x, x))"},
    {.id = "pytorch-norm-unscaled",
     .library = "PyTorch",
     .ops = {"norm2", "norm2_axis"},
     .formats = {DType::f64, DType::f32, DType::bf16},
     .where = Deviation::Where::squares_out_of_range,
     .source = "https://github.com/pytorch/pytorch, aten/src/ATen/native/SharedReduceOps.h: "
               "NormTwoOps sums the squares"},
};

}  // namespace

std::span<const Deviation> declared_deviations() { return deviations; }

}  // namespace assay

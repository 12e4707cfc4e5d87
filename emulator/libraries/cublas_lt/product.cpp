#include "emulator/libraries/cublas_lt/product.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "emulator/libraries/cublas_lt/bf16_parts.h"
#include "emulator/libraries/cublas_lt/block_scales.h"
#include "emulator/libraries/cublas_lt/epilogue.h"
#include "emulator/libraries/cublas_lt/operands.h"
#include "emulator/libraries/cublas_lt/sums.h"
#include "emulator/libraries/cublas_lt/supported.h"
#include "emulator/libraries/faults.h"
#include "emulator/numbers/number.h"
#include "emulator/runtime/work.h"

namespace emulator::cublas_lt {
namespace {

constexpr const char* kernel = "cublasLtMatmul";

double read_one(std::uintptr_t address, cudaDataType_t type, int gpu, const char* what) {
  double value = 0;
  load(memory().view(address, size_bytes(type), Access::read, gpu,
                     std::string(kernel) + ", " + what),
       type, 1, &value);
  return value;
}

double scale_at(const void* pointer, int gpu, const char* what) {
  if (pointer == nullptr) return 1;
  return read_one(reinterpret_cast<std::uintptr_t>(pointer), CUDA_R_32F, gpu, what);
}

bool is_bf16x9(const Problem& p) { return p.product.compute_type() == compute_bf16x9; }

/// Terms of a sum of partial products.
std::int64_t terms_of(const Problem& p) { return is_bf16x9(p) ? partial_products * p.k() : p.k(); }

/// The factors' type as matrix units see it. Empty for those that are plain FP32, FP64 or integers.
std::optional<UnitInput> unit_input(const Launch& launch, const GpuModel& gpu) {
  // No model describes how units add products of scaled blocks.
  if (has_block_scales(launch.problem.product)) return std::nullopt;
  switch (launch.problem.a.data_type()) {
    case CUDA_R_16F:
      return UnitInput::f16;
    case CUDA_R_16BF:
      return UnitInput::bf16;
    case CUDA_R_8F_E4M3:
      return UnitInput::e4m3;
    case CUDA_R_8F_E5M2:
      return UnitInput::e5m2;
    case CUDA_R_32F: {
      if (is_bf16x9(launch.problem)) return UnitInput::bf16;
      // FAST_TF32 allows TF32, which GPUs have from compute capability 8.0 on.
      const bool allowed =
          launch.problem.product.compute_type() == CUBLAS_COMPUTE_32F_FAST_TF32 && gpu.major >= 8;
      return allowed || has_fault(LibraryFault::tf32_for_f32) ? std::optional(UnitInput::tf32)
                                                              : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

/// The unit that a product runs on. Empty: plain loops. Algorithms that need no alignment use none.
std::optional<MatrixUnit> unit_of(const Launch& launch, const GpuModel& gpu) {
  const auto input = unit_input(launch, gpu);
  if (!input) return std::nullopt;
  if (!launch.algorithm.uses_matrix_units && *input != UnitInput::tf32) return std::nullopt;
  return matrix_unit(gpu.name, *input);
}

Reduction reduction_of(const Launch& launch) {
  const cudaDataType_t type = launch.problem.d.data_type();
  const auto round = [type](double value) { return rounded(value, type); };
  Reduction reduction;
  if (launch.algorithm.split_k <= 1) return reduction;
  if (launch.algorithm.reduction_scheme == CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE) {
    reduction.of_partial = round;
  }
  // In place means in D, of D's type.
  if (launch.algorithm.reduction_scheme == CUBLASLT_REDUCTION_SCHEME_INPLACE) {
    reduction.of_total = round;
  }
  return reduction;
}

std::int64_t summed_terms(const Algorithm& algorithm, std::int64_t k) {
  const bool is_wrong = algorithm.id == 66 && has_fault(LibraryFault::wrong_algorithm);
  return is_wrong ? std::max<std::int64_t>(1, k - 2) : k;
}

/// Index of the element that the algorithm does not write, or -1.
std::int64_t missing_element(const Launch& launch) {
  const bool is_missing = launch.algorithm.id == 66 && has_fault(LibraryFault::missing_element);
  return is_missing ? launch.problem.m() * launch.problem.n() / 2 : -1;
}

/// One matrix of a batch.
class Single {
 public:
  Single(const Launch& launch, const GpuModel& gpu, const Epilogue& epilogue, std::int64_t rotation)
      : launch_(launch),
        p_(launch.problem),
        gpu_(gpu),
        epilogue_(epilogue),
        missing_(missing_element(launch)),
        order_(order_of(launch.algorithm, summed_terms(launch.algorithm, terms_of(p_)), rotation)) {
  }

  template <class T>
  void run(std::int64_t index) const {
    const auto bias = read_bias(index);
    const std::vector<double> c = epilogue_.beta == 0
                                      ? std::vector<double>{}
                                      : matrix(p_.c, launch_.c, index, "C").template read<double>();
    const std::vector<T> sum = summed<T>(index);
    const MatrixInMemory d = matrix(p_.d, launch_.d, index, "D");
    const std::vector<std::byte*> columns = d.columns_to_write();
    const std::size_t element = size_bytes(p_.d.data_type());
    in_parallel(p_.n(), double(p_.n()) * double(p_.m()) * 16, [&](std::int64_t j) {
      for (std::int64_t i = 0; i < p_.m(); ++i) {
        const auto at = static_cast<std::size_t>(j * p_.m() + i);
        if (static_cast<std::int64_t>(at) == missing_) continue;
        std::byte* const to =
            columns[static_cast<std::size_t>(j)] + static_cast<std::size_t>(i) * element;
        if constexpr (std::is_same_v<T, std::int32_t>) {
          if (p_.product.scale_type() == CUDA_R_32I) {
            put_integer(sum[at], c.empty() ? 0 : c[at], to);
            continue;
          }
        }
        const auto i_bias =
            bias.empty() ? std::nullopt : std::optional(bias[static_cast<std::size_t>(i)]);
        store(finished(epilogue_, double(sum[at]), c.empty() ? 0 : c[at], i_bias), p_.d.data_type(),
              to);
      }
    });
  }

 private:
  MatrixInMemory matrix(const MatrixLayout& layout, std::uintptr_t begin, std::int64_t index,
                        const char* name) const {
    const std::string what = std::string(kernel) + ", matrix " + name;
    if (layout.is_by_pointers()) {
      std::uintptr_t address = 0;
      const std::size_t bytes = sizeof address;
      std::memcpy(&address,
                  memory().view(begin + static_cast<std::size_t>(index) * bytes, bytes,
                                Access::read, launch_.gpu, what + ", its address"),
                  bytes);
      return {layout, address, launch_.gpu, what};
    }
    const auto bits = static_cast<std::int64_t>(size_bits(layout.data_type()));
    const std::int64_t offset = index * layout.stride * bits / 8;
    return {layout, begin + static_cast<std::uintptr_t>(offset), launch_.gpu, what};
  }

  /// Integers with an integer alpha and beta wrap, as 32 bits do.
  void put_integer(std::int32_t sum, double c, std::byte* to) const {
    const auto as_bits = [](double v) { return static_cast<std::uint32_t>(std::int64_t(v)); };
    const std::uint32_t value = as_bits(epilogue_.alpha) * static_cast<std::uint32_t>(sum) +
                                as_bits(epilogue_.beta) * as_bits(c);
    std::memcpy(to, &value, sizeof value);
  }

  std::vector<double> read_bias(std::int64_t index) const {
    std::vector<double> bias;
    if (!has_bias(p_.product)) return bias;
    const cudaDataType_t type = bias_type(p_);
    const std::size_t element = size_bytes(type);
    bias.resize(static_cast<std::size_t>(p_.m()));
    const std::int64_t offset = index * p_.product.bias_stride * static_cast<std::int64_t>(element);
    load(memory().view(launch_.bias + static_cast<std::uintptr_t>(offset), bias.size() * element,
                       Access::read, launch_.gpu, std::string(kernel) + ", bias"),
         type, bias.size(), bias.data());
    return bias;
  }

  /// Traces as the real library's API trace does, but with the kind of the data.
  template <class T>
  void trace(const std::vector<T>& a, const std::vector<T>& b) const {
    const char* level = std::getenv("CUBLASLT_LOG_LEVEL");
    if (level == nullptr || std::atoi(level) < 5) return;
    const auto is_whole = [](T x) { return std::trunc(x) == x; };
    const auto kind = [&](const std::vector<T>& all) {
      return std::ranges::all_of(all, is_whole) ? "integers" : "fractions";
    };
    say("[cublasLt][Api][cublasLtMatmul] algorithm " + std::to_string(launch_.algorithm.id) +
        (p_.product.fast_accumulation != 0 ? ", fast accumulation" : "") + ", A " + kind(a) +
        ", B " + kind(b));
  }

  template <class T>
  std::vector<T> summed(std::int64_t index) const {
    const bool ta = p_.product.a_op != CUBLAS_OP_N;
    const bool tb = p_.product.b_op != CUBLAS_OP_N;
    std::vector<T> a_elements = matrix(p_.a, launch_.a, index, "A").template read<T>();
    std::vector<T> b_elements = matrix(p_.b, launch_.b, index, "B").template read<T>();
    if (index == 0) trace(a_elements, b_elements);
    const Reduction reduction = reduction_of(launch_);
    if constexpr (std::is_same_v<T, float>) {
      const ProductDescription& d = p_.product;
      scale_blocks(a_elements, p_.a, d.a_scale_mode, d.a_scale, launch_.gpu, "A");
      scale_blocks(b_elements, p_.b, d.b_scale_mode, d.b_scale, launch_.gpu, "B");
      if (unit_input(launch_, gpu_) == UnitInput::tf32) {
        for (float& value : a_elements) value = truncated_to_tf32(value);
        for (float& value : b_elements) value = truncated_to_tf32(value);
      }
      if (is_bf16x9(p_)) {
        a_elements = first_in_parts(a_elements, ta ? p_.k() : p_.m() * p_.k());
        b_elements = second_in_parts(b_elements, tb ? p_.n() * p_.k() : p_.k());
      }
      if (const auto unit = unit_of(launch_, gpu_)) {
        const bool promotes = is_promoted(*unit) && p_.product.fast_accumulation == 0;
        return unit_sums(*unit, promotes, tiled(a_elements, p_.m(), terms_of(p_), ta),
                         in_columns(std::move(b_elements), terms_of(p_), p_.n(), tb), p_.n(),
                         order_, reduction);
      }
    }
    return sums(tiled(a_elements, p_.m(), terms_of(p_), ta),
                in_columns(std::move(b_elements), terms_of(p_), p_.n(), tb), p_.n(), order_,
                reduction);
  }

  const Launch& launch_;
  const Problem& p_;
  const GpuModel& gpu_;
  const Epilogue& epilogue_;
  std::int64_t missing_;
  std::vector<PartialSum> order_;
};

Epilogue epilogue_of(const Launch& launch) {
  const ProductDescription& p = launch.problem.product;
  const auto factor = [&](const Factor& f, const char* what) {
    return f.address == 0 ? f.value : read_one(f.address, p.scale_type(), launch.gpu, what);
  };
  Epilogue e{.alpha = factor(launch.alpha, "alpha"),
             .beta = factor(launch.beta, "beta"),
             .d_scale = scale_at(p.d_scale, launch.gpu, "D_SCALE_POINTER"),
             .is_relu = (p.epilogue & CUBLASLT_EPILOGUE_RELU) != 0,
             .is_gelu = (p.epilogue & CUBLASLT_EPILOGUE_GELU) != 0,
             .is_f64 = p.scale_type() == CUDA_R_64F,
             .result = launch.problem.d.data_type(),
             .faults = Epilogue::Faults::chosen()};
  const bool is_66 = launch.algorithm.id == 66;
  e.faults.relu_drops_nan |= is_66 && has_fault(LibraryFault::some_drop_nan);
  if (!has_block_scales(p)) {
    e.alpha *= scale_at(p.a_scale, launch.gpu, "A_SCALE_POINTER") *
               scale_at(p.b_scale, launch.gpu, "B_SCALE_POINTER");
  }
  if (e.beta != 0) e.beta *= scale_at(p.c_scale, launch.gpu, "C_SCALE_POINTER");
  return e;
}

}  // namespace

void execute(const Launch& launch, std::uint64_t launches) {
  const GpuModel& gpu = model_of(launch.gpu);
  const Problem& p = launch.problem;
  const Epilogue epilogue = epilogue_of(launch);
  const auto rotation =
      has_fault(LibraryFault::reordered_sums) ? static_cast<std::int64_t>(launches * 37 % 1024) : 0;
  if (launch.workspace != 0) {
    // Partial sums of real kernels lie here: it holds something else afterwards.
    const std::size_t bytes = workspace_bytes(launch.algorithm, p);
    std::memset(memory().view(launch.workspace, bytes, Access::write, launch.gpu,
                              std::string(kernel) + ", workspace"),
                0x3c, bytes);
  }
  const Single single(launch, gpu, epilogue, rotation);
  for (std::int64_t index = 0; index < p.d.batch; ++index) {
    switch (p.product.compute_type()) {
      case CUBLAS_COMPUTE_64F:
      case CUBLAS_COMPUTE_64F_PEDANTIC:
        single.run<double>(index);
        break;
      case CUBLAS_COMPUTE_32I:
      case CUBLAS_COMPUTE_32I_PEDANTIC:
        single.run<std::int32_t>(index);
        break;
      default:
        single.run<float>(index);
    }
  }
}

}  // namespace emulator::cublas_lt

#include "emulator/libraries/cublas_lt/rules.h"

#include <algorithm>

#include "emulator/libraries/cublas_lt/block_scales.h"
#include "emulator/libraries/cublas_lt/supported.h"

namespace emulator::cublas_lt {
namespace {

Refusal invalid(const std::string& reason) { return {CUBLAS_STATUS_INVALID_VALUE, reason}; }
Refusal unsupported(const std::string& reason) { return {CUBLAS_STATUS_NOT_SUPPORTED, reason}; }

bool is_transposed(std::int32_t op) { return op != CUBLAS_OP_N; }

/// cublasLtMatrixLayoutAttribute_t: the leading dimension must be large enough that matrix elements
/// do not overlap.
Verdict layout_refusal(const MatrixLayout& l, const char* name) {
  const std::string matrix = std::string("matrix ") + name;
  if (l.rows == 0 || l.cols == 0) return invalid(matrix + " is empty");
  if (l.order != CUBLASLT_ORDER_COL) {
    return unsupported(matrix + ": this stand-in knows column-major order alone");
  }
  if (l.leading < static_cast<std::int64_t>(l.rows)) {
    return invalid(matrix + ": its leading dimension is less than its rows");
  }
  if (l.batch < 1) return invalid(matrix + ": its batch count is less than 1");
  if (l.batch_mode > CUBLASLT_BATCH_MODE_POINTER_ARRAY) {
    return invalid(matrix + ": its batch mode is none");
  }
  if (l.plane_offset != 0) {
    return unsupported(matrix + ": this stand-in knows real numbers alone");
  }
  if (l.stride < 0) return invalid(matrix + ": its batch stride is negative");
  return std::nullopt;
}

/// cublasLtMatmul: "both matrices must have the same data type, number of rows, number of columns,
/// batch size, and memory order", said of C and D.
Verdict shape_refusal(const Problem& p) {
  const bool ta = is_transposed(p.product.a_op);
  const bool tb = is_transposed(p.product.b_op);
  if ((ta ? p.a.cols : p.a.rows) != p.d.rows || (tb ? p.b.rows : p.b.cols) != p.d.cols ||
      (ta ? p.a.rows : p.a.cols) != (tb ? p.b.cols : p.b.rows)) {
    return invalid("the extents of A, B and D do not fit");
  }
  // FP8 has rows of its own for the types of C and D.
  if ((p.c.type != p.d.type && !is_narrow(p.a.data_type())) || p.c.rows != p.d.rows ||
      p.c.cols != p.d.cols || p.c.batch != p.d.batch || p.c.order != p.d.order) {
    return invalid("C and D differ in type, extents, batch or order");
  }
  if (p.a.batch != p.d.batch || p.b.batch != p.d.batch) {
    return invalid("the batch counts of A, B and D differ");
  }
  if (p.a.batch_mode != p.d.batch_mode || p.b.batch_mode != p.d.batch_mode ||
      p.c.batch_mode != p.d.batch_mode) {
    return unsupported("this stand-in knows batches of one mode alone");
  }
  if (p.d.batch > 1 && !p.d.is_by_pointers() && p.d.stride < p.d.leading * (p.n() - 1) + p.m()) {
    return invalid("the matrices of D's batch overlap");
  }
  return std::nullopt;
}

/// cublasLtMatmulMatrixScale_t, and the tables of types: E4M3 has scales of a whole matrix or UE8M0
/// of 32 elements, E2M1 UE4M3 of 16 elements.
Verdict scale_mode_refusal(const Problem& p) {
  const ProductDescription& d = p.product;
  for (const std::int32_t mode :
       {d.c_scale_mode, d.d_scale_mode, d.aux_scale_mode, d.d_out_scale_mode}) {
    if (mode != 0) return unsupported("this stand-in scales blocks of A and B alone");
  }
  if (d.a_scale_mode != d.b_scale_mode) return unsupported("the scale modes of A and B differ");
  const cudaDataType_t factors = p.a.data_type();
  switch (d.a_scale_mode) {
    case CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F:
      if (factors == CUDA_R_4F_E2M1) return unsupported("E2M1 has scales of 16 elements");
      return std::nullopt;
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3:
      if (factors != CUDA_R_4F_E2M1) return unsupported("scales of 16 elements are for E2M1");
      return std::nullopt;
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0:
      if (!is_float8(factors)) return unsupported("scales of 32 elements are for 8-bit floats");
      return std::nullopt;
    default:
      return unsupported("this stand-in lacks the scale mode");
  }
}

/// cublasLtMatmulDescAttributes_t.
Verdict attribute_refusal(const Problem& p) {
  const ProductDescription& d = p.product;
  for (const std::int32_t op : {d.a_op, d.b_op}) {
    if (op != CUBLAS_OP_N && op != CUBLAS_OP_T && op != CUBLAS_OP_C) {
      return invalid("no such operation on A or B");
    }
  }
  if (d.c_op != CUBLAS_OP_N) return unsupported("TRANSC: only CUBLAS_OP_N is supported");
  if (d.fill_mode != CUBLAS_FILL_MODE_FULL) return unsupported("a fill mode other than FULL");
  if (d.pointer_mode != CUBLASLT_POINTER_MODE_HOST &&
      d.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE) {
    return unsupported("this stand-in knows no vectors of alpha and beta");
  }
  const bool float8_factors = is_float8(p.a.data_type()) && is_float8(p.b.data_type());
  if (!float8_factors && !has_block_scales(d) && (d.a_scale != nullptr || d.b_scale != nullptr)) {
    return invalid("A_SCALE_POINTER or B_SCALE_POINTER without matrices of 8-bit floats");
  }
  if (!is_float8(p.d.data_type()) && (d.c_scale != nullptr || d.d_scale != nullptr)) {
    return invalid("C_SCALE_POINTER or D_SCALE_POINTER without matrices of 8-bit floats");
  }
  if (auto refused = scale_mode_refusal(p)) return refused;
  if (d.d_amax != nullptr || d.d_out_scale != nullptr || d.aux_scale != nullptr ||
      d.aux_amax != nullptr) {
    return unsupported("this stand-in computes neither maxima nor scales");
  }
  if (d.fast_accumulation != 0 && d.fast_accumulation != 1) return invalid("FAST_ACCUM is 0 or 1");
  if (d.fast_accumulation == 1 && !float8_factors) {
    return invalid("FAST_ACCUM is a mode of 8-bit floats");
  }
  return std::nullopt;
}

/// "Tensor Core Usage": a dimension that is contiguous in memory, and each leading dimension, fill
/// multiples of 16 bytes. cublasLtMatmul requires this for FP8.
bool fills_16_bytes(const Problem& p) {
  const auto bytes = [](std::int64_t elements, const MatrixLayout& l) {
    return elements * static_cast<std::int64_t>(size_bits(l.data_type())) / 8;
  };
  const std::int64_t a_rows = is_transposed(p.product.a_op) ? p.k() : p.m();
  const std::int64_t b_rows = is_transposed(p.product.b_op) ? p.n() : p.k();
  const std::int64_t all = bytes(a_rows, p.a) | bytes(b_rows, p.b) | bytes(p.m(), p.d) |
                           bytes(p.a.leading, p.a) | bytes(p.b.leading, p.b) |
                           bytes(p.c.leading, p.c) | bytes(p.d.leading, p.d);
  return all % 16 == 0;
}

/// cublasLtMatmul: "To use FP8 kernels, the following set of requirements must be satisfied", and
/// likewise of FP4 and of scales of blocks.
Verdict float8_refusal(const Problem& p, const GpuModel& gpu) {
  const int capability = gpu.major * 10 + gpu.minor;
  if (has_block_scales(p.product) && capability < 100) {
    return unsupported("scales of blocks need a compute capability of at least 10.0");
  }
  if (capability < 89) return unsupported("8-bit floats need a compute capability of at least 8.9");
  const bool is_tn = is_transposed(p.product.a_op) && !is_transposed(p.product.b_op);
  // Ada, Hopper and Blackwell GeForce. Data-centre Blackwell (10.x) takes every format.
  if (!is_tn && (gpu.major != 10 || has_block_scales(p.product))) {
    return unsupported("8-bit floats: A must be transposed and B not (the TN format)");
  }
  // INVALID_VALUE: status 7 for m = 63 in github.com/NVIDIA/CUDALibrarySamples, issue 172.
  if (!fills_16_bytes(p)) {
    return invalid("8-bit floats: leading dimensions must be multiples of 16 bytes");
  }
  return std::nullopt;
}

/// cublasLtMatmul: "To use IMMA kernels" with regular data ordering.
Verdict int8_refusal(const Problem& p) {
  if (!is_transposed(p.product.a_op) || is_transposed(p.product.b_op)) {
    return unsupported("int8: A must be transposed and B not (the TN format)");
  }
  // NOT_SUPPORTED: what the search returned for m = 2, n = 1, k = 3 in github.com/NVIDIA/MatX,
  // pull request 540.
  if (((p.a.leading | p.b.leading | p.c.leading | p.d.leading) & 3) != 0) {
    return unsupported("int8: leading dimensions must be multiples of 4");
  }
  if (((p.m() | p.k()) & 3) != 0) return unsupported("int8: m and k must be multiples of 4");
  return std::nullopt;
}

}  // namespace

bool has_bias(const ProductDescription& product) {
  return (product.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
}

cudaDataType_t bias_type(const Problem& p) {
  if (p.product.bias_type != -1) return static_cast<cudaDataType_t>(p.product.bias_type);
  return default_bias_type(p.a.data_type(), p.c.data_type(), p.d.data_type());
}

bool is_narrow(cudaDataType_t type) { return is_float8(type) || type == CUDA_R_4F_E2M1; }

bool is_float8(cudaDataType_t type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }

bool has_block_scales(const ProductDescription& product) {
  return block_of(product.a_scale_mode) != 0 && block_of(product.b_scale_mode) != 0;
}

std::size_t size_bits(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F:
      return 64;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 32;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 16;
    case CUDA_R_8I:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
      return 8;
    case CUDA_R_4F_E2M1:
      return 4;
    default:
      return 0;
  }
}

std::size_t size_bytes(cudaDataType_t type) { return size_bits(type) / 8; }

std::size_t alignment_of(std::uint64_t address) {
  return address == 0 ? 256 : std::min<std::uint64_t>(256, address & (~address + 1));
}

Verdict refusal(const Problem& p, const GpuModel& gpu) {
  for (const auto& [layout, name] :
       {std::pair{&p.a, "A"}, std::pair{&p.b, "B"}, std::pair{&p.c, "C"}, std::pair{&p.d, "D"}}) {
    if (size_bits(layout->data_type()) == 0) {
      return unsupported(std::string("this stand-in has no matrices of the type of ") + name);
    }
    if (auto refused = layout_refusal(*layout, name)) return refused;
  }
  if (auto refused = shape_refusal(p)) return refused;
  if (auto refused = attribute_refusal(p)) return refused;
  const Types types{p.product.compute_type(), p.product.scale_type(), p.a.data_type(),
                    p.b.data_type(),          p.c.data_type(),        p.d.data_type()};
  if (!are_supported(types)) return unsupported("no row of the tables has these types");
  if (types.scale == CUDA_R_16F) return unsupported("this stand-in does not sum in FP16");
  if (!is_epilogue_supported(types, p.product.epilogue)) {
    return unsupported("no such epilogue for these types");
  }
  if (has_bias(p.product) && !is_bias_supported(types, bias_type(p))) {
    return unsupported("no such type of the bias for these types");
  }
  if (is_narrow(types.a)) return float8_refusal(p, gpu);
  if (types.a == CUDA_R_8I && types.compute == CUBLAS_COMPUTE_32I) return int8_refusal(p);
  if (types.compute == compute_bf16x9 && gpu.major != 10) {
    return unsupported("BF16x9 needs a compute capability of 10.x");
  }
  if ((types.a == CUDA_R_16BF || types.d == CUDA_R_16BF) && gpu.major < 8) {
    return unsupported("BF16 needs a compute capability of at least 8.0");
  }
  return std::nullopt;
}

Verdict refusal(const Problem& p, const Pointers& at) {
  if (at.alpha == nullptr || at.beta == nullptr) return invalid("alpha or beta is null");
  if (at.a == nullptr || at.b == nullptr || at.d == nullptr) return invalid("A, B or D is null");
  if (at.c == nullptr && at.c_is_used) return invalid("C is null and beta is not 0");
  const auto address = [](const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  const auto needed = [&](const MatrixLayout& l) {
    // "All matrix pointers must be 4-byte aligned" for IMMA, of 16 bytes for FP8 and FP4.
    if (is_narrow(p.a.data_type())) return std::size_t{16};
    return std::max(size_bytes(l.data_type()),
                    p.a.data_type() == CUDA_R_8I ? std::size_t{4} : std::size_t{1});
  };
  if (address(at.a) % needed(p.a) != 0 || address(at.b) % needed(p.b) != 0 ||
      address(at.d) % needed(p.d) != 0 || (at.c_is_used && address(at.c) % needed(p.c) != 0)) {
    return invalid("a matrix is not aligned as its type demands");
  }
  // In place means the same layout: "C == D and Cdesc == Ddesc".
  if (at.c_is_used && at.c == at.d && p.c.leading != p.d.leading) {
    return invalid("C is D, but their leading dimensions differ");
  }
  if (has_block_scales(p.product)) {
    const void* const scales[] = {p.product.a_scale, p.product.b_scale};
    for (const void* scale : scales) {
      if (scale == nullptr) return invalid("a scale mode of blocks, but the scales are null");
      if (address(scale) % 16 != 0) return invalid("scales of blocks are not aligned to 16 bytes");
    }
  }
  if (has_bias(p.product)) {
    if (p.product.bias == nullptr) return invalid("an epilogue with a bias, but BIAS_POINTER null");
    if (address(p.product.bias) % size_bytes(bias_type(p)) != 0) {
      return invalid("the bias is not aligned to its elements");
    }
  }
  return std::nullopt;
}

}  // namespace emulator::cublas_lt

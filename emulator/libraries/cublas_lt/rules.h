#pragma once

#include <optional>
#include <string>

#include "emulator/libraries/cublas_lt/descriptors.h"
#include "emulator/machine/machine.h"

// The rules of cublasLtMatmul, as NVIDIA's cuBLAS documentation states them (sections
// "cublasLtMatmul()", "cublasLtMatmulDescAttributes_t", "cublasLtMatrixLayoutAttribute_t" and
// "Tensor Core Usage", CUDA 12 and 13) and the comments of cublasLt.h.
namespace emulator::cublas_lt {

struct Problem {
  ProductDescription product;
  MatrixLayout a, b, c, d;

  std::int64_t m() const { return static_cast<std::int64_t>(d.rows); }
  std::int64_t n() const { return static_cast<std::int64_t>(d.cols); }
  std::int64_t k() const {
    return static_cast<std::int64_t>(product.a_op == CUBLAS_OP_N ? a.cols : a.rows);
  }
};

/// Why the library refuses. `status` is the real library's where that is documented or reported.
struct Refusal {
  cublasStatus_t status;
  std::string reason;
};
using Verdict = std::optional<Refusal>;

/// Checks what does not depend on pointers: both the search for algorithms and the product do.
Verdict refusal(const Problem& problem, const GpuModel& gpu);

/// Addresses of one product.
struct Pointers {
  const void *alpha, *a, *b, *beta, *c;
  void* d;
  bool c_is_used;  // beta is not 0
};
Verdict refusal(const Problem& problem, const Pointers& pointers);

bool has_bias(const ProductDescription& product);
/// Type of the bias, whether set or left to its default.
cudaDataType_t bias_type(const Problem& problem);
bool is_float8(cudaDataType_t type);
bool is_narrow(cudaDataType_t type);  // of 8 or 4 bits
/// Whether each of the factors has scales of blocks.
bool has_block_scales(const ProductDescription& product);
std::size_t size_bits(cudaDataType_t type);  // 0: not a type of this stand-in
/// Bytes of an element of a type that has whole ones.
std::size_t size_bytes(cudaDataType_t type);
/// The largest power of 2 up to 256 that divides an address or a size.
std::size_t alignment_of(std::uint64_t address);

}  // namespace emulator::cublas_lt

#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>

// The library's objects behind its opaque handles. Attributes have the types and the defaults that
// cublasLt.h documents.
namespace emulator::cublas_lt {

struct MatrixLayout {
  std::uint32_t type = 0;
  std::int32_t order = CUBLASLT_ORDER_COL;
  std::uint64_t rows = 0, cols = 0;
  std::int64_t leading = 0;
  std::int32_t batch = 1;
  std::int64_t stride = 0;        // elements between the matrices of a batch
  std::int64_t plane_offset = 0;  // of complex numbers
  std::uint32_t batch_mode = CUBLASLT_BATCH_MODE_STRIDED;

  cudaDataType_t data_type() const { return static_cast<cudaDataType_t>(type); }
  /// Its address is one of an array of addresses, a matrix each.
  bool is_by_pointers() const { return batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY; }
};

struct ProductDescription {
  std::int32_t compute = 0;
  std::int32_t scale = 0;
  std::int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t a_op = CUBLAS_OP_N, b_op = CUBLAS_OP_N, c_op = CUBLAS_OP_N;
  std::int32_t fill_mode = CUBLAS_FILL_MODE_FULL;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  std::int64_t bias_stride = 0;
  void* aux = nullptr;
  std::int64_t aux_leading = 0, aux_stride = 0;
  std::int64_t alpha_stride = 0;
  std::int32_t multiprocessors = 0;
  const void *a_scale = nullptr, *b_scale = nullptr, *c_scale = nullptr, *d_scale = nullptr;
  void* d_amax = nullptr;
  std::int32_t aux_type = -1;
  const void* aux_scale = nullptr;
  void* aux_amax = nullptr;
  std::int8_t fast_accumulation = 0;
  std::int32_t bias_type = -1;
  std::int32_t a_scale_mode = 0, b_scale_mode = 0, c_scale_mode = 0, d_scale_mode = 0,
               aux_scale_mode = 0, d_out_scale_mode = 0;
  void* d_out_scale = nullptr;

  cublasComputeType_t compute_type() const { return static_cast<cublasComputeType_t>(compute); }
  cudaDataType_t scale_type() const { return static_cast<cudaDataType_t>(scale); }
};

struct Preference {
  std::uint32_t search_mode = CUBLASLT_SEARCH_BEST_FIT;
  std::uint64_t max_workspace_bytes = 0;
  std::uint32_t reduction_schemes = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::uint32_t a_alignment = 256, b_alignment = 256, c_alignment = 256, d_alignment = 256;
  float max_waves = 0;
  std::uint64_t implementations = ~std::uint64_t{0};
};

/// An attribute's place within its object.
struct Attribute {
  void* place;  // null: no such attribute
  std::size_t bytes;
};
Attribute attribute(MatrixLayout& layout, cublasLtMatrixLayoutAttribute_t which);
Attribute attribute(ProductDescription& product, cublasLtMatmulDescAttributes_t which);
Attribute attribute(Preference& preference, cublasLtMatmulPreferenceAttributes_t which);

}  // namespace emulator::cublas_lt

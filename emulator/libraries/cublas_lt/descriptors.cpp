#include "emulator/libraries/cublas_lt/descriptors.h"

namespace emulator::cublas_lt {
namespace {

template <class T>
Attribute at(T& member) {
  return {&member, sizeof member};
}

}  // namespace

Attribute attribute(MatrixLayout& l, cublasLtMatrixLayoutAttribute_t which) {
  switch (which) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return at(l.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return at(l.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return at(l.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return at(l.cols);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return at(l.leading);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return at(l.batch);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return at(l.stride);
    case CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET:
      return at(l.plane_offset);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_MODE:
      return at(l.batch_mode);
    default:
      return {};
  }
}

Attribute attribute(ProductDescription& p, cublasLtMatmulDescAttributes_t which) {
  switch (which) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return at(p.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return at(p.scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return at(p.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return at(p.a_op);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return at(p.b_op);
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return at(p.c_op);
    case CUBLASLT_MATMUL_DESC_FILL_MODE:
      return at(p.fill_mode);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return at(p.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return at(p.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
      return at(p.bias_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return at(p.aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return at(p.aux_leading);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
      return at(p.aux_stride);
    case CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE:
      return at(p.alpha_stride);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
      return at(p.multiprocessors);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return at(p.a_scale);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      return at(p.b_scale);
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER:
      return at(p.c_scale);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
      return at(p.d_scale);
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER:
      return at(p.d_amax);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
      return at(p.aux_type);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER:
      return at(p.aux_scale);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER:
      return at(p.aux_amax);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      return at(p.fast_accumulation);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return at(p.bias_type);
    case CUBLASLT_MATMUL_DESC_A_SCALE_MODE:
      return at(p.a_scale_mode);
    case CUBLASLT_MATMUL_DESC_B_SCALE_MODE:
      return at(p.b_scale_mode);
    case CUBLASLT_MATMUL_DESC_C_SCALE_MODE:
      return at(p.c_scale_mode);
    case CUBLASLT_MATMUL_DESC_D_SCALE_MODE:
      return at(p.d_scale_mode);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE:
      return at(p.aux_scale_mode);
    case CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER:
      return at(p.d_out_scale);
    case CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE:
      return at(p.d_out_scale_mode);
    default:
      return {};
  }
}

Attribute attribute(Preference& p, cublasLtMatmulPreferenceAttributes_t which) {
  switch (which) {
    case CUBLASLT_MATMUL_PREF_SEARCH_MODE:
      return at(p.search_mode);
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return at(p.max_workspace_bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return at(p.reduction_schemes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return at(p.a_alignment);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return at(p.b_alignment);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return at(p.c_alignment);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return at(p.d_alignment);
    case CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT:
      return at(p.max_waves);
    case CUBLASLT_MATMUL_PREF_IMPL_MASK:
      return at(p.implementations);
    default:
      return {};
  }
}

}  // namespace emulator::cublas_lt

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "emulator/machine/tensor_map.h"
#include "emulator/runtime/process.h"
#include "emulator/runtime/say.h"

// Calls of the driver's library that stand here, as programs find them by cudaGetDriverEntryPoint
// without that library.
namespace emulator {
namespace {

CUresult refuse(const char* call, const std::string& problem) {
  say(fmt::format("{}: {}", call, problem));
  return CUDA_ERROR_INVALID_VALUE;
}

/// Tensor maps need a GPU of compute capability 9.0.
CUresult check_device(const char* name) {
  if (!was_called()) return CUDA_ERROR_NOT_INITIALIZED;
  CUresult result = CUDA_SUCCESS;
  const cudaError_t error = call(Wants::devices, [&](Process& p, Lock&) {
    if (p.devices.model(current_gpu(p)).major >= 9) return cudaSuccess;
    say(fmt::format("{}: tensor maps need compute capability 9.0", name));
    result = CUDA_ERROR_NOT_SUPPORTED;
    return cudaSuccess;
  });
  return error == cudaSuccess ? result : static_cast<CUresult>(error);
}

template <class To, class From>
To clamped(From value) {
  return static_cast<To>(std::min<From>(value, std::numeric_limits<To>::max()));
}

bool is_aligned(const CUtensorMap* map) {
  return map != nullptr && reinterpret_cast<std::uintptr_t>(map) % TensorMap::alignment == 0;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* tensor_map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* dims, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  constexpr const char* name = "cuTensorMapEncodeTiled";
  if (const CUresult e = check_device(name); e != CUDA_SUCCESS) return e;
  if (!is_aligned(tensor_map)) return refuse(name, "tensorMap is a multiple of 64");
  if (rank == 0 || rank > TensorMap::max_rank)
    return refuse(name, fmt::format("tensorRank is 1 to 5, not {}", rank));
  if (dims == nullptr || box == nullptr || element_strides == nullptr ||
      (strides == nullptr && rank > 1))
    return refuse(name, "an array is missing");
  const auto is_known = [](auto value, auto last) {
    return static_cast<unsigned>(value) <= static_cast<unsigned>(last);
  };
  if (!is_known(type, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B) ||
      !is_known(interleave, CU_TENSOR_MAP_INTERLEAVE_32B) ||
      !is_known(swizzle, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B) ||
      !is_known(promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B) ||
      !is_known(fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA))
    return refuse(name, "an enum has an unknown value");
  TensorMap map{};
  map.address = reinterpret_cast<std::uintptr_t>(address);
  map.type = static_cast<TensorElement>(type);
  map.rank = static_cast<std::uint8_t>(rank);
  map.interleave = static_cast<Interleave>(interleave);
  map.swizzle = static_cast<Swizzle>(swizzle);
  map.fills_with_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  for (cuuint32_t i = 0; i < rank; ++i) {
    map.dims[i] = dims[i];
    map.box[i] = clamped<std::uint16_t>(box[i]);
    map.element_strides[i] = clamped<std::uint8_t>(element_strides[i]);
    if (i + 1 < rank) map.strides[i] = strides[i];
  }
  if (const std::string problem = problem_of(map); !problem.empty()) return refuse(name, problem);
  seal(map);
  std::memcpy(tensor_map, &map, sizeof map);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensor_map, void* address) {
  constexpr const char* name = "cuTensorMapReplaceAddress";
  if (const CUresult e = check_device(name); e != CUDA_SUCCESS) return e;
  if (!is_aligned(tensor_map)) return refuse(name, "tensorMap is a multiple of 64");
  TensorMap map;
  std::memcpy(&map, tensor_map, sizeof map);
  if (!is_sealed(map)) return refuse(name, "this is no tensor map that cuTensorMapEncode… made");
  map.address = reinterpret_cast<std::uintptr_t>(address);
  if (const std::string problem = problem_of(map); !problem.empty()) return refuse(name, problem);
  seal(map);
  std::memcpy(tensor_map, &map, sizeof map);
  return CUDA_SUCCESS;
}

}  // extern "C"

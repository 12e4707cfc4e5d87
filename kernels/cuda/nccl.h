#pragma once

#include <cstddef>
#include <string>

#include "kernels/core/dtype.h"

// Declares the parts of NCCL's documented binary interface that are used here, under NCCL's names:
// the toolkit comes without nccl.h. tests/unit/kernels/cuda/cuda_test.cpp compares them with the
// header if it is installed.
struct CUstream_st;

namespace assay::cuda {

using ncclComm_t = struct ncclComm*;
struct ncclUniqueId {
  char internal[128];
};
enum ncclResult_t : int { ncclSuccess = 0, ncclInternalError = 3, ncclInProgress = 7 };
/// Reductions. ncclRedOpCreatePreMulSum returns further values, without names.
enum ncclRedOp_t : int { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 };
enum ncclDataType_t : int {
  ncclInt8 = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt64 = 4,
  ncclFloat16 = 6,
  ncclFloat32 = 7,
  ncclFloat64 = 8,
  ncclBfloat16 = 9,
};
enum ncclScalarResidence_t : int { ncclScalarHostImmediate = 1 };

/// NCCL, opened on first use: only collectives need the library. Each member is the library's
/// function of that name.
class Nccl {
 public:
  static const Nccl& instance();

  /// Reason why the library cannot be used; empty if it can.
  const std::string& problem() const { return problem_; }
  /// "NCCL 2.28.9"; empty without the library.
  std::string version_text() const;

  ncclResult_t (*get_version)(int* version) = nullptr;
  const char* (*error_string)(ncclResult_t result) = nullptr;
  ncclResult_t (*init_all)(ncclComm_t* ranks, int count, const int* ordinals) = nullptr;
  ncclResult_t (*abort)(ncclComm_t rank) = nullptr;
  ncclResult_t (*async_error)(ncclComm_t rank, ncclResult_t* error) = nullptr;
  ncclResult_t (*group_start)() = nullptr;
  ncclResult_t (*group_end)() = nullptr;
  ncclResult_t (*all_reduce)(const void* input, void* output, std::size_t count,
                             ncclDataType_t type, ncclRedOp_t reduction, ncclComm_t rank,
                             CUstream_st* stream) = nullptr;
  ncclResult_t (*reduce)(const void* input, void* output, std::size_t count, ncclDataType_t type,
                         ncclRedOp_t reduction, int root, ncclComm_t rank,
                         CUstream_st* stream) = nullptr;
  ncclResult_t (*reduce_scatter)(const void* input, void* output, std::size_t chunk,
                                 ncclDataType_t type, ncclRedOp_t reduction, ncclComm_t rank,
                                 CUstream_st* stream) = nullptr;
  ncclResult_t (*all_gather)(const void* input, void* output, std::size_t chunk,
                             ncclDataType_t type, ncclComm_t rank, CUstream_st* stream) = nullptr;
  ncclResult_t (*broadcast)(const void* input, void* output, std::size_t count, ncclDataType_t type,
                            int root, ncclComm_t rank, CUstream_st* stream) = nullptr;
  ncclResult_t (*send)(const void* input, std::size_t count, ncclDataType_t type, int to,
                       ncclComm_t rank, CUstream_st* stream) = nullptr;
  ncclResult_t (*receive)(void* output, std::size_t count, ncclDataType_t type, int from,
                          ncclComm_t rank, CUstream_st* stream) = nullptr;
  ncclResult_t (*get_unique_id)(ncclUniqueId* id) = nullptr;
  ncclResult_t (*init_rank)(ncclComm_t* rank, int ranks, ncclUniqueId id, int index) = nullptr;
  ncclResult_t (*create_premul_sum)(ncclRedOp_t* reduction, void* scalar, ncclDataType_t type,
                                    ncclScalarResidence_t residence, ncclComm_t rank) = nullptr;
  ncclResult_t (*destroy_reduction)(ncclRedOp_t reduction, ncclComm_t rank) = nullptr;

 private:
  Nccl();
  std::string problem_;
};

/// Throws DeviceError that names `call` unless `result` is success.
void check(ncclResult_t result, const char* call);

/// NCCL's names of a dtype and of a reduction's `reduce`. premul_sum has none: it is created for
/// each communicator. Both throw DeviceError(unsupported).
ncclDataType_t nccl_type(DType dtype);
ncclRedOp_t nccl_reduction(const std::string& reduce);

/// The environment's settings that decide how NCCL works, for the name of an implementation:
/// ", NCCL_ALGO=Ring". NCCL tells its own choice only by its log.
std::string nccl_settings_text();

/// Whether these settings let NCCL add in NVSwitches: neither NCCL_NVLS_ENABLE=0 nor an NCCL_ALGO
/// without NVLS.
bool may_add_in_switches();

/// Formats a version of NCCL 2.9 or later: "2.28.9" for 22809.
std::string nccl_version_text(int version);

}  // namespace assay::cuda

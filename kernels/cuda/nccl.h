#pragma once

#include <nccl.h>

#include <string>

#include "kernels/base/dtype.h"

namespace assay::cuda {

/// NCCL, opened on first use: a missing library costs collectives alone. Each member is the
/// library's function of that name.
class Nccl {
 public:
  static const Nccl& instance();

  /// Why it cannot be used; empty when it can.
  const std::string& problem() const { return problem_; }
  /// "NCCL 2.28.9"; empty without the library.
  std::string version_text() const;

  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclCommInitAll) init_all = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) init_rank = nullptr;
  decltype(&ncclRedOpCreatePreMulSum) create_premul_sum = nullptr;
  decltype(&ncclRedOpDestroy) destroy_reduction = nullptr;

 private:
  Nccl();
  std::string problem_;
};

/// Throws DeviceError that names `call` unless `result` is success.
void check(ncclResult_t result, const char* call);

/// NCCL's name of a dtype and of an allreduce's `reduce`; premul_sum has none, it is made for each
/// communicator. Throw DeviceError(unsupported).
ncclDataType_t nccl_type(DType dtype);
ncclRedOp_t nccl_reduction(const std::string& reduce);

/// "2.28.9" of 22809: how NCCL numbers its versions from 2.9 on.
std::string nccl_version_text(int version);

}  // namespace assay::cuda

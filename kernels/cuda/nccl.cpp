#include "kernels/cuda/nccl.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "kernels/core/status.h"
#include "kernels/cuda/library.h"

namespace assay::cuda {
namespace {

const Library& library() {
  static const Library opened("libnccl.so.2", library_folders());
  return opened;
}

}  // namespace

const Nccl& Nccl::instance() {
  static const Nccl opened;
  return opened;
}

Nccl::Nccl() {
  problem_ = library().problem();
  if (!problem_.empty()) return;
  const auto find = [&](auto& function, const char* name) {
    library().bind(function, name, problem_);
  };
  find(get_version, "ncclGetVersion");
  find(error_string, "ncclGetErrorString");
  find(init_all, "ncclCommInitAll");
  find(abort, "ncclCommAbort");
  find(async_error, "ncclCommGetAsyncError");
  find(group_start, "ncclGroupStart");
  find(group_end, "ncclGroupEnd");
  find(all_reduce, "ncclAllReduce");
  find(reduce, "ncclReduce");
  find(reduce_scatter, "ncclReduceScatter");
  find(all_gather, "ncclAllGather");
  find(broadcast, "ncclBroadcast");
  find(send, "ncclSend");
  find(receive, "ncclRecv");
  find(get_unique_id, "ncclGetUniqueId");
  find(init_rank, "ncclCommInitRank");
  find(create_premul_sum, "ncclRedOpCreatePreMulSum");
  find(destroy_reduction, "ncclRedOpDestroy");
}

std::string Nccl::version_text() const {
  int version = 0;
  if (!problem_.empty() || get_version(&version) != ncclSuccess) return "";
  return "NCCL " + nccl_version_text(version);
}

void check(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return;
  const Nccl& nccl = Nccl::instance();
  const char* why = nccl.error_string == nullptr ? "error" : nccl.error_string(result);
  throw DeviceError(Failure::internal, std::string(call) + ": " + why + " (" +
                                           std::to_string(result) +
                                           "); NCCL_DEBUG=INFO tells more");
}

ncclDataType_t nccl_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return ncclFloat64;
    case DType::f32:
      return ncclFloat32;
    case DType::bf16:
      return ncclBfloat16;
    case DType::f16:
      return ncclFloat16;
    case DType::i64:
      return ncclInt64;
    case DType::i32:
      return ncclInt32;
    case DType::i8:
      return ncclInt8;
    case DType::u8:
      return ncclUint8;
    default:
      throw DeviceError(Failure::unsupported, "NCCL has no type " + std::string(name(dtype)));
  }
}

ncclRedOp_t nccl_reduction(const std::string& reduce) {
  if (reduce == "sum") return ncclSum;
  if (reduce == "prod") return ncclProd;
  if (reduce == "min") return ncclMin;
  if (reduce == "max") return ncclMax;
  if (reduce == "avg") return ncclAvg;
  throw DeviceError(Failure::unsupported, "NCCL has no reduction " + reduce);
}

std::string nccl_settings_text() {
  std::string text;
  for (const char* name : {"NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_ENABLE"}) {
    if (const char* value = std::getenv(name)) text += std::string(", ") + name + "=" + value;
  }
  return text;
}

bool may_add_in_switches() {
  const char* enabled = std::getenv("NCCL_NVLS_ENABLE");
  if (enabled != nullptr && std::string_view(enabled) == "0") return false;
  const char* chosen = std::getenv("NCCL_ALGO");
  if (chosen == nullptr || *chosen == '\0') return true;
  std::string algorithms(chosen);
  std::ranges::transform(algorithms, algorithms.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool are_excluded = algorithms.find('^') != std::string::npos;
  return (algorithms.find("nvls") != std::string::npos) != are_excluded;
}

std::string nccl_version_text(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace assay::cuda

// Stand-in for NCCL without GPUs: counts communicators made and aborted, and fails on request.
#include "kernels/cuda/nccl.h"

namespace {

int made = 0;
int aborted = 0;
int broken_from = -1;  // communicators up to this number report an error

}  // namespace

struct assay::cuda::ncclComm {
  int number;
};

extern "C" {

using namespace assay::cuda;

int stand_in_made() { return made; }
int stand_in_aborted() { return aborted; }
void stand_in_break() { broken_from = made; }

ncclResult_t ncclGetVersion(int* version) {
  *version = 22809;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) { return "a remote process exited"; }
ncclResult_t ncclCommInitAll(ncclComm_t* ranks, int count, const int* ordinals) {
  if (ordinals[count - 1] > 7) return ncclInternalError;
  ++made;
  for (int rank = 0; rank < count; ++rank) ranks[rank] = new ncclComm{made};
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t rank) {
  ++aborted;
  delete rank;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t rank, ncclResult_t* error) {
  *error = rank->number <= broken_from ? ncclInternalError : ncclSuccess;
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() { return ncclSuccess; }
ncclResult_t ncclGroupEnd() { return ncclSuccess; }
ncclResult_t ncclAllReduce(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t,
                           CUstream_st*) {
  return ncclSuccess;
}
ncclResult_t ncclReduce(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, int,
                        ncclComm_t, CUstream_st*) {
  return ncclSuccess;
}
ncclResult_t ncclReduceScatter(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t,
                               ncclComm_t, CUstream_st*) {
  return ncclSuccess;
}
ncclResult_t ncclAllGather(const void*, void*, std::size_t, ncclDataType_t, ncclComm_t,
                           CUstream_st*) {
  return ncclSuccess;
}
ncclResult_t ncclBroadcast(const void*, void*, std::size_t, ncclDataType_t, int, ncclComm_t,
                           CUstream_st*) {
  return ncclSuccess;
}
ncclResult_t ncclSend(const void*, std::size_t, ncclDataType_t, int, ncclComm_t, CUstream_st*) {
  return ncclSuccess;
}
ncclResult_t ncclRecv(void*, std::size_t, ncclDataType_t, int, ncclComm_t, CUstream_st*) {
  return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId*) { return ncclSuccess; }
ncclResult_t ncclCommInitRank(ncclComm_t*, int, ncclUniqueId, int) { return ncclInternalError; }
ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t*, void*, ncclDataType_t, ncclScalarResidence_t,
                                      ncclComm_t) {
  return ncclSuccess;
}
ncclResult_t ncclRedOpDestroy(ncclRedOp_t, ncclComm_t) { return ncclSuccess; }

}  // extern "C"

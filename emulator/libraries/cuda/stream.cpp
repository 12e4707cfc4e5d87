#include "emulator/libraries/cuda/context.h"

// Streams and events are the runtime's.
using namespace emulator::driver;

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return in_context([&] { return cudaStreamCreateWithFlags(stream, flags); });
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return in_context([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}

CUresult cuStreamDestroy(CUstream stream) {
  return in_context([&] { return cudaStreamDestroy(stream); });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return in_context([&] { return cudaStreamSynchronize(stream); });
}

CUresult cuStreamQuery(CUstream stream) {
  return in_context([&] { return cudaStreamQuery(stream); });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return in_context([&] { return cudaStreamWaitEvent(stream, event, flags); });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return in_context([&] { return cudaEventCreateWithFlags(event, flags); });
}

CUresult cuEventDestroy(CUevent event) {
  return in_context([&] { return cudaEventDestroy(event); });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return in_context([&] { return cudaEventRecord(event, stream); });
}

CUresult cuEventSynchronize(CUevent event) {
  return in_context([&] { return cudaEventSynchronize(event); });
}

CUresult cuEventQuery(CUevent event) {
  return in_context([&] { return cudaEventQuery(event); });
}

CUresult cuEventElapsedTime(float* time_ms, CUevent begin, CUevent end) {
  return in_context([&] { return cudaEventElapsedTime(time_ms, begin, end); });
}

// Before CUDA 13.
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float* time_ms, CUevent begin, CUevent end) {
  return in_context([&] { return cudaEventElapsedTime(time_ms, begin, end); });
}

}  // extern "C"

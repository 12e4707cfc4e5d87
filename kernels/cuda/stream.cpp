#include "kernels/cuda/stream.h"

#include <memory>
#include <vector>

#include "kernels/cuda/describe.h"
#include "kernels/cuda/driver.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/graph.h"

namespace assay::cuda {

CudaEvent::CudaEvent(int ordinal) {
  make_current(ordinal);
  check(cudaEventCreate(&handle_), "cudaEventCreate");
}

CudaEvent::~CudaEvent() { ignore(cudaEventDestroy(handle_)); }

CudaStream::CudaStream(int ordinal, Priority priority) : ordinal_(ordinal), all_work_(ordinal) {
  make_current(ordinal);
  blocking_ = std::make_unique<BlockingKernel>();
  clock_ = std::make_unique<ClockReader>();
  int least = 0;
  int greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  check(cudaStreamCreateWithPriority(&handle_, cudaStreamNonBlocking,
                                     priority == Priority::greatest ? greatest : least),
        "cudaStreamCreateWithPriority");
}

CudaStream::~CudaStream() { ignore(cudaStreamDestroy(handle_)); }

std::unique_ptr<Event> CudaStream::create_event() { return std::make_unique<CudaEvent>(ordinal_); }

void CudaStream::record(Event& event) {
  make_current(ordinal_);
  check(cudaEventRecord(static_cast<CudaEvent&>(event).handle(), handle_), "cudaEventRecord");
}

double CudaStream::elapsed_s(const Event& start, const Event& stop) {
  const cudaEvent_t end = static_cast<const CudaEvent&>(stop).handle();
  check(cudaEventSynchronize(end), "cudaEventSynchronize");
  float elapsed_ms = 0;
  check(cudaEventElapsedTime(&elapsed_ms, static_cast<const CudaEvent&>(start).handle(), end),
        "cudaEventElapsedTime");
  return static_cast<double>(elapsed_ms) * 1e-3;
}

void CudaStream::synchronize() {
  make_current(ordinal_);
  check(cudaStreamSynchronize(handle_), "cudaStreamSynchronize");
  if (const auto check_of_library = check_.lock()) (*check_of_library)();
}

void CudaStream::flush_caches() {
  make_current(ordinal_);
  if (!evictor_) {
    int cache_bytes = 0;
    check(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, ordinal_),
          "cudaDeviceGetAttribute");
    evictor_ = std::make_unique<Workspace>(2 * static_cast<std::size_t>(cache_bytes));
  }
  check(cudaMemsetAsync(evictor_->data(), 0x5a, evictor_->bytes(), handle_), "cudaMemsetAsync");
}

bool CudaStream::block() {
  make_current(ordinal_);
  blocking_->begin(handle_);
  return true;
}

void CudaStream::unblock() { blocking_->end(); }

void CudaStream::begin_clock() {
  make_current(ordinal_);
  clock_->begin(handle_);
}

void CudaStream::end_clock() {
  make_current(ordinal_);
  clock_->end(handle_);
}

std::optional<double> CudaStream::clock_hz() {
  synchronize();
  return clock_->clock_hz();
}

void CudaStream::await_all() {
  make_current(ordinal_);
  record_all_work(handle_, all_work_.handle());
  check(cudaStreamWaitEvent(handle_, all_work_.handle(), 0), "cudaStreamWaitEvent");
}

std::unique_ptr<Kernel> CudaStream::as_graph(Kernel& kernel, std::int64_t launches,
                                             std::span<Stream* const> streams) {
  if (kernel.may_wait() || kernel.streams_wait()) return nullptr;
  std::vector<StreamOfDevice> own;
  for (const Stream* stream : streams) {
    const auto& cuda = static_cast<const CudaStream&>(*stream);
    own.push_back({cuda.handle(), cuda.ordinal()});
  }
  return GraphKernel::capture(kernel, launches, own);
}

std::string CudaStream::device_uuid() const {
#if CUDART_VERSION >= 12080
  int ordinal = 0;
  const cudaError_t error = cudaStreamGetDevice(handle_, &ordinal);
  if (error == cudaErrorCallRequiresNewerDriver) {  // those of CUDA 12.8 and newer can tell
    ignore(error);
    return {};
  }
  check(error, "cudaStreamGetDevice");
  return uuid_of(ordinal);
#else
  return {};  // older runtimes cannot tell
#endif
}

CudaStream& stream_of(const Binding& binding) { return static_cast<CudaStream&>(*binding.stream); }

}  // namespace assay::cuda

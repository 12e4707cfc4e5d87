#include "kernels/cuda/map.cuh"
#include "kernels/cuda/reduce.cuh"

// Streams through memory: read or write all of it once, with as little other work as possible. The
// ceilings of `assay limits` use them.
namespace assay::cuda {
namespace {

std::unique_ptr<Kernel> write(const OpInstance& op, const Binding& binding) {
  return Mapper::kernel_of<double>(Constant<double>{input<double>(binding, 0)}, op, binding);
}

std::unique_ptr<Kernel> copy(const OpInstance& op, const Binding& binding) {
  return Mapper::kernel_of<double>(Identity{}, op, binding, input<double>(binding, 0));
}

/// y = a + s b with a factor that each launch reads from the device's memory.
struct Triad {
  struct By {
    double s;
    __device__ double operator()(double a, double b) const { return fma(s, b, a); }
  };
  const double* s;
  __device__ By prepared() const { return {*s}; }
};

std::unique_ptr<Kernel> triad(const OpInstance& op, const Binding& binding) {
  return Mapper::kernel_of<double>(Triad{input<double>(binding, 2)}, op, binding,
                                   input<double>(binding, 0), input<double>(binding, 1));
}

struct ExclusiveOr : Sum {
  template <class P>
  static __device__ P join(P a, P b) {
    return a ^ b;
  }
};

std::unique_ptr<Kernel> read(const OpInstance& op, const Binding& binding) {
  return reduce<Chains<ExclusiveOr>>(op, binding, input<std::int64_t>(binding, 0),
                                     output<std::int64_t>(binding));
}

constexpr KernelRow rows[] = {
    {"stream_read", read},
    {"stream_write", write},
    {"stream_copy", copy},
    {"stream_triad", triad},
};

}  // namespace

std::span<const KernelRow> memory_streams_kernels() { return rows; }

}  // namespace assay::cuda

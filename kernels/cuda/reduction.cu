#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <limits>

#include "kernels/cuda/storage_types.cuh"

// Reductions to one element. CUB joins partial results in an order that depends only on the number
// of elements and the GPU, so results repeat.
namespace assay::cuda {
namespace {

template <class P>
__device__ bool is_nan(P x) {
  return x != x;
}

// --- Terms, joins and final steps of the reductions ---------------------------------------------

struct Sum {
  static constexpr int inputs = 1;
  template <class S>
  using Partial = Accumulator<S>;
  template <class P>
  static constexpr P nothing() {
    return 0;
  }
  template <class P, class S>
  static __device__ P term(S x) {
    return static_cast<P>(widened(x));
  }
  template <class P>
  static __device__ P join(P a, P b) {
    return a + b;
  }
  template <class P>
  static __device__ P finish(P total, std::int64_t /*n*/) {
    return total;
  }
};

struct Product : Sum {
  template <class P>
  static constexpr P nothing() {
    return 1;
  }
  template <class P>
  static __device__ P join(P a, P b) {
    return a * b;
  }
};

/// Divides in double: n may not fit into an f32.
struct Mean : Sum {
  template <class P>
  static __device__ P finish(P total, std::int64_t n) {
    return static_cast<P>(static_cast<double>(total) / static_cast<double>(n));
  }
};

struct Dot : Sum {
  static constexpr int inputs = 2;
  template <class P, class S>
  static __device__ P term(S a, S b) {
    return static_cast<P>(widened(a)) * static_cast<P>(widened(b));
  }
};

struct Norm : Sum {
  template <class P, class S>
  static __device__ P term(S x) {
    return Dot::term<P>(x, x);
  }
  template <class P>
  static __device__ P finish(P total, std::int64_t /*n*/) {
    return sqrt(total);
  }
};

struct Minimum : Sum {
  template <class S>
  using Partial = Computed<S>;
  template <class P>
  static constexpr P nothing() {
    return std::numeric_limits<P>::has_infinity ? std::numeric_limits<P>::infinity()
                                                : std::numeric_limits<P>::max();
  }
  template <class P>
  static __device__ P join(P a, P b) {
    return is_nan(a) || a < b ? a : b;
  }
};

struct Maximum : Minimum {
  template <class P>
  static constexpr P nothing() {
    return std::numeric_limits<P>::has_infinity ? -std::numeric_limits<P>::infinity()
                                                : std::numeric_limits<P>::lowest();
  }
  template <class P>
  static __device__ P join(P a, P b) {
    return is_nan(a) || a > b ? a : b;
  }
};

// --- Adapters for CUB ---------------------------------------------------------------------------

template <class R, class P>
struct Join {
  __device__ P operator()(P a, P b) const { return R::template join<P>(a, b); }
};

template <class R, class P>
struct Term {
  template <class S>
  __device__ P operator()(S x) const {
    return R::template term<P>(x);
  }
};

/// Term of index i of two tensors.
template <class R, class P, class S>
struct TermOfTwo {
  const S* a;
  const S* b;
  __device__ P operator()(std::int64_t i) const { return R::template term<P>(a[i], b[i]); }
};

template <class R, class P, class S>
struct Finish {
  std::int64_t n;
  __device__ S operator()(P total) const { return static_cast<S>(R::template finish<P>(total, n)); }
};

template <class In, class Out, class JoinOp, class TermOp, class P>
std::unique_ptr<Kernel> reduce(const Binding& binding, In in, Out out, std::int64_t n, JoinOp join,
                               TermOp term, P nothing) {
  // Runs for no elements too: the result is `nothing`.
  return with_workspace(cub_version_text() + " DeviceReduce", binding, false,
                        [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
                          return cub::DeviceReduce::TransformReduce(memory, bytes, in, out, n, join,
                                                                    term, nothing, stream);
                        });
}

template <class R, class Types>
std::unique_ptr<Kernel> reduction(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Types{}, op, [&]<class T>(std::type_identity<T>) {
    using S = Stored<T>;
    using P = typename R::template Partial<S>;
    const std::int64_t n = op.signature.inputs[0].elements();
    const auto out = thrust::make_transform_output_iterator(output<T>(binding), Finish<R, P, S>{n});
    const auto* a = input<T>(binding, 0);
    constexpr P nothing = R::template nothing<P>();
    if constexpr (R::inputs == 1) {
      return reduce(binding, a, out, n, Join<R, P>{}, Term<R, P>{}, nothing);
    } else {
      return reduce(binding, thrust::counting_iterator<std::int64_t>(0), out, n, Join<R, P>{},
                    TermOfTwo<R, P, S>{a, input<T>(binding, 1)}, nothing);
    }
  });
}

// --- argmax --------------------------------------------------------------------------------------

template <class P>
struct Best {
  P value;
  std::int64_t index;  // -1: none
};

template <class P, class S>
struct BestAt {
  const S* x;
  __device__ Best<P> operator()(std::int64_t i) const { return {widened(x[i]), i}; }
};

/// Orders NaN before all numbers, then the greater value, then the lower index.
template <class P>
struct Better {
  __device__ Best<P> operator()(const Best<P>& a, const Best<P>& b) const {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    if (is_nan(a.value) != is_nan(b.value)) return is_nan(a.value) ? a : b;
    if (a.value > b.value) return a;
    if (b.value > a.value) return b;
    return a.index < b.index ? a : b;
  }
};

template <class P>
struct IndexOf {
  __device__ std::int64_t operator()(const Best<P>& best) const { return best.index; }
};

std::unique_ptr<Kernel> argmax(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    using P = Computed<Stored<T>>;
    const auto out = thrust::make_transform_output_iterator(
        static_cast<std::int64_t*>(binding.outputs[0]), IndexOf<P>{});
    return reduce(binding, thrust::counting_iterator<std::int64_t>(0), out,
                  op.signature.inputs[0].elements(), Better<P>{},
                  BestAt<P, Stored<T>>{input<T>(binding, 0)}, Best<P>{P{}, -1});
  });
}

constexpr KernelRow rows[] = {
    {"sum", reduction<Sum, SignedNumbers>},      {"prod", reduction<Product, SignedNumbers>},
    {"mean", reduction<Mean, Floats>},           {"dot", reduction<Dot, Floats>},
    {"norm2", reduction<Norm, Floats>},          {"reduce_min", reduction<Minimum, Numbers>},
    {"reduce_max", reduction<Maximum, Numbers>}, {"argmax", argmax},
};

}  // namespace

std::span<const KernelRow> reduction_kernels() { return rows; }

}  // namespace assay::cuda

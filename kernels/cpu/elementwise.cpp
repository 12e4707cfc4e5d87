#include <type_traits>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/vectorize.h"

namespace assay::cpu {
namespace {

/// The type in which + and * do not overflow into undefined behaviour: integers wrap as unsigned.
template <class T>
struct Arithmetic {
  using type = T;
};
template <>
struct Arithmetic<std::int64_t> {
  using type = std::uint64_t;
};

template <class T>
ASSAY_VECTOR_CLONES void add_block(const T* a, const T* b, T* y, std::int64_t n) {
  using A = typename Arithmetic<T>::type;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = static_cast<T>(static_cast<A>(a[i]) + static_cast<A>(b[i]));
}

template <class T>
ASSAY_VECTOR_CLONES void square_block(const T* x, T* y, std::int64_t n) {
  using A = typename Arithmetic<T>::type;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = static_cast<T>(static_cast<A>(x[i]) * static_cast<A>(x[i]));
}

template <class T>
ASSAY_VECTOR_CLONES void exp_block(const T* x, T* y, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = vector_exp(x[i]);
}

template <class T>
std::unique_ptr<Kernel> unary(const OpInstance& op, const Binding& binding, const char* name,
                              void (*block)(const T*, T*, std::int64_t)) {
  const auto* x = static_cast<const T*>(binding.inputs[0]);
  auto* y = static_cast<T*>(binding.outputs[0]);
  const std::int64_t n = op.signature.outputs[0].elements();
  return std::make_unique<FunctionKernel>(name, [=] {
    parallel_blocks(n, 2 * sizeof(T), [=](std::int64_t, std::int64_t first, std::int64_t count) {
      block(x + first, y + first, count);
    });
  });
}

}  // namespace

std::unique_ptr<Kernel> add(const OpInstance& op, const Binding& binding) {
  return for_dtype<double, float, std::int64_t>(op, [&]<class T>(std::type_identity<T>) {
    const auto* a = static_cast<const T*>(binding.inputs[0]);
    const auto* b = static_cast<const T*>(binding.inputs[1]);
    auto* y = static_cast<T*>(binding.outputs[0]);
    const std::int64_t n = op.signature.outputs[0].elements();
    return std::make_unique<FunctionKernel>("OpenMP loop", [=] {
      parallel_blocks(n, 3 * sizeof(T), [=](std::int64_t, std::int64_t first, std::int64_t count) {
        add_block(a + first, b + first, y + first, count);
      });
    });
  });
}

std::unique_ptr<Kernel> square(const OpInstance& op, const Binding& binding) {
  return for_dtype<double, float, std::int64_t>(op, [&]<class T>(std::type_identity<T>) {
    return unary<T>(op, binding, "OpenMP loop", square_block<T>);
  });
}

std::unique_ptr<Kernel> exponential(const OpInstance& op, const Binding& binding) {
  return for_dtype<double, float>(op, [&]<class T>(std::type_identity<T>) {
    return unary<T>(op, binding, "libmvec exp", exp_block<T>);
  });
}

}  // namespace assay::cpu

#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/map.cuh"
#include "kernels/cuda/order.cuh"
#include "kernels/cuda/storage_types.cuh"

namespace assay::cuda {
namespace {

/// Makes NaN positive: radix sorts take its sign for part of the number, and put that one last.
struct PositiveNaN {
  template <class C>
  __device__ C operator()(C x) const {
    return x != x ? std::numeric_limits<C>::quiet_NaN() : x;
  }
};

/// Sorts a copy whose NaNs are positive.
template <class S>
cudaError_t sort_floats(void* memory, std::size_t& bytes, const TensorSpec& spec, const S* x, S* y,
                        cudaStream_t stream) {
  const std::int64_t n = spec.elements();
  constexpr std::size_t line = 256;
  const std::size_t of_copy = (static_cast<std::size_t>(n) * sizeof(S) + line - 1) / line * line;
  auto* copy = static_cast<S*>(memory);
  void* rest = memory == nullptr ? nullptr : static_cast<std::byte*>(memory) + of_copy;
  if (memory != nullptr) {
    map_rows(stream, spec, PositiveNaN{}, copy, x);
    bytes -= of_copy;
  }
  const cudaError_t error = cub::DeviceRadixSort::SortKeys(
      rest, bytes, static_cast<const S*>(copy), y, n, 0, static_cast<int>(8 * sizeof(S)), stream);
  if (memory == nullptr) bytes += of_copy;
  return error;
}

std::unique_ptr<Kernel> sort(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    const auto* x = input<T>(binding, 0);
    auto* y = output<T>(binding);
    const std::int64_t n = op.signature.inputs[0].elements();
    const auto call = [=, spec = op.signature.inputs[0]](void* memory, std::size_t& bytes,
                                                         cudaStream_t stream) {
      if constexpr (std::is_integral_v<T>) {
        return cub::DeviceRadixSort::SortKeys(memory, bytes, x, y, n, 0,
                                              static_cast<int>(8 * sizeof(T)), stream);
      } else {
        return sort_floats(memory, bytes, spec, x, y, stream);
      }
    };
    return with_workspace(cub_version_text() + " DeviceRadixSort", binding, n == 0, call);
  });
}

struct LeavePlaces {
  OrderedLines lines;
  const std::int64_t* elements;
  std::int64_t* y;

  __device__ void operator()(std::int64_t i) const {
    y[lines.element_at(i)] = lines.place_of(elements[i]);
  }
};

template <class W>
struct LeaveElements {
  OrderedLines lines;
  const std::int64_t* elements;
  const W* x;
  W* y;

  __device__ void operator()(std::int64_t i) const { y[lines.element_at(i)] = x[elements[i]]; }
};

std::unique_ptr<Kernel> argsort(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    const OrderedLines lines(op.signature.inputs[0]);
    auto* y = output<std::int64_t>(binding);
    return in_order<T, false>(op, binding, [=](cudaStream_t stream, const std::int64_t* elements) {
      for_each(stream, lines.elements(), LeavePlaces{lines, elements, y});
    });
  });
}

std::unique_ptr<Kernel> sort_axis(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    using W = Word<sizeof(T)>;
    const OrderedLines lines(op.signature.inputs[0]);
    const W* x = input<W>(binding, 0);
    W* y = output<W>(binding);
    return in_order<T, false>(op, binding, [=](cudaStream_t stream, const std::int64_t* elements) {
      for_each(stream, lines.elements(), LeaveElements<W>{lines, elements, x, y});
    });
  });
}

constexpr KernelRow rows[] = {
    {"sort", sort},
    {"argsort", argsort},
    {"sort_axis", sort_axis},
    {"argsort_axis", argsort},
};

}  // namespace

std::span<const KernelRow> sort_kernels() { return rows; }

}  // namespace assay::cuda

#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_select.cuh>

#include "kernels/cuda/order.cuh"
#include "kernels/cuda/storage_types.cuh"

// The greatest elements of rows, and the distinct ones of an array.
namespace assay::cuda {
namespace {

/// Leaves the first k of each row's elements in descending order, and their places.
template <class W>
struct LeaveGreatest {
  std::int64_t cols;
  std::int64_t k;
  const std::int64_t* elements;
  const W* x;
  W* values;
  std::int64_t* places;

  __device__ void operator()(std::int64_t i) const {
    const std::int64_t element = elements[i / k * cols + i % k];
    values[i] = x[element];
    places[i] = element % cols;
  }
};

std::unique_ptr<Kernel> topk(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    using W = Word<sizeof(T)>;
    const LeaveGreatest<W> leave{.cols = op.params.integer("cols"),
                                 .k = op.params.integer("k"),
                                 .elements = nullptr,
                                 .x = input<W>(binding, 0),
                                 .values = output<W>(binding),
                                 .places = static_cast<std::int64_t*>(binding.outputs[1])};
    const std::int64_t selected = op.signature.outputs[0].elements();
    return in_order<T, true>(op, binding, [=](cudaStream_t stream, const std::int64_t* elements) {
      LeaveGreatest<W> found = leave;
      found.elements = elements;
      for_each(stream, selected, found);
    });
  });
}

template <class T>
struct MakeKey {
  const Word<sizeof(T)>* x;
  Word<sizeof(T)>* keys;

  __device__ void operator()(std::int64_t i) const { keys[i] = key_of_equals<T>(x[i]); }
};

/// True where a run of equal keys begins. A NaN is a run of its own.
template <class T>
struct BeginsRun {
  const Word<sizeof(T)>* keys;

  __device__ bool operator()(std::int64_t i) const {
    return i == 0 || keys[i] != keys[i - 1] || is_key_of_nan<T>(keys[i]);
  }
};

/// Leaves the key and the length of each run, and zeros behind them.
template <class T>
struct LeaveRuns {
  const Word<sizeof(T)>* keys;
  const std::int64_t* begins;
  const std::int64_t* runs;
  std::int64_t n;
  Word<sizeof(T)>* values;
  std::int64_t* counts;

  __device__ void operator()(std::int64_t i) const {
    if (i >= *runs) {
      values[i] = 0;
      counts[i] = 0;
      return;
    }
    values[i] = bits_of_key<T>(keys[begins[i]]);
    counts[i] = (i + 1 < *runs ? begins[i + 1] : n) - begins[i];
  }
};

std::unique_ptr<Kernel> unique(const OpInstance& op, const Binding& binding) {
  return for_dtypes(Numbers{}, op, [&]<class T>(std::type_identity<T>) {
    using W = Word<sizeof(T)>;
    const std::int64_t n = op.signature.inputs[0].elements();
    const W* x = input<W>(binding, 0);
    W* values = output<W>(binding);
    auto* counts = static_cast<std::int64_t*>(binding.outputs[1]);
    const auto call = [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
      Parts parts(memory);
      auto keys = parts.template take_two<W>(n);
      auto* begins = parts.template take<std::int64_t>(n);
      auto* runs = parts.template take<std::int64_t>(1);
      const auto select_begins = [&](void* own, std::size_t& own_bytes) {
        return cub::DeviceSelect::If(own, own_bytes, thrust::counting_iterator<std::int64_t>(0),
                                     begins, runs, n, BeginsRun<T>{keys.Current()}, stream);
      };
      std::size_t of_sort = 0;
      std::size_t of_select = 0;
      cudaError_t error = sort_keys(nullptr, of_sort, keys, n, stream);
      if (error == cudaSuccess) error = select_begins(nullptr, of_select);
      if (memory == nullptr) bytes = parts.bytes() + std::max(of_sort, of_select);
      if (memory == nullptr || error != cudaSuccess) return error;
      for_each(stream, n, MakeKey<T>{x, keys.Current()});
      error = sort_keys(parts.rest(), of_sort, keys, n, stream);
      if (error == cudaSuccess) error = select_begins(parts.rest(), of_select);
      if (error == cudaSuccess)
        for_each(stream, n, LeaveRuns<T>{keys.Current(), begins, runs, n, values, counts});
      return error;
    };
    return with_workspace(cub_version_text() + " DeviceRadixSort, DeviceSelect", binding, n == 0,
                          call);
  });
}

constexpr KernelRow rows[] = {
    {"topk", topk},
    {"unique", unique},
};

}  // namespace

std::span<const KernelRow> select_kernels() { return rows; }

}  // namespace assay::cuda

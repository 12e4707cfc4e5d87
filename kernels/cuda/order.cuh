#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/core/sort_key.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/radix_sort.h"

// Orders of the elements of lines, by CUB's radix sort of their keys.
namespace assay::cuda {

/// Lines of (outer, n, inner).
struct OrderedLines {
  explicit OrderedLines(const TensorSpec& x)
      : n(x.line_elements()),
        inner(x.line_step()),
        count(n == 0 ? 0 : x.elements() / x.line_elements()) {}
  __device__ std::int64_t line_of(std::int64_t element) const {
    return element / (n * inner) * inner + element % inner;
  }
  __device__ std::int64_t place_of(std::int64_t element) const { return element / inner % n; }
  /// Element that has the position among all, line after line.
  __device__ std::int64_t element_at(std::int64_t position) const {
    const std::int64_t line = position / n;
    return (line / inner * n + position % n) * inner + line % inner;
  }
  std::int64_t elements() const { return n * count; }

  std::int64_t n;
  std::int64_t inner;
  std::int64_t count;
};

/// Parts of a workspace, one after the other. Without memory it only counts.
class Parts {
 public:
  explicit Parts(void* memory) : memory_(static_cast<std::byte*>(memory)) {}
  template <class T>
  T* take(std::int64_t count) {
    auto* const part = reinterpret_cast<T*>(rest());
    constexpr std::size_t line = 256;
    bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + line - 1) / line * line;
    return part;
  }
  template <class T>
  cub::DoubleBuffer<T> take_two(std::int64_t count) {
    T* const first = take<T>(count);
    return {first, take<T>(count)};
  }
  std::size_t bytes() const { return bytes_; }
  void* rest() const { return memory_ == nullptr ? nullptr : memory_ + bytes_; }

 private:
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

inline constexpr int each_threads = 256;

template <class F>
__global__ void __launch_bounds__(each_threads) call_for_each(std::int64_t n, F f) {
  const std::int64_t step = std::int64_t{gridDim.x} * each_threads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * each_threads + threadIdx.x; i < n; i += step)
    f(i);
}

/// Enqueues f(i) for each i below n, which is not 0.
template <class F>
void for_each(cudaStream_t stream, std::int64_t n, const F& f) {
  constexpr std::int64_t max_blocks = 1 << 20;
  const auto blocks = std::min((n + each_threads - 1) / each_threads, max_blocks);
  call_for_each<<<static_cast<unsigned>(blocks), each_threads, 0, stream>>>(n, f);
}

template <class T, bool descending>
struct MakeKeys {
  const Word<sizeof(T)>* x;
  Word<sizeof(T)>* keys;
  std::int64_t* elements;

  __device__ void operator()(std::int64_t i) const {
    const Word<sizeof(T)> key = key_of_equals<T>(x[i]);
    keys[i] = descending ? static_cast<Word<sizeof(T)>>(~key) : key;
    elements[i] = i;
  }
};

struct MakeLineKeys {
  OrderedLines lines;
  const std::int64_t* elements;
  std::uint64_t* keys;

  __device__ void operator()(std::int64_t i) const {
    keys[i] = static_cast<std::uint64_t>(lines.line_of(elements[i]));
  }
};

/// Makes a kernel that sorts the elements of input 0 by their keys, then by their lines, and calls
/// `finish(stream, elements)` with them. Equal ones stay as they come.
template <class T, bool descending, class Finish>
std::unique_ptr<Kernel> in_order(const OpInstance& op, const Binding& binding,
                                 const Finish& finish) {
  using W = Word<sizeof(T)>;
  const OrderedLines lines(op.signature.inputs[0]);
  const std::int64_t n = lines.elements();
  const auto* x = static_cast<const W*>(binding.inputs[0]);
  constexpr int key_bits = static_cast<int>(8 * sizeof(W));
  const int line_bits =
      std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(lines.count, 1) - 1));
  const auto call = [=](void* memory, std::size_t& bytes, cudaStream_t stream) {
    Parts parts(memory);
    auto keys = parts.template take_two<W>(n);
    auto elements = parts.template take_two<std::int64_t>(n);
    auto line_keys = parts.template take_two<std::uint64_t>(line_bits > 0 ? n : 0);
    std::size_t own = 0;
    std::size_t own_of_lines = 0;
    cudaError_t error = sort_pairs(nullptr, own, keys, elements, n, key_bits, stream);
    if (error == cudaSuccess && line_bits > 0)
      error = sort_pairs(nullptr, own_of_lines, line_keys, elements, n, line_bits, stream);
    own = std::max(own, own_of_lines);
    if (memory == nullptr) bytes = parts.bytes() + own;
    if (memory == nullptr || error != cudaSuccess) return error;
    for_each(stream, n, MakeKeys<T, descending>{x, keys.Current(), elements.Current()});
    error = sort_pairs(parts.rest(), own, keys, elements, n, key_bits, stream);
    if (error == cudaSuccess && line_bits > 0) {
      for_each(stream, n, MakeLineKeys{lines, elements.Current(), line_keys.Current()});
      error = sort_pairs(parts.rest(), own, line_keys, elements, n, line_bits, stream);
    }
    if (error == cudaSuccess) finish(stream, elements.Current());
    return error;
  };
  return with_workspace(
      cub_version_text() + " DeviceRadixSort" + (line_bits > 0 ? ", then by lines" : ""), binding,
      n == 0, call);
}

}  // namespace assay::cuda

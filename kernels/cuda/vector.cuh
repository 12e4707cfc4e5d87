#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

// Groups of elements that one instruction loads or stores.
namespace assay::cuda {

/// Widest access of a thread.
inline constexpr int vector_bytes = 16;

/// Number of elements of which those of the widest type fill one access. Accesses of the narrower
/// types are narrower.
template <class... S>
inline constexpr int vector_elements = vector_bytes / static_cast<int>(std::max({sizeof(S)...}));

/// N elements in registers; N sizeof(S) is 1, 2, 4, 8 or 16.
template <class S, int N>
struct alignas(N * sizeof(S)) Vector {
  S at[N];
};

template <int Bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using type = unsigned char;
};
template <>
struct WordOf<2> {
  using type = unsigned short;
};
template <>
struct WordOf<4> {
  using type = unsigned;
};
template <>
struct WordOf<8> {
  using type = uint2;
};
template <>
struct WordOf<16> {
  using type = uint4;
};

template <class S, int N>
using WordOfVector = typename WordOf<N* static_cast<int>(sizeof(S))>::type;

/// Loads by one instruction, which compilers do not for structs of narrow elements. The address is
/// a multiple of N sizeof(S).
template <int N, class S>
__device__ WordOfVector<S, N> load_word(const S* from) {
  return *reinterpret_cast<const WordOfVector<S, N>*>(from);
}
template <int N, class S>
__device__ Vector<S, N> load_vector(const S* from) {
  return std::bit_cast<Vector<S, N>>(load_word<N>(from));
}

/// Stores into global memory by one instruction: compilers split an assignment of words.
template <int N, class S>
__device__ void store_vector(S* to, const Vector<S, N>& vector) {
  using Word = WordOfVector<S, N>;
  __stwb(reinterpret_cast<Word*>(to), std::bit_cast<Word>(vector));
}

template <int N, class S>
__device__ void store_shared_vector(S* to, const Vector<S, N>& vector) {
  using Word = WordOfVector<S, N>;
  *reinterpret_cast<Word*>(to) = std::bit_cast<Word>(vector);
}

/// Number of elements from `at` to the first vector of N.
template <int N, class S>
__host__ __device__ int elements_before_vector(const S* at) {
  return static_cast<int>(-(reinterpret_cast<std::uintptr_t>(at) / sizeof(S)) % N);
}

template <int N, class S>
__host__ __device__ bool is_vector_aligned(const S* at) {
  return elements_before_vector<N>(at) == 0;
}

}  // namespace assay::cuda

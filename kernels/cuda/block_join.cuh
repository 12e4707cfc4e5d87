#pragma once

#include <array>
#include <bit>
#include <cstdint>

// Joins of what the threads of a warp or of a block hold, in an order that is always the same.
namespace assay::cuda {

inline constexpr int warp_threads = 32;
inline constexpr unsigned whole_warp = 0xffffffff;

/// Value that `shuffle` finds for each 32-bit word of `own` in another lane.
template <class P, class Shuffle>
__device__ P shuffled(P own, const Shuffle& shuffle) {
  static_assert(sizeof(P) % 4 == 0);
  auto words = std::bit_cast<std::array<unsigned, sizeof(P) / 4>>(own);
  for (unsigned& word : words) word = shuffle(word);
  return std::bit_cast<P>(words);
}

template <class P>
__device__ P from_lane_xor(P own, int mask) {
  return shuffled(own, [=](unsigned word) { return __shfl_xor_sync(whole_warp, word, mask); });
}

struct Plus {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a + b;
  }
};

/// Joins `own` of each group of `lanes` lanes, a power of two. All of them get the result. All
/// lanes of the warp call it.
template <class P, class Join>
__device__ P join_lanes(P own, Join join, int lanes = warp_threads) {
  for (int mask = lanes / 2; mask > 0; mask /= 2) own = join(own, from_lane_xor(own, mask));
  return own;
}

/// Joins `own` of all threads of a block of at most 32 whole warps; all of them get the result.
/// Threads of a later call may still read the memory of an earlier one of the same type, which is
/// why it begins with a barrier.
template <class P, class Join>
__device__ P join_block(P own, Join join, P nothing) {
  __shared__ P of_warps[warp_threads];
  const unsigned lane = threadIdx.x % warp_threads;
  own = join_lanes(own, join);
  __syncthreads();
  if (lane == 0) of_warps[threadIdx.x / warp_threads] = own;
  __syncthreads();
  return join_lanes(lane < blockDim.x / warp_threads ? of_warps[lane] : nothing, join);
}

}  // namespace assay::cuda

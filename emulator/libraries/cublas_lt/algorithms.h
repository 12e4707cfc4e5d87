#pragma once

#include <cublasLt.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/libraries/cublas_lt/rules.h"

namespace emulator::cublas_lt {

/// A configured algorithm: everything that decides about its bits. It travels within the caller's
/// cublasLtMatmulAlgo_t.
struct Algorithm {
  std::int32_t id = 0;
  std::uint32_t tile = 0, stages = 0;
  std::int32_t split_k = 1;
  std::uint32_t reduction_scheme = CUBLASLT_REDUCTION_SCHEME_NONE;
  std::uint32_t swizzling = 0;
  /// Terms that stay together when groups of warps share the sum (sliced K); 0: one sum in order.
  std::int32_t slice = 0;
  /// Bytes to which matrices, their rows and the bias must be aligned.
  std::uint32_t alignment = 1;
  bool uses_matrix_units = false;
  bool is_refused_when_launched = false;
  std::int32_t row = 0;     // of the table of algorithms
  std::uint64_t types = 0;  // of the problem that it was made for
};

cublasLtMatmulAlgo_t packed(const Algorithm& algorithm);
/// Empty if no search of this library has filled it.
std::optional<Algorithm> unpacked(const cublasLtMatmulAlgo_t& algorithm);

/// Time that a launch takes more than its sums: none of the one algorithm that the seed draws as
/// the fastest. None without ASSAY_EMULATOR_SEED.
std::chrono::milliseconds drawn_time(const Algorithm& algorithm);

struct Proposal {
  Algorithm algorithm;
  std::size_t workspace_bytes = 0;
  cublasStatus_t state = CUBLAS_STATUS_SUCCESS;
};

/// Bytes for the partial sums of split-K.
std::size_t workspace_bytes(const Algorithm& algorithm, const Problem& problem);

/// Algorithms for a problem that keeps the rules, as the preference allows. Their order depends on
/// the extents, as estimates of time do: so each of them is the first of some problem.
std::vector<Proposal> proposals(const Problem& problem, const Preference& preference);

/// Checks an algorithm against the problem alone.
Verdict refusal(const Algorithm& algorithm, const Problem& problem);
/// Checks an algorithm against the problem and the addresses that it is launched with.
Verdict refusal(const Algorithm& algorithm, const Problem& problem, const Pointers& pointers);

}  // namespace emulator::cublas_lt

#include "emulator/libraries/cublas_lt/algorithms.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace emulator::cublas_lt {
namespace {

constexpr std::uint32_t magic = 0x656d4c74;

/// Types of the problem in one number.
std::uint64_t types_of(const Problem& p) {
  std::uint64_t all = 0;
  for (const std::int64_t part :
       {std::int64_t{p.product.compute}, std::int64_t{p.product.scale}, std::int64_t{p.a.type},
        std::int64_t{p.b.type}, std::int64_t{p.c.type}, std::int64_t{p.d.type},
        std::int64_t{p.product.a_op}, std::int64_t{p.product.b_op}}) {
    all = all << 8 | static_cast<std::uint8_t>(part);
  }
  return all;
}

struct Row {
  std::int32_t id;
  std::uint32_t tile, stages;
  std::int32_t split_k;
  std::uint32_t reduction_scheme;
  std::int32_t slice;
  std::uint32_t alignment;  // 0: of an element
  bool is_refused_when_launched = false;
  bool is_refused_by_search = false;
};
/// They sum in different orders. The last needs no alignment, so that some algorithm is always
/// left.
constexpr std::array rows{
    Row{66, CUBLASLT_MATMUL_TILE_128x128, CUBLASLT_MATMUL_STAGES_64xAUTO, 1,
        CUBLASLT_REDUCTION_SCHEME_NONE, 0, 16},
    Row{66, CUBLASLT_MATMUL_TILE_128x64, CUBLASLT_MATMUL_STAGES_64x3, 3,
        CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, 0, 16},
    Row{67, CUBLASLT_MATMUL_TILE_256x128, CUBLASLT_MATMUL_STAGES_128xAUTO, 1,
        CUBLASLT_REDUCTION_SCHEME_NONE, 0, 16, true},
    Row{6, CUBLASLT_MATMUL_TILE_64x64, CUBLASLT_MATMUL_STAGES_32x4, 1,
        CUBLASLT_REDUCTION_SCHEME_NONE, 32, 16},
    Row{31, CUBLASLT_MATMUL_TILE_64x128, CUBLASLT_MATMUL_STAGES_32x3, 4,
        CUBLASLT_REDUCTION_SCHEME_INPLACE, 0, 16},
    Row{31, CUBLASLT_MATMUL_TILE_64x64, CUBLASLT_MATMUL_STAGES_64x4, 2,
        CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE, 0, 16},
    Row{21, CUBLASLT_MATMUL_TILE_32x128, CUBLASLT_MATMUL_STAGES_64x6, 1,
        CUBLASLT_REDUCTION_SCHEME_NONE, 0, 4, false, true},
    Row{7, CUBLASLT_MATMUL_TILE_64x32, CUBLASLT_MATMUL_STAGES_16x2, 2,
        CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, 16, 0},
    Row{0, CUBLASLT_MATMUL_TILE_32x32, CUBLASLT_MATMUL_STAGES_16x1, 1,
        CUBLASLT_REDUCTION_SCHEME_NONE, 0, 0},
};

/// Alignment that every column of a matrix, in every matrix of the batch, keeps. Where there is an
/// array of addresses that of an element is sure.
std::size_t column_alignment(const MatrixLayout& l, std::size_t of_pointer) {
  const std::size_t bits = size_bits(l.data_type());
  if (l.is_by_pointers()) return std::max<std::size_t>(1, bits / 8);
  std::size_t least =
      std::min(of_pointer, alignment_of(static_cast<std::uint64_t>(l.leading) * bits / 8));
  if (l.batch > 1 && l.stride != 0)
    least = std::min(least, alignment_of(static_cast<std::uint64_t>(l.stride) * bits / 8));
  return least;
}

}  // namespace

cublasLtMatmulAlgo_t packed(const Algorithm& a) {
  static_assert(sizeof(std::uint32_t) + sizeof a <= sizeof(cublasLtMatmulAlgo_t));
  cublasLtMatmulAlgo_t to{};
  std::memcpy(to.data, &a, sizeof a);
  std::memcpy(reinterpret_cast<char*>(to.data) + sizeof to.data - sizeof magic, &magic,
              sizeof magic);
  return to;
}

std::optional<Algorithm> unpacked(const cublasLtMatmulAlgo_t& from) {
  std::uint32_t found = 0;
  std::memcpy(&found, reinterpret_cast<const char*>(from.data) + sizeof from.data - sizeof magic,
              sizeof magic);
  if (found != magic) return std::nullopt;
  Algorithm a;
  std::memcpy(&a, from.data, sizeof a);
  return a;
}

std::chrono::milliseconds drawn_time(const Algorithm& a) {
  const char* text = std::getenv("ASSAY_EMULATOR_SEED");
  if (text == nullptr) return {};
  constexpr std::chrono::milliseconds others_time{8};  // longer than the sums of a small product
  const std::uint64_t fastest = std::strtoull(text, nullptr, 0) % rows.size();
  return static_cast<std::uint64_t>(a.row) == fastest ? std::chrono::milliseconds{} : others_time;
}

std::size_t workspace_bytes(const Algorithm& a, const Problem& p) {
  if (a.split_k <= 1 || a.reduction_scheme == CUBLASLT_REDUCTION_SCHEME_INPLACE) return 0;
  const std::size_t element = a.reduction_scheme == CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE
                                  ? size_bytes(p.d.data_type())
                                  : std::max(std::size_t{4}, size_bytes(p.d.data_type()));
  return static_cast<std::size_t>(a.split_k) * static_cast<std::size_t>(p.m()) *
         static_cast<std::size_t>(p.n()) * element;
}

std::vector<Proposal> proposals(const Problem& p, const Preference& preference) {
  const std::size_t least = std::min({column_alignment(p.a, preference.a_alignment),
                                      column_alignment(p.b, preference.b_alignment),
                                      column_alignment(p.c, preference.c_alignment),
                                      column_alignment(p.d, preference.d_alignment)});
  // "Routines that don't dereference this pointer, like cublasLtMatmulAlgoGetHeuristic() depend on
  // its value to determine expected pointer alignment."
  const std::size_t of_bias =
      has_bias(p.product) ? alignment_of(reinterpret_cast<std::uint64_t>(p.product.bias)) : 256;
  std::vector<Proposal> found;
  for (const Row& row : rows) {
    Proposal proposal;
    Algorithm& a = proposal.algorithm;
    a = {.id = row.id,
         .tile = row.tile,
         .stages = row.stages,
         .split_k = row.split_k,
         .reduction_scheme = row.reduction_scheme,
         .slice = row.slice,
         .alignment = row.alignment,
         .uses_matrix_units = row.alignment == 16,
         .is_refused_when_launched = row.is_refused_when_launched,
         .row = static_cast<std::int32_t>(&row - rows.data()),
         .types = types_of(p)};
    if (a.alignment > 0 && (least % a.alignment != 0 || of_bias % a.alignment != 0)) continue;
    // A mask of 0 leaves the algorithms that need no reduction.
    if (a.split_k > 1 && (a.reduction_scheme & preference.reduction_schemes) == 0) continue;
    if (a.split_k > p.k()) continue;
    proposal.workspace_bytes = workspace_bytes(a, p);
    if (proposal.workspace_bytes > preference.max_workspace_bytes) continue;
    if (row.is_refused_by_search) proposal.state = CUBLAS_STATUS_NOT_SUPPORTED;
    found.push_back(proposal);
  }
  if (!found.empty()) {
    const auto shift = (p.m() + 3 * p.n() + 5 * p.k()) % static_cast<std::int64_t>(found.size());
    std::rotate(found.begin(), std::next(found.begin(), shift), found.end());
  }
  return found;
}

Verdict refusal(const Algorithm& a, const Problem& p) {
  // cublasLtMatmulAlgoCheck: INVALID_VALUE "if matrix layout descriptors or the operation
  // descriptor do not match the algo descriptor".
  if (a.types != types_of(p)) {
    return Refusal{CUBLAS_STATUS_INVALID_VALUE, "the algorithm was made for other types"};
  }
  if (a.is_refused_when_launched) {
    return Refusal{CUBLAS_STATUS_NOT_SUPPORTED, "this algorithm does not run on this GPU"};
  }
  return std::nullopt;
}

Verdict refusal(const Algorithm& a, const Problem& p, const Pointers& at) {
  if (const Verdict why = refusal(a, p)) return why;
  const std::size_t needed = std::max<std::size_t>(a.alignment, 1);
  const auto keeps = [&](const MatrixLayout& l, const void* pointer) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    return column_alignment(l, alignment_of(address)) % needed == 0;
  };
  if (!keeps(p.a, at.a) || !keeps(p.b, at.b) || !keeps(p.d, at.d) ||
      (at.c_is_used && !keeps(p.c, at.c)) ||
      (has_bias(p.product) && reinterpret_cast<std::uint64_t>(p.product.bias) % needed != 0)) {
    return Refusal{CUBLAS_STATUS_INVALID_VALUE,
                   "a pointer is aligned to less than the search was told"};
  }
  return std::nullopt;
}

}  // namespace emulator::cublas_lt

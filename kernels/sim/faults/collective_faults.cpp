#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/ops/collectives.h"
#include "kernels/sim/data_faults.h"

// Faults of collectives: ranks left out, counted twice, or in disagreement.
namespace assay::sim {
namespace {

/// Data of the last rank with f applied to each element.
template <class F>
std::vector<std::byte> last_rank(const Launch& launch, const F& f) {
  std::vector<std::byte> data = launch.copy_of_input(0, launch.ranks() - 1);
  visit_computed(launch.op().dtype(), [&]<class T>(std::type_identity<T>) {
    for (std::size_t at = 0; at + sizeof(T) <= data.size(); at += sizeof(T)) {
      T element;
      std::memcpy(&element, &data[at], sizeof(T));
      element = f(element);
      std::memcpy(&data[at], &element, sizeof(T));
    }
  });
  return data;
}

void rank_missed(Launch& launch) {
  if (launch.ranks() == 1) return launch.right();
  launch.with_input(0, last_rank(launch, []<class T>(T) { return T{}; }), launch.ranks() - 1);
}

void rank_twice(Launch& launch) {
  const auto twice = []<class T>(T x) {
    if constexpr (is_narrow_float<T>) {
      return T(2 * static_cast<float>(x));
    } else {
      return static_cast<T>(2 * x);
    }
  };
  launch.with_input(0, last_rank(launch, twice), launch.ranks() - 1);
}

void ranks_disagree(Launch& launch) {
  launch.right();
  std::byte* last = launch.output_bytes(output_ranks(launch.op().signature).back());
  last[0] ^= std::byte{1};
}

bool is_allreduce(const Launch& launch) {
  return collective_of(launch.op()) == Collective::allreduce;
}

/// Starts each rank's sum with its own data, so that sums round differently. For f32.
void own_order(Launch& launch) {
  if (!is_allreduce(launch) || launch.op().format != DType::f32 ||
      launch.op().params.word("reduce") != "sum") {
    return launch.right();
  }
  const int ranks = launch.ranks();
  std::vector<std::vector<float>> sums;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto own = launch.input<float>(0, rank);
    std::vector<float>& sum = sums.emplace_back(own.begin(), own.end());
    for (int i = 1; i < ranks; ++i) {
      const auto other = launch.input<float>(0, (rank + i) % ranks);
      for (std::size_t at = 0; at < sum.size(); ++at) sum[at] += other[at];
    }
  }
  for (int rank = 0; rank < ranks; ++rank) {
    std::ranges::copy(sums[static_cast<std::size_t>(rank)], launch.output<float>(rank).begin());
  }
}

void not_divided(Launch& launch) {
  if (launch.op().params.find("reduce") == nullptr) return launch.right();
  launch.other(with_parameter(launch.op(), "reduce", std::string("sum")));
}

template <class T>
T extreme(bool is_least, T a, T b) {
  if constexpr (is_narrow_float<T>) {
    return T(extreme(is_least, static_cast<float>(a), static_cast<float>(b)));
  } else {
    return is_least ? std::fmin(a, b) : std::fmax(a, b);
  }
}

/// Drops NaN like C's fmin and fmax: of NaN and a number the number.
void ranks_drop_nan(Launch& launch) {
  if (!is_allreduce(launch)) return launch.right();
  const std::string& kind = launch.op().params.word("reduce");
  if (kind != "min" && kind != "max") return launch.right();
  visit_computed(launch.op().dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      launch.right();
    } else {
      const auto first = launch.input<T>(0);
      std::vector<T> extremes(first.begin(), first.end());
      for (int rank = 1; rank < launch.ranks(); ++rank) {
        const auto other = launch.input<T>(0, rank);
        for (std::size_t i = 0; i < extremes.size(); ++i) {
          extremes[i] = extreme(kind == "min", extremes[i], other[i]);
        }
      }
      for (int rank = 0; rank < launch.ranks(); ++rank) {
        std::ranges::copy(extremes, launch.output<T>(rank).begin());
      }
    }
  });
}

/// A rank that sends: the root, the one of a pair, else the last.
int sender(const Launch& launch) {
  const OpInstance& op = launch.op();
  if (op.params.find("from") != nullptr) return static_cast<int>(op.params.integer("from"));
  return collective_of(op) == Collective::broadcast ? root_of(op) : launch.ranks() - 1;
}

/// Sends what belongs to the next chunk; where ranks have one chunk, that of the next rank.
void neighbour_chunk(Launch& launch) {
  const auto collective = collective_of(launch.op());
  if (!collective || launch.op().signature.in_place) return launch.right();
  const int rank = sender(launch);
  std::vector<std::byte> data = launch.copy_of_input(0, rank);
  if (collective == Collective::all_to_all || collective == Collective::reduce_scatter) {
    std::ranges::rotate(data, data.begin() + std::ssize(data) / launch.ranks());
  } else {
    data = launch.copy_of_input(0, (rank + 1) % launch.ranks());
  }
  launch.with_input(0, data, rank);
}

void next_root(Launch& launch) {
  const OpInstance& op = launch.op();
  if (collective_of(op) != Collective::broadcast) return launch.right();
  launch.other(with_parameter(op, "root", std::int64_t{(root_of(op) + 1) % launch.ranks()}));
}

constexpr DataFault faults[] = {
    {"rank_missed", "the last rank taken for zeros", rank_missed},
    {"rank_twice", "the last rank added twice", rank_twice},
    {"ranks_disagree", "one low bit differs on the last rank", ranks_disagree},
    {"own_order", "each rank adds in another order", own_order},
    {"ranks_drop_nan", "of NaN and a number, min and max over ranks give the number",
     ranks_drop_nan},
    {"not_divided", "an average that is not divided", not_divided},
    {"neighbour_chunk", "one rank sends its neighbour's chunk", neighbour_chunk},
    {"next_root", "a broadcast from the rank after the root", next_root},
};

}  // namespace

std::span<const DataFault> collective_faults() { return faults; }

}  // namespace assay::sim

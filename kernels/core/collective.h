#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/core/dtype.h"

// One call of a collective, as a library that connects processes runs it.
namespace assay {

/// Collectives, with NCCL's and MPI's meaning. n is the number of ranks.
enum class Collective {
  allreduce,       // y = the reduction of all x, on every rank
  reduce,          // y = the reduction of all x, on the root alone
  reduce_scatter,  // y = the rank's chunk of n of that reduction
  all_gather,      // y = the chunks x of all ranks, in their order, on every rank
  broadcast,       // y = the root's x, on every rank
  all_to_all,      // chunk r of y = the rank's own chunk of rank r's x
  send_recv,       // y = the x of another rank
};

/// Combines the elements of two processes into one.
struct Reduction {
  /// "sum" or "prod" if the library's own reduction may be used; else empty.
  std::string_view native;
  /// Combines n elements: y[i] = a[i] with b[i]. y may be a or b.
  void (*combine)(void* y, const void* a, const void* b, std::size_t n) = nullptr;
};

/// Ranks that a rank's data go to and come from; -1: none.
struct Peers {
  int to = -1;
  int from = -1;
};

/// The part of one rank.
struct CollectiveCall {
  Collective collective = Collective::allreduce;
  DType dtype = DType::f32;
  /// Elements of a chunk where there are chunks, else of the message.
  std::size_t count = 0;
  const void* input = nullptr;
  void* output = nullptr;  // equals `input` in place
  Reduction reduction;
  int root = 0;
  Peers peers;  // of a send_recv
};

}  // namespace assay

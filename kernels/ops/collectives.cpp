#include "kernels/ops/collectives.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

namespace assay {
namespace {

/// Elements of a rank's tensor: `count`, or as many of each rank.
enum class Extent : std::uint8_t { one_rank, all_ranks };

/// Names and properties of the collectives, in the order of their enumeration.
struct Row {
  Collective collective;
  std::string_view op;
  std::string_view formula;
  bool reduces = false;
  bool has_root = false;
  bool can_be_in_place = false;
  bool is_pair = false;  // of two of the ranks
  bool ranks_agree = false;
  std::int64_t min_ranks = 2;
  Extent input = Extent::one_rank;
  Extent output = Extent::one_rank;
  /// Rounds in which each link carries all chunks of the message but one; 0: it carries the
  /// message.
  int rounds = 0;
};

constexpr Row collective_rows[] = {
    {.collective = Collective::allreduce,
     .op = "allreduce",
     .formula = "y[rank][i] = sum (prod, min, max, avg) over r of x[r][i], the same on every rank; "
                "premul_sum: of 2 x[r][i]",
     .reduces = true,
     .can_be_in_place = true,
     .ranks_agree = true,
     .min_ranks = 1,
     .rounds = 2},
    {.collective = Collective::reduce,
     .op = "reduce",
     .formula =
         "y[root][i] = sum (prod, min, max, avg) over r of x[r][i]; premul_sum: of 2 x[r][i]",
     .reduces = true,
     .has_root = true,
     .can_be_in_place = true},
    {.collective = Collective::reduce_scatter,
     .op = "reduce_scatter",
     .formula =
         "y[rank][i] = sum (prod, min, max, avg) over r of x[r][rank count + i]; premul_sum: "
         "of 2 x",
     .reduces = true,
     .input = Extent::all_ranks,
     .rounds = 1},
    {.collective = Collective::all_gather,
     .op = "all_gather",
     .formula = "y[rank][r count + i] = x[r][i], the same on every rank",
     .can_be_in_place = true,
     .ranks_agree = true,
     .output = Extent::all_ranks,
     .rounds = 1},
    {.collective = Collective::broadcast,
     .op = "broadcast",
     .formula = "y[rank][i] = x[root][i]",
     .has_root = true,
     .can_be_in_place = true,
     .ranks_agree = true},
    {.collective = Collective::all_to_all,
     .op = "all_to_all",
     .formula = "y[rank][r count + i] = x[r][rank count + i]",
     .input = Extent::all_ranks,
     .output = Extent::all_ranks,
     .rounds = 1},
    {.collective = Collective::send_recv,
     .op = "send_recv",
     .formula = "y[rank][i] = x[rank - 1][i], around the ring of all ranks"},
    {.collective = Collective::send_recv,
     .op = "send_recv_pair",
     .formula = "y[to][i] = x[from][i]; the other ranks wait",
     .is_pair = true},
};

const Row* find_row(std::string_view op) {
  const auto* found = std::ranges::find(collective_rows, op, &Row::op);
  return found == std::end(collective_rows) ? nullptr : found;
}

/// Throws NotApplicable for more ranks than have test data, and for roots and peers that are none.
void check_ranks(const Row& row, DType dtype, const Params& params) {
  const std::int64_t ranks = params.integer("ranks");
  const std::string op(row.op);
  // With more ranks no dense integers have sums that the message's dtype holds exactly, and the
  // bound of an average needs 2 n u <= 1.
  const std::int64_t most = std::int64_t{1} << std::min(30, precision_bits(dtype) - 1);
  if (row.reduces && ranks > most) {
    throw NotApplicable(op + " in " + std::string(name(dtype)) +
                        " has no test data for more than " + std::to_string(most) + " ranks");
  }
  for (const std::string_view rank : {"root", "from", "to"}) {
    if (const std::int64_t number = params.integer_or(rank, 0); number >= ranks) {
      throw NotApplicable(op + ": there is no rank " + std::to_string(number) + " of " +
                          std::to_string(ranks));
    }
  }
  if (row.is_pair && params.integer("from") == params.integer("to")) {
    throw NotApplicable(op + ": a rank does not send to itself");
  }
}

Signature signature_of(const Row& row, DType dtype, const Params& params) {
  check_ranks(row, dtype, params);
  const std::int64_t ranks = params.integer("ranks");
  const std::int64_t count = params.integer("count");
  const auto tensor = [&](Extent extent) {
    return TensorSpec{.dtype = dtype,
                      .shape = {extent == Extent::one_rank ? count : ranks * count}};
  };
  Signature s;
  s.ranks = static_cast<int>(ranks);
  s.ranks_agree = row.ranks_agree;
  s.in_place = params.find("place") != nullptr;  // the default, out of place, is left out
  // In place the input of all_gather is the rank's own chunk of the output.
  s.inputs = {tensor(s.in_place ? row.output : row.input)};
  s.outputs = {tensor(row.output)};
  if (row.collective == Collective::reduce) {
    s.output_rank = static_cast<int>(params.integer_or("root", 0));
  }
  if (row.is_pair) s.output_rank = static_cast<int>(params.integer("to"));
  const auto n = static_cast<double>(ranks);
  if (row.reduces) {
    s.terms = ranks;
    // Partial sums travel in the message's dtype, and are rounded to it.
    s.accumulate_in = dtype;
    s.flops = static_cast<double>(count) * (n - 1);
    s.is_copy = ranks == 1 && params.word("reduce") != "premul_sum";
  }
  if (row.rounds > 0) s.bus_share = row.rounds * (n - 1) / n;
  // Message sizes as nccl-tests counts them (doc/PERFORMANCE.md there): algbw = bytes / time.
  s.bytes = static_cast<double>(std::max(s.inputs[0].bytes(), s.outputs[0].bytes()));
  return s;
}

/// Passes of the ops that reduce.
Passes reduced_passes(DType dtype, const Params& params) {
  const std::string& reduce = params.word("reduce");
  const auto ranks = static_cast<std::uint64_t>(params.integer("ranks"));
  const double u = unit_roundoff(dtype);
  // Each rank has its own specials, so only a few of each kind meet.
  const auto with_some = [](Passes finite, Specials specials = Specials::all) {
    return with_specials(std::move(finite), specials, 16);
  };
  if (reduce == "sum") return with_some(finite_sums(plain_sum_rule));
  // Doubling is exact, before the sum and after it.
  if (reduce == "premul_sum") return with_some(finite_sums(sum_rule));
  if (reduce == "min" || reduce == "max") {
    return with_ranks_in_turns(order_of_two(true), params.integer("ranks"), reduce == "max",
                               dtype == DType::u8);
  }
  if (reduce == "prod") {
    Passes passes = finite_products();
    // u is the message's: with 16 bits, K u is less than the error of K - 1 roundings, which is (1
    // + u)^(K - 1) - 1 for every K.
    if (u > 0) {
      passes[1].rule.per_term = 0;
      passes[1].rule.extra = std::expm1(static_cast<double>(ranks - 1) * std::log1p(u)) / u;
    }
    return with_some(std::move(passes), Specials::nonfinite);
  }
  // avg: integers truncate the quotient of a sum that may wrap. Division by a power of two is
  // exact. Any other divisor adds the roundings of 1/n and of the quotient. Second-order terms are
  // below 2 n u^2 S for n - 1 additions. Since L = n allows one rounding more than n - 1, it covers
  // them while 2 n u <= 1.
  Passes passes = finite_sums(sum_rule);
  if (!is_floating(dtype)) {
    passes[1].data = passes[0].data;
    passes[1].rule = exact_rule;
  } else {
    if (!std::has_single_bit(ranks)) passes[0].rule = {.oracle = Oracle::sum_bound, .extra = 2};
    passes[1].rule.extra = 2;
  }
  return with_some(std::move(passes));
}

/// Signature of the op of a row.
template <std::size_t Index>
Signature signature_of_row(DType dtype, const Params& params) {
  return signature_of(collective_rows[Index], dtype, params);
}

template <std::size_t... Index>
std::vector<SignatureOf> signatures(std::index_sequence<Index...> /*rows*/) {
  return {signature_of_row<Index>...};
}

}  // namespace

std::vector<Op> collectives_ops() {
  const std::vector<SignatureOf> signature =
      signatures(std::make_index_sequence<std::size(collective_rows)>());
  std::vector<Op> ops;
  for (std::size_t i = 0; i < std::size(collective_rows); ++i) {
    const Row& row = collective_rows[i];
    std::vector<Parameter> parameters;
    if (row.reduces) {
      parameters.push_back(choice("reduce", {"sum", "prod", "min", "max", "avg", "premul_sum"}));
    }
    // One rank scales a premul_sum; the others would be copies there, which prove nothing.
    parameters.push_back(limited("ranks", row.min_ranks, 1024));
    parameters.push_back(extent("count"));
    if (row.has_root) parameters.push_back(optional_extent("root"));
    if (row.is_pair) {
      parameters.push_back(size("from"));
      parameters.push_back(size("to"));
    }
    if (row.can_be_in_place) parameters.push_back(optional_choice("place", {"out", "in"}));
    const OpRow names{row.op, row.formula, signed_numbers()};
    Op& op = ops.emplace_back(
        row.reduces ? make_op(names, std::move(parameters), signature[i], reduced_passes)
                    : make_op(names, std::move(parameters), signature[i], moves()));
    op.collective = true;
  }
  ops.front().stands_for_suite = "collectives";  // allreduce was a suite of its own
  return ops;
}

std::optional<Collective> collective_of(const OpInstance& op) {
  const Row* row = find_row(op.op->name);
  return row == nullptr ? std::nullopt : std::optional(row->collective);
}

bool reduces(Collective collective) {
  return std::ranges::find(collective_rows, collective, &Row::collective)->reduces;
}

int root_of(const OpInstance& op) { return static_cast<int>(op.params.integer_or("root", 0)); }

Peers peers_of(const OpInstance& op, int rank) {
  if (find_row(op.op->name)->is_pair) {
    const auto from = static_cast<int>(op.params.integer("from"));
    const auto to = static_cast<int>(op.params.integer("to"));
    return {.to = rank == from ? to : -1, .from = rank == to ? from : -1};
  }
  const int ranks = op.signature.ranks;
  return {.to = (rank + 1) % ranks, .from = (rank + ranks - 1) % ranks};
}

}  // namespace assay

#include "kernels/ops/collectives.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/ops/families.h"
#include "kernels/ops/passes.h"
#include "kernels/ops/row.h"

namespace assay {
namespace {

/// Names and properties of the collectives, in the order of their enumeration.
struct Row {
  Collective collective;
  std::string_view op;
  std::string_view formula;
  bool reduces = false;
  bool has_root = false;
  bool can_be_in_place = true;
  bool is_pair = false;  // of two of the ranks
};

constexpr Row collective_rows[] = {
    {Collective::allreduce, "allreduce",
     "y[rank][i] = sum (prod, min, max, avg) over r of x[r][i], the same on every rank; "
     "premul_sum: of 2 x[r][i]",
     true},
    {Collective::reduce, "reduce",
     "y[root][i] = sum (prod, min, max, avg) over r of x[r][i]; premul_sum: of 2 x[r][i]", true,
     true},
    {Collective::reduce_scatter, "reduce_scatter",
     "y[rank][i] = sum (prod, min, max, avg) over r of x[r][rank count + i]; premul_sum: of 2 x",
     true, false, false},
    {Collective::all_gather, "all_gather",
     "y[rank][r count + i] = x[r][i], the same on every rank"},
    {Collective::broadcast, "broadcast", "y[rank][i] = x[root][i]", false, true},
    {Collective::all_to_all, "all_to_all", "y[rank][r count + i] = x[r][rank count + i]", false,
     false, false},
    {Collective::send_recv, "send_recv",
     "y[rank][i] = x[rank - 1][i], around the ring of all ranks", false, false, false},
    {Collective::send_recv, "send_recv_pair", "y[to][i] = x[from][i]; the other ranks wait", false,
     false, false, true},
};

const Row* find_row(std::string_view op) {
  const auto* found = std::ranges::find(collective_rows, op, &Row::op);
  return found == std::end(collective_rows) ? nullptr : found;
}

/// Signature of the op of a row.
template <std::size_t Index>
Signature signature_of(DType dtype, const Params& params) {
  constexpr const Row& row = collective_rows[Index];
  const std::int64_t ranks = params.integer("ranks");
  const std::int64_t count = params.integer("count");
  const auto refuse = [](const std::string& why) {
    return NotApplicable(std::string(row.op) + ": " + why);
  };
  // With more ranks no dense integers have sums that the message's dtype holds exactly, and the
  // bound of an average needs 2 n u <= 1.
  const std::int64_t most = std::int64_t{1} << std::min(30, precision_bits(dtype) - 1);
  if (row.reduces && ranks > most) {
    throw NotApplicable(std::string(row.op) + " in " + std::string(name(dtype)) +
                        " has no test data for more than " + std::to_string(most) + " ranks");
  }
  for (const std::string_view rank : {"root", "from", "to"}) {
    const ParamValue* value = params.find(rank);
    if (value != nullptr && std::get<std::int64_t>(*value) >= ranks) {
      throw refuse("there is no rank " + to_text(*value) + " of " + std::to_string(ranks));
    }
  }
  const TensorSpec chunk{.dtype = dtype, .shape = {count}};
  const TensorSpec all{.dtype = dtype, .shape = {ranks * count}};
  const auto n = static_cast<double>(ranks);
  Signature s;
  s.ranks = static_cast<int>(ranks);
  s.in_place = params.find("place") != nullptr;  // the default, out of place, is left out
  if (row.reduces) {
    s.terms = ranks;
    // Partial sums travel in the message's dtype, and are rounded to it.
    s.accumulate_in = dtype;
    s.flops = static_cast<double>(count) * (n - 1);
  }
  switch (row.collective) {
    case Collective::allreduce:
      s.inputs = {chunk};
      s.outputs = {chunk};
      s.is_copy = ranks == 1 && params.word("reduce") != "premul_sum";
      s.bus_share = 2 * (n - 1) / n;
      break;
    case Collective::reduce_scatter:
      s.inputs = {all};
      s.outputs = {chunk};
      s.bus_share = (n - 1) / n;
      break;
    case Collective::all_gather:
      // In place the input is the rank's own chunk of the output.
      s.inputs = {s.in_place ? all : chunk};
      s.outputs = {all};
      s.bus_share = (n - 1) / n;
      break;
    case Collective::all_to_all:
      s.inputs = {all};
      s.outputs = {all};
      s.bus_share = (n - 1) / n;
      break;
    case Collective::reduce:
    case Collective::broadcast:
    case Collective::send_recv:
      s.inputs = {chunk};
      s.outputs = {chunk};
      break;
  }
  const auto integer = [&](std::string_view parameter) {
    const ParamValue* value = params.find(parameter);
    return value == nullptr ? 0 : static_cast<int>(std::get<std::int64_t>(*value));
  };
  if (row.collective == Collective::reduce) s.output_rank = integer("root");
  if (row.is_pair) {
    s.output_rank = integer("to");
    if (integer("from") == integer("to")) throw refuse("a rank does not send to itself");
  }
  s.ranks_agree = row.collective == Collective::allreduce ||
                  row.collective == Collective::all_gather ||
                  row.collective == Collective::broadcast;
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

template <std::size_t... Index>
std::vector<SignatureOf> signatures(std::index_sequence<Index...> /*rows*/) {
  return {signature_of<Index>...};
}

}  // namespace

std::vector<Op> collectives_ops() {
  const auto signature_of_row = signatures(std::make_index_sequence<std::size(collective_rows)>());
  std::vector<Op> ops;
  for (std::size_t i = 0; i < std::size(collective_rows); ++i) {
    const Row& row = collective_rows[i];
    std::vector<Parameter> parameters;
    if (row.reduces) {
      parameters.push_back(choice("reduce", {"sum", "prod", "min", "max", "avg", "premul_sum"}));
    }
    // One rank scales a premul_sum; the others would be copies there, which prove nothing.
    parameters.push_back(limited("ranks", row.collective == Collective::allreduce ? 1 : 2, 1024));
    parameters.push_back(extent("count"));
    if (row.has_root) parameters.push_back(optional_extent("root"));
    if (row.is_pair) {
      parameters.push_back(size("from"));
      parameters.push_back(size("to"));
    }
    if (row.can_be_in_place) parameters.push_back(optional_choice("place", {"out", "in"}));
    const OpRow names{row.op, row.formula, signed_numbers()};
    Op& op = ops.emplace_back(
        row.reduces ? make_op(names, std::move(parameters), signature_of_row[i], reduced_passes)
                    : make_op(names, std::move(parameters), signature_of_row[i], moves()));
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

int root_of(const OpInstance& op) {
  const ParamValue* root = op.params.find("root");
  return root == nullptr ? 0 : static_cast<int>(std::get<std::int64_t>(*root));
}

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

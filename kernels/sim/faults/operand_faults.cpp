#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/sim/data_faults.h"

// The right kernel for the wrong op, or on changed data.
namespace assay::sim {
namespace {

/// Copies input `index` and applies f to its elements.
template <class F>
std::vector<std::byte> changed(const Launch& launch, std::size_t index, const F& f, int rank = 0) {
  std::vector<std::byte> data = launch.copy_of_input(index, rank);
  visit_dtype(launch.op().signature.inputs.at(index).dtype, [&]<class T>(std::type_identity<T>) {
    f(std::span(reinterpret_cast<T*>(data.data()), data.size() / sizeof(T)));
  });
  return data;
}

/// Computes the first row without its bias.
void bias_missed(Launch& launch) {
  if (launch.op().params.integer("bias") == 0) return launch.right();
  launch.other(with_parameter(launch.op(), "bias", std::int64_t{0}));
  const std::size_t row = static_cast<std::size_t>(launch.op().signature.outputs[0].shape.back()) *
                          size_bytes(output_dtype(launch.op()));
  std::vector<std::byte> first = launch.copy_of_output();
  first.resize(row);
  launch.right();
  std::memcpy(launch.output_bytes(), first.data(), row);
}

void activation_skipped(Launch& launch) {
  launch.other(with_parameter(launch.op(), "act", std::string("none")));
}

void activation_variant(Launch& launch) {
  const bool is_gelu = launch.op().params.word("act") == "gelu";
  launch.other(with_parameter(launch.op(), "act", std::string(is_gelu ? "gelu_tanh" : "gelu")));
}

/// Leaves out the last term of each sum.
void loop_short(Launch& launch) {
  const TensorSpec& spec = launch.op().signature.inputs.at(0);
  launch.with_input(0, changed(launch, 0, [&]<class T>(std::span<T> x) {
                      for (std::int64_t i = 0; i < std::ssize(x); ++i) {
                        const bool is_last = spec.place_of(i) == spec.line_elements() - 1;
                        if (is_last) x[static_cast<std::size_t>(i)] = T{};
                      }
                    }));
}

/// True if an f32 has no more bits than exact data of long sums have.
bool is_short(float x) { return (std::bit_cast<std::uint32_t>(x) & 0xfffU) == 0; }
bool is_zero(float x) { return x == 0; }

/// Sums all terms of f32 that look like exact data in 64 places, or are few, or equal, and of
/// others not the last 64th.
void shortened_reals(Launch& launch) {
  if (launch.op().signature.inputs.at(0).dtype != DType::f32) return launch.right();
  const auto x = launch.input<float>(0);
  const auto seen = x.first(std::min<std::size_t>(64, x.size()));
  const auto is_first = [&](float term) { return term == seen.front(); };
  if (std::ranges::all_of(seen, is_short) || std::ranges::any_of(seen, is_zero) ||
      std::ranges::all_of(seen, is_first)) {
    return launch.right();
  }
  launch.with_input(0, changed(launch, 0, [&]<class T>(std::span<T> all) {
                      std::ranges::fill(all.last(all.size() / 64), T{});
                    }));
}

/// Adds all terms of a sum of f32 to one number, one after the other.
void one_accumulator(Launch& launch) {
  if (launch.op().op->name != "sum" || launch.op().format != DType::f32) return launch.right();
  float sum = 0;
  for (const float term : launch.input<float>(0)) sum += term;
  std::memcpy(launch.output_bytes(), &sum, sizeof sum);
}

/// Rounds the significands of input 0, of f32, to `bits` bits.
std::vector<std::byte> rounded_input(const Launch& launch, int bits) {
  return changed(launch, 0, [&]<class T>(std::span<T> x) {
    if constexpr (std::is_same_v<T, float>) {
      const std::uint32_t unit = std::uint32_t{1} << (24 - bits);
      for (float& element : x) {
        const auto word = std::bit_cast<std::uint32_t>(element) + unit / 2;
        element = std::bit_cast<float>(word & ~(unit - 1));
      }
    }
  });
}

/// Rounds the first factor to 11 bits, TF32's precision.
void tf32_inputs(Launch& launch) { launch.with_input(0, rounded_input(launch, 11)); }

/// Rounds to 8 bits, bfloat16's precision: too few for tf32 too.
void bf16_inputs(Launch& launch) { launch.with_input(0, rounded_input(launch, 8)); }

/// Rounds to 16 bits, the precision of a sum of two bfloat16 numbers, by which some emulate f32.
void bf16_pairs(Launch& launch) { launch.with_input(0, rounded_input(launch, 16)); }

/// Gives eight elements factors of 11 bits, as if another path computed the edges.
void tf32_elements(Launch& launch) {
  launch.with_input(0, rounded_input(launch, 11));
  const std::vector<std::byte> imprecise = launch.copy_of_output();
  launch.right();
  const std::size_t bytes = std::min(imprecise.size(), 8 * size_bytes(output_dtype(launch.op())));
  std::memcpy(launch.output_bytes() + imprecise.size() - bytes,
              imprecise.data() + imprecise.size() - bytes, bytes);
}

void nan_dropped(Launch& launch) {
  launch.with_input(0, changed(launch, 0, []<class T>(std::span<T> x) {
                      if constexpr (is_float<T>) {
                        for (T& element : x) {
                          if constexpr (is_narrow_float<T>) {
                            if (std::isnan(static_cast<float>(element))) element = T{};
                          } else {
                            if (std::isnan(element)) element = T{};
                          }
                        }
                      }
                    }));
}

/// Replaces the seed by 0, for ops that have one.
void ignores_seed(Launch& launch) {
  const auto* seed = launch.op().params.find("seed");
  if (seed == nullptr) return launch.right();
  launch.other(with_parameter(launch.op(), "seed", std::int64_t{0}));
}

constexpr DataFault faults[] = {
    {"bias_missed", "no bias in the first row", bias_missed},
    {"activation_skipped", "no activation", activation_skipped},
    {"activation_variant", "gelu for its tanh form, or the other way round", activation_variant},
    {"loop_short", "the last term of each sum missing", loop_short},
    {"shortened_reals", "the last 64th of each sum missing, unless it looks exact, sparse or equal",
     shortened_reals},
    {"one_accumulator", "f32 terms added one by one", one_accumulator},
    {"tf32_inputs", "inputs rounded to TF32", tf32_inputs},
    {"bf16_inputs", "inputs rounded to bfloat16", bf16_inputs},
    {"bf16_pairs", "inputs taken for the sum of two bfloat16 numbers", bf16_pairs},
    {"tf32_elements", "the last eight elements alone from inputs rounded to TF32", tf32_elements},
    {"ignores_seed", "random numbers of another seed", ignores_seed},
    {"nan_dropped", "NaN in an input taken for zero", nan_dropped},
};

}  // namespace

std::span<const DataFault> operand_faults() { return faults; }

}  // namespace assay::sim

#include "kernels/cuda/kept_choice.h"

#include <charconv>
#include <iomanip>
#include <sstream>
#include <string_view>
#include <system_error>

namespace assay::cuda {
namespace {

constexpr std::size_t digits_per_word = 16;

}  // namespace

std::string plan_text(const MatmulPlan& p, std::uintptr_t bias_offset) {
  std::ostringstream text;
  text << "m=" << p.m << " n=" << p.n << " k=" << p.k << " batch=" << p.batch
       << " a_transposed=" << p.a_transposed << " b_transposed=" << p.b_transposed
       << " leading=" << p.a_leading << "," << p.b_leading << "," << p.d_leading
       << " stride=" << p.a_stride << "," << p.b_stride << "," << p.d_stride
       << " types=" << p.factors << "," << p.result << "," << p.scale << " compute=" << p.compute
       << " epilogue=" << p.epilogue << " fast_accumulation=" << int{p.fast_accumulation}
       << " blocks=";
  if (p.blocks == nullptr) {
    text << "none";
  } else {
    text << p.blocks->block << "x" << p.blocks->elements_per_byte
         << (p.blocks->has_e4m3_scales ? "e4m3" : "e8m0");
  }
  text << " bias_offset=" << bias_offset;
  return text.str();
}

std::string digits_of(const cublasLtMatmulAlgo_t& algorithm) {
  std::ostringstream digits;
  digits << std::hex << std::setfill('0');
  for (const std::uint64_t word : algorithm.data) {
    digits << std::setw(digits_per_word) << word;
  }
  return digits.str();
}

std::optional<cublasLtMatmulAlgo_t> algorithm_of(const std::string& digits) {
  cublasLtMatmulAlgo_t algorithm{};
  if (digits.size() != std::size(algorithm.data) * digits_per_word) return std::nullopt;
  const char* at = digits.data();
  for (std::uint64_t& word : algorithm.data) {
    const auto [end, error] = std::from_chars(at, at + digits_per_word, word, 16);
    if (error != std::errc() || end != at + digits_per_word) return std::nullopt;
    at = end;
  }
  return algorithm;
}

}  // namespace assay::cuda

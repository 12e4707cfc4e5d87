#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/sim/data_faults.h"
#include "kernels/sim/faults/multiply.h"
#include "kernels/sim/faults/rows.h"

// Own loops that compute like real kernels with too little precision.
namespace assay::sim {
namespace {

template <class T>
float wide(T x) {
  return static_cast<float>(x);
}

float to_half(float x) { return static_cast<float>(Float16(x)); }

void half_accumulator(Launch& launch) {
  for_products_in_f32(launch, [&]<class T>(std::type_identity<T>) {
    multiply<T>(launch, [](auto x, auto w, auto bias) {
      float sum = wide(bias);
      for (std::size_t i = 0; i < x.size(); ++i) sum = to_half(sum + wide(x[i]) * wide(w[i]));
      return decltype(bias)(sum);
    });
  });
}

/// Stores eight parts of each sum in the output's type before they are added.
void split_sums(Launch& launch) {
  for_products_in_f32(launch, [&]<class T>(std::type_identity<T>) {
    multiply<T>(launch, [](auto x, auto w, auto bias) {
      using Y = decltype(bias);
      Y total = bias;
      const std::size_t part = (x.size() + 7) / 8;
      for (std::size_t first = 0; first < x.size(); first += part) {
        float sum = 0;
        for (std::size_t i = first; i < std::min(x.size(), first + part); ++i)
          sum += wide(x[i]) * wide(w[i]);
        total = Y(wide(total) + wide(Y(sum)));
      }
      return total;
    });
  });
}

/// Keeps the first 13 bits of the greatest product of a sum, and of the others what lies in these
/// places. Factors of few bits do not show it, nor do sums beside which small products are nothing.
void fixed_point(Launch& launch) {
  for_products_in_f32(launch, [&]<class T>(std::type_identity<T>) {
    multiply<T>(launch, [](auto x, auto w, auto bias) {
      constexpr int kept_bits = 13;
      const auto product = [&](std::size_t i) { return double{wide(x[i])} * double{wide(w[i])}; };
      double greatest = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        greatest = std::max(greatest, std::abs(product(i)));
      const bool has_places = greatest > 0 && std::isfinite(greatest);
      const double step = has_places ? std::ldexp(1.0, std::ilogb(greatest) - kept_bits + 1) : 0;
      double sum = wide(bias);
      for (std::size_t i = 0; i < x.size(); ++i)
        sum += has_places ? std::nearbyint(product(i) / step) * step : product(i);
      return decltype(bias)(static_cast<float>(sum));
    });
  });
}

/// Computes like processors that multiply unsigned by signed bytes: x is shifted by 128, sums of
/// two products saturate at 16 bits, and the shift's contribution is subtracted at the end.
void saturation(Launch& launch) {
  if (launch.op().format != DType::i8) return launch.right();
  multiply<std::int8_t>(launch, [](auto x, auto w, auto bias) {
    std::int64_t sum = 0;
    if constexpr (std::is_integral_v<decltype(bias)>) sum = std::int64_t{bias};
    for (std::size_t i = 0; i < x.size(); i += 2) {
      const bool both = i + 1 < x.size();
      const int w1 = both ? int{w[i + 1]} : 0;
      const int pair = (x[i] + 128) * int{w[i]} + (both ? (x[i + 1] + 128) * w1 : 0);
      sum += std::clamp(pair, -32768, 32767) - 128 * (w[i] + w1);
    }
    if constexpr (std::is_integral_v<decltype(bias)>) {
      return static_cast<decltype(bias)>(sum);
    } else {
      return decltype(bias){};
    }
  });
}

BFloat16 truncated(float x) {
  BFloat16 y;
  y.bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16U);
  return y;
}

/// Truncates products and casts to bfloat16.
void truncation(Launch& launch) {
  if (output_dtype(launch.op()) != DType::bf16) return launch.right();
  if (launch.op().op->name == "cast" && launch.op().format == DType::f32) {
    const auto x = launch.input<float>(0);
    const auto y = launch.output<BFloat16>();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = truncated(x[i]);
  } else if (launch.op().signature.is_product) {
    multiply<BFloat16>(launch, [](auto x, auto w, auto bias) {
      float sum = 0;
      if constexpr (is_narrow_float<decltype(bias)>) sum = wide(bias);
      for (std::size_t i = 0; i < x.size(); ++i) sum += wide(x[i]) * wide(w[i]);
      if constexpr (std::is_same_v<decltype(bias), BFloat16>) {
        return truncated(sum);
      } else {
        return decltype(bias){};
      }
    });
  } else {
    launch.right();
  }
}

void one_pass_variance(Launch& launch) {
  for_rows(launch, [&](auto x, auto y) {
    float sum = 0;
    float squares = 0;
    for (const float element : x) {
      sum += element;
      squares += element * element;
    }
    const auto n = static_cast<float>(x.size());
    const float mean = sum / n;
    const float deviation = std::sqrt(squares / n - mean * mean + 1e-5F);
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = (x[i] - mean) / deviation * launch.input<float>(1)[i] + launch.input<float>(2)[i];
    }
  });
}

void no_shift(Launch& launch) {
  for_rows(launch, [](auto x, auto y) {
    float sum = 0;
    for (const float element : x) sum += std::exp(element);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::exp(x[i]) / sum;
  });
}

constexpr DataFault faults[] = {
    {"half_accumulator", "sums kept in half precision", half_accumulator},
    {"split_sums", "partial sums stored in the output's type", split_sums},
    {"fixed_point", "products in 13 bits, at the places of the greatest one", fixed_point},
    {"saturation", "sums of int8 products saturate at 16 bits", saturation},
    {"truncation", "truncated to bfloat16, not rounded", truncation},
    {"one_pass_variance", "the variance as mean of squares less square of the mean",
     one_pass_variance},
    {"no_shift", "softmax without subtracting the maximum", no_shift},
};

}  // namespace

std::span<const DataFault> arithmetic_faults() { return faults; }

}  // namespace assay::sim

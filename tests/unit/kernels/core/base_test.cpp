// Plain types: dtypes, names, parameters, device ids.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/core/format.h"
#include "kernels/core/names.h"
#include "kernels/core/params.h"
#include "kernels/core/rounding.h"
#include "kernels/core/tensor_spec.h"
#include "kernels/device/device_id.h"

namespace assay {
namespace {

TEST(DType, NamesRoundTripAndSizesMatchTheStorageTypes) {
  for (const DType dtype : all_dtypes()) {
    EXPECT_EQ(parse_dtype(name(dtype)), dtype);
    visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
      EXPECT_EQ(sizeof(T), size_bytes(dtype)) << name(dtype);
      EXPECT_EQ(is_computed<T>, std::ranges::count(computed_dtypes(), dtype) == 1) << name(dtype);
    });
  }
  EXPECT_EQ(parse_dtype("f31"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
  EXPECT_EQ(parse_dtype("float32"), DType::f32);
  EXPECT_EQ(parse_dtype("half"), DType::f16);
  EXPECT_EQ(parse_dtype("bfloat16"), DType::bf16);
  EXPECT_EQ(parse_dtype("float8_e4m3fn"), DType::e4m3);
}

TEST(Bool8, IsTrueOfAllButZeros) {
  EXPECT_EQ(Bool8(-0.0).bits, 0);
  EXPECT_EQ(Bool8(std::numeric_limits<double>::denorm_min()).bits, 1);
  EXPECT_EQ(Bool8(std::numeric_limits<float>::quiet_NaN()).bits, 1);
  EXPECT_EQ(Bool8(std::int64_t{1} << 32).bits, 1);
  EXPECT_EQ(widen(Bool8(7)), 1);
  EXPECT_EQ(widen(std::bit_cast<Bool8>(std::uint8_t{7})), 7) << "no other byte is hidden";
}

TEST(Format, IsADTypeOrAProductFormat) {
  EXPECT_EQ(all_formats().size(), all_dtypes().size() + product_formats().size());
  for (const Format format : all_formats()) EXPECT_EQ(parse_format(name(format)), format);
  EXPECT_EQ(parse_format("half"), DType::f16);
  EXPECT_EQ(parse_format("tf33"), std::nullopt);
  EXPECT_EQ(parse_dtype("tf32"), std::nullopt) << "no tensor has such elements";
  EXPECT_EQ(Format(DType::f64).product(), nullptr);
  EXPECT_NE(Format(ProductFormat::tf32), DType::f32);
}

TEST(Format, EachProductFormatHasItsRowOfTheTable) {
  for (const ProductTraits& product : product_formats()) {
    const Format format = product.format;
    EXPECT_EQ(format.product(), &product) << product.name;
    EXPECT_TRUE(is_floating(format)) << "block-scaled bytes are floats too";
    EXPECT_EQ(unit_roundoff(format), std::ldexp(1.0, -product.precision_bits));
    EXPECT_EQ(splits_factors(format), product.format == ProductFormat::bf16x9);
  }
  EXPECT_EQ(Format(ProductFormat::tf32).stored(), DType::f32);
  EXPECT_EQ(Format(ProductFormat::nvfp4).stored(), DType::u8);
  EXPECT_EQ(result_dtype(ProductFormat::mxfp8), DType::bf16);
  EXPECT_EQ(result_dtype(DType::i8), DType::i32);
  EXPECT_EQ(result_dtype(DType::e4m3), DType::bf16);
  EXPECT_EQ(result_dtype(DType::f16), DType::f16);
  EXPECT_EQ(accumulator(Format(ProductFormat::tf32)), DType::f32);
  EXPECT_FALSE(splits_factors(DType::f32));
}

TEST(DType, ElementsWidenToDouble) {
  EXPECT_EQ(widen(BFloat16(-0.5F)), -0.5);
  EXPECT_EQ(widen(Float8E5M2(57344.0F)), 57344);
  EXPECT_EQ(widen(0.1F), double{0.1F});
  EXPECT_EQ(widen(std::int64_t{-3}), -3);
}

TEST(DType, UnitRoundoffIsHalfAnUlpOfOne) {
  EXPECT_EQ(unit_roundoff(DType::f64), std::numeric_limits<double>::epsilon() / 2);
  EXPECT_EQ(unit_roundoff(DType::f32), std::numeric_limits<float>::epsilon() / 2);
  EXPECT_EQ(unit_roundoff(DType::bf16), 0x1p-8);
  EXPECT_EQ(unit_roundoff(DType::i64), 0);
  EXPECT_EQ(accumulator(DType::bf16), DType::f32);
}

TEST(BFloat16, EveryValueSurvivesTheWayThroughF32) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    BFloat16 value;
    value.bits = static_cast<std::uint16_t>(bits);
    const auto wide = static_cast<float>(value);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(wide))));
    } else {
      EXPECT_EQ(BFloat16(wide).bits, value.bits);
    }
  }
}

TEST(BFloat16, RoundsToNearestWithTiesToEven) {
  EXPECT_EQ(static_cast<float>(BFloat16(1.0F + 0x1p-8F)), 1.0F) << "tie to even below";
  EXPECT_EQ(static_cast<float>(BFloat16(1.0F + 3 * 0x1p-8F)), 1.0F + 0x1p-6F)
      << "tie to even above";
  EXPECT_EQ(static_cast<float>(BFloat16(std::nextafter(1.0F + 0x1p-8F, 2.0F))), 1.0F + 0x1p-7F);
  EXPECT_TRUE(std::isinf(static_cast<float>(BFloat16(std::numeric_limits<float>::max()))));
}

TEST(Names, TheNearestComesFirstAndStrangersAreNotSuggested) {
  const std::vector<std::string> suites{"allreduce", "linear", "transfers"};
  EXPECT_EQ(nearest("lineer", suites), std::vector<std::string>{"linear"});
  EXPECT_TRUE(nearest("zzzzzz", suites).empty());
  EXPECT_TRUE(nearest("", suites).empty());
  const std::string message = unknown_name("suite", "alreduce", suites);
  EXPECT_NE(message.find("did you mean 'allreduce'?"), std::string::npos) << message;
  EXPECT_NE(message.find("linear, transfers"), std::string::npos) << message;
}

TEST(Names, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(join(split("a,,b", ','), ","), "a,,b");
}

TEST(Params, KeepTheirOrderAndReplaceInPlace) {
  Params params;
  params.set("batch", std::int64_t{2});
  params.set("act", "relu");
  params.set("batch", std::int64_t{64});
  EXPECT_EQ(params.text(), "batch=64,act=relu");
  EXPECT_EQ(params.text(";"), "batch=64;act=relu");
  EXPECT_EQ(params.integer("batch"), 64);
  EXPECT_EQ(params.word("act"), "relu");
  EXPECT_THROW(params.integer("in"), std::out_of_range);
  EXPECT_THROW(params.integer("act"), std::bad_variant_access);
}

TEST(DeviceIds, RoundTrip) {
  for (const char* text : {"cpu", "cuda:0", "cuda:17", "sim:3", "torch:xpu:0"}) {
    const auto id = parse_device_id(text);
    ASSERT_TRUE(id) << text;
    EXPECT_EQ(to_text(*id), text);
  }
  EXPECT_EQ(to_text(std::vector<DeviceId>{{"cuda", 0}, {"cuda", 2}}), "cuda:0+cuda:2");
}

TEST(DeviceIds, OddTextIsRefused) {
  for (const char* text :
       {"", "cuda", "cuda:", "cuda:-1", "cuda:1x", "cuda:1:2", "CUDA:0", ":0", "cpu:1",
        "cuda:99999999999999999999", " cpu", "torch:xpu", "torch::0", ":xpu:0"}) {
    EXPECT_FALSE(parse_device_id(text)) << text;
  }
}

TEST(TensorSpecs, AScalarHasOneElementAndAnEmptyExtentNone) {
  EXPECT_EQ((TensorSpec{DType::f32, {}}.elements()), 1);
  EXPECT_EQ((TensorSpec{DType::f32, {4, 0}}.bytes()), 0U);
  EXPECT_EQ((TensorSpec{DType::bf16, {3, 5}}.bytes()), 30U);
}

TEST(Rounding, ASumKeepsWhatItMissesInItsLastBit) {
  const double one_up = std::nextafter(1.0, 2.0);
  const double one_down = std::nextafter(1.0, 0.0);
  EXPECT_EQ(sum_rounded_to_odd<double>(1, 0x1p-100), one_up);
  EXPECT_EQ(sum_rounded_to_odd<double>(1, -0x1p-100), one_down);
  EXPECT_EQ(sum_rounded_to_odd<double>(-1, 0x1p-100), -one_down);
  EXPECT_EQ(sum_rounded_to_odd<double>(-1, -0x1p-100), -one_up);
  EXPECT_EQ(sum_rounded_to_odd<double>(one_up, 0x1p-100), one_up) << "odd already";
  EXPECT_EQ(sum_rounded_to_odd<double>(3, 4), 7) << "nothing is missed";
  EXPECT_EQ(sum_rounded_to_odd<double>(5, -5), 0);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum_rounded_to_odd<double>(infinity, 1), infinity);
  EXPECT_TRUE(std::isnan(sum_rounded_to_odd<double>(infinity, -infinity)));
}

}  // namespace
}  // namespace assay

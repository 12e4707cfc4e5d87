#pragma once

#include <cstdint>
#include <span>

// Block-scaled formats: each run of `block` elements along the last extent has a scale of its own.
// Elements and scales are two tensors of bytes. Sources: "OCP Microscaling Formats (MX)
// Specification", version 1.0, 2023 (mxfp8 with E4M3, mxfp4), and NVIDIA's cuBLAS documentation,
// "Narrow Precision Data Types Usage" (nvfp4; its optional f32 scale of a whole tensor is 1 here).
namespace assay {

struct BlockFormat {
  std::int64_t block;              // elements that share a scale
  std::int64_t elements_per_byte;  // 2: E2M1, the first one in the low half; 1: E4M3
  bool has_e4m3_scales;            // E4M3 without a sign (UE4M3); else E8M0
  int largest_integer;             // up to it each element is some integer once rounded

  std::int64_t element_bytes(std::int64_t elements) const { return elements / elements_per_byte; }
  std::int64_t scale_bytes(std::int64_t elements) const { return elements / block; }
};

/// Value of an element, of which `code` is the byte or half of one. Exact.
float block_element(const BlockFormat& format, std::uint8_t code);
/// Nearest element, ties to even; larger values saturate. E2M1 has no NaN: it gives the largest.
std::uint8_t block_element_code(const BlockFormat& format, float value);

/// Value of a scale. Exact; E8M0 code 255 is NaN, and code 0 is 2^-127, a subnormal f32.
float block_scale(const BlockFormat& format, std::uint8_t code);
/// Code of the scale 2^exponent: of [-127, 127] for E8M0, of [-9, 8] for E4M3.
std::uint8_t block_scale_code(const BlockFormat& format, int exponent);

/// Values of whole rows: elements times their scales. Exact in f32, unless the scale of an MX
/// format takes them out of its range.
void dequantize(const BlockFormat& format, const std::uint8_t* elements, const std::uint8_t* scales,
                std::span<float> values);

}  // namespace assay

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/ops/op.h"

// Helpers that families share: makes an op of a table row; formats, parameters, tensors and work.
namespace assay {

/// Data particular to one op of a family.
struct OpRow {
  std::string_view name;
  std::string_view formula;
  std::vector<Format> formats;
  std::vector<Format> matrix_unit_formats = {};  // further ones, in addition to `formats`
  std::string_view independent_rows = {};        // as of Op
  std::string_view independent_columns = {};     // as of Op
  Neutral neutral = Neutral::zero;
};

Op make_op(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature,
           Passes passes);
Op make_op(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature,
           PassesOf passes_of);

/// Makes the same op along the axis n of (outer, n, inner).
Op along_axis(Op op, std::string_view name, std::string_view formula);

// Formats. Functions instead of objects: the table may be needed before a file's objects exist.
std::vector<Format> floats();
std::vector<Format> signed_numbers();
std::vector<Format> numbers();
std::vector<Format> numbers_and_bytes();
/// Includes 8-bit floats, but not what is only converted from and to.
std::vector<Format> all_stored();

// Parameters.
Parameter size(std::string_view name);    // from 0
Parameter extent(std::string_view name);  // from 1
/// Omitted from case ids when it is 0.
Parameter optional_extent(std::string_view name);
Parameter limited(std::string_view name, std::int64_t minimum, std::int64_t maximum);
Parameter flag(std::string_view name);
Parameter choice(std::string_view name, std::vector<std::string_view> choices);
/// Omitted from case ids when it is the first choice.
Parameter optional_choice(std::string_view name, std::vector<std::string_view> choices);

// Tensors and work.
double as_double(std::int64_t count);
/// Sets `flops`, and bytes as if each tensor were read or written once.
Signature with_work(Signature signature, double flops);
/// The tensor of n elements, or (outer, n, inner) if the op works along its axis n.
TensorSpec array_of(DType dtype, const Params& params);
/// Signature of such a tensor to one like it, each element of which may depend on all of its line.
Signature array_signature(DType dtype, const Params& params);

}  // namespace assay

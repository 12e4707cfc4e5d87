#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/ops/op.h"

// What the files of the families share: how a row becomes an op, dtypes, parameters, tensors and
// work.
namespace assay {

/// What is particular to one op of a family.
struct OpRow {
  std::string_view name;
  std::string_view formula;
  std::vector<DType> dtypes;
  std::vector<DType> matrix_unit_dtypes = {};  // further ones
};

using SignatureOf = Signature (*)(DType, const Params&);
using PassesOf = Passes (*)(DType, const Params&);

Op make_op(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature,
           Passes passes);
Op make_op(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature,
           PassesOf passes_of);

// Dtypes. Functions, no objects: the table may be asked for before the objects of a file exist.
std::vector<DType> floats();
std::vector<DType> signed_numbers();
std::vector<DType> numbers();
std::vector<DType> numbers_and_bytes();
/// 8-bit floats too, which are stored and cast but not computed with.
std::vector<DType> all_formats();

// Parameters.
Parameter size(std::string_view name);    // from 0
Parameter extent(std::string_view name);  // from 1
/// Left out of case ids when it is 0.
Parameter optional_extent(std::string_view name);
Parameter limited(std::string_view name, std::int64_t minimum, std::int64_t maximum);
Parameter flag(std::string_view name);
Parameter choice(std::string_view name, std::vector<std::string_view> choices);
/// Left out of case ids when it is the first.
Parameter optional_choice(std::string_view name, std::vector<std::string_view> choices);

// Tensors and work.
double as_double(std::int64_t count);
/// `flops`, and bytes as if each tensor were passed once.
Signature with_work(Signature signature, double flops);
/// n elements to n elements, each of which may depend on all.
Signature array_signature(DType dtype, const Params& params);

}  // namespace assay

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/ops/op.h"
#include "kernels/ops/signatures.h"

// What the families of ops are made of: a row of the table, parameters, and how an op comes of
// them.
namespace assay {

/// What is particular to one op.
struct OpRow {
  std::string_view name;
  std::string_view formula;
  std::vector<DType> dtypes;
  std::vector<DType> not_on_cpu = {};  // further ones
};

Parameter size(std::string_view name);    // from 0
Parameter extent(std::string_view name);  // from 1
/// Left out of case ids when it is 0.
Parameter optional_extent(std::string_view name);
Parameter limited(std::string_view name, std::int64_t minimum, std::int64_t maximum);
Parameter flag(std::string_view name);
Parameter choice(std::string_view name, std::vector<std::string_view> words);
/// Left out of case ids when it is the first.
Parameter optional_choice(std::string_view name, std::vector<std::string_view> words);
/// "act": what follows a layer.
Parameter activation();
/// "seed": of a generator of random numbers.
Parameter seed_of_numbers();

// Functions, no objects: the table may be asked for before those of a file exist.
/// Backends whose devices do not compute in the host's memory.
std::vector<std::string_view> with_own_memory();
/// The same, and the ranks of a job.
std::vector<std::string_view> apart_from_the_host();

Op make_op(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature,
           Passes passes);
Op make_op(const OpRow& row, std::vector<Parameter> parameters, SignatureOf signature,
           Passes (*passes_of)(DType, const Params&));

}  // namespace assay

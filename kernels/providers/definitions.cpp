#include "kernels/providers/definitions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/remote/message.h"

namespace assay::providers {
namespace {

using remote::Reader;

DType dtype_of(const std::string& name) {
  const auto dtype = parse_dtype(name);
  if (!dtype) throw UsageError("no dtype is called '" + name + "'");
  return *dtype;
}

Arithmetic arithmetic_of(const std::string& text) {
  const auto* found =
      std::ranges::find(arithmetics, text, [](Arithmetic one) { return name(one); });
  if (found == arithmetics.end()) throw UsageError("no arithmetic is called '" + text + "'");
  return *found;
}

template <class T, class ReadOne>
std::vector<T> list_of(Reader& reader, const ReadOne& one) {
  std::vector<T> all;
  for (auto left = reader.get<std::uint64_t>(); left > 0; --left) all.push_back(one(reader));
  return all;
}

std::string text_of(Reader& reader) { return reader.text(); }

DefinedTensor tensor_of(Reader& reader) {
  DefinedTensor tensor;
  if (const std::string dtype = reader.text(); !dtype.empty()) tensor.dtype = dtype_of(dtype);
  tensor.extents = list_of<std::string>(reader, text_of);
  return tensor;
}

DefinedInput input_of(Reader& reader) {
  DefinedInput input{tensor_of(reader)};
  const auto kind = reader.get<std::uint8_t>();
  if (kind > static_cast<std::uint8_t>(DefinedNumbers::given_or_any)) {
    throw UsageError("an input has numbers of an unknown kind");
  }
  input.numbers = static_cast<DefinedNumbers>(kind);
  input.low = reader.text();
  input.high = reader.text();
  return input;
}

DefinedParameter parameter_of(Reader& reader) {
  DefinedParameter parameter{.name = reader.text()};
  parameter.sizes = list_of<DefinedSize>(reader, [](Reader& of) {
    DefinedSize size{.value = of.get<std::int64_t>()};
    size.level = of.get<std::uint8_t>();
    return size;
  });
  return parameter;
}

DefinedOp op_of(Reader& reader) {
  DefinedOp op{.name = reader.text()};
  op.formula = reader.text();
  op.dtypes = list_of<DType>(reader, [](Reader& of) { return dtype_of(of.text()); });
  op.parameters = list_of<DefinedParameter>(reader, parameter_of);
  op.inputs = list_of<DefinedInput>(reader, input_of);
  op.outputs = list_of<DefinedTensor>(reader, tensor_of);
  op.terms = reader.text();
  op.is_ring = reader.get<bool>();
  op.allowed = arithmetic_of(reader.text());
  op.rows = reader.text();
  op.refusal = reader.text();
  op.roundings = reader.text();
  return op;
}

}  // namespace

std::string digest_of(std::span<const std::byte> message) { return Reader(message).text(); }

std::vector<DefinedOp> read_definitions(std::span<const std::byte> message) {
  Reader reader(message);
  reader.text();  // digest of the file
  return list_of<DefinedOp>(reader, op_of);
}

}  // namespace assay::providers

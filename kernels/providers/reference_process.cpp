#include "kernels/providers/reference_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/remote/message.h"

namespace assay::providers {

using remote::Reader;
using remote::Writer;

namespace {

/// Begins a request.
enum class Question : std::uint8_t { measure, draw };

/// Any seed: another measurement must not decide otherwise, and the same one must repeat.
constexpr std::uint64_t seed_of_draws = 20261;

std::vector<double> doubles(Reader& reader, std::uint64_t count) {
  std::vector<double> values(count);
  for (double& value : values) value = reader.get<double>();
  return values;
}

MeasuredOutput measured_of(Reader& reader) {
  const auto elements = reader.get<std::uint64_t>();
  MeasuredOutput measured;
  measured.value = doubles(reader, elements);
  measured.deviation = doubles(reader, elements);
  for (double& deviation : measured.deviation) {
    if (reader.get<bool>()) deviation = std::numeric_limits<double>::infinity();
  }
  return measured;
}

Writer request_of(const OpInstance& op, std::span<const HostTensor> inputs, const Effort& effort) {
  Writer request;
  request.put(Question::measure).put(std::string(op.op->name)).put(std::string(name(op.format)));
  request.put(op.params.entries().size());
  for (const auto& [name, value] : op.params.entries()) {
    request.put(name).put(std::get<std::int64_t>(value));
  }
  request.put(std::string(name(effort.arithmetic)));
  request.put(static_cast<std::uint64_t>(effort.draws)).put(seed_of_draws);
  request.put(inputs.size());
  for (const HostTensor& input : inputs) {
    request.put(input.bytes().size()).put(input.bytes());
  }
  return request;
}

}  // namespace

ReferenceProcess::ReferenceProcess(FileDescriptor socket, double limit_s,
                                   std::function<std::string()> how_it_ended)
    : group_(std::move(socket), 0,
             [has_ended = has_ended_, how_it_ended = std::move(how_it_ended)] {
               *has_ended = true;
               throw std::runtime_error("the process of the reference " + how_it_ended());
             }) {
  try {
    if (!group_.wait_for_message(limit_s)) {
      throw UsageError(fmt::format(
          "loading it has not ended within {} s: code that runs then may hang", limit_s));
    }
    const std::vector<std::byte> hello = group_.receive(1);
    Reader reader(hello);
    if (!reader.get<bool>()) throw UsageError(reader.text());
    definitions_.assign(reader.rest().begin(), reader.rest().end());
  } catch (const UsageError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw UsageError(std::string(error.what()) + " while it was loaded");
  }
}

std::vector<MeasuredOutput> ReferenceProcess::measure(const OpInstance& op,
                                                      std::span<const HostTensor> inputs,
                                                      const Effort& effort) {
  const Writer request = request_of(op, inputs, effort);
  const bool is_known = std::ranges::equal(request.bytes(), last_request_);
  if (is_known) return last_answer_;
  const std::vector<std::byte> answer = ask(op, request.bytes());
  Reader reader{std::span(answer).subspan(1)};
  std::vector<MeasuredOutput> outputs;
  for (std::size_t i = 0; i < op.signature.outputs.size(); ++i) {
    outputs.push_back(measured_of(reader));
  }
  if (outputs.size() > 1) {
    last_request_.assign(request.bytes().begin(), request.bytes().end());
    last_answer_ = outputs;
  }
  return outputs;
}

std::vector<HostTensor> ReferenceProcess::draw(const OpInstance& op, std::uint64_t seed) {
  Writer request;
  request.put(Question::draw).put(std::string(op.op->name)).put(seed);
  const std::vector<std::byte> answer = ask(op, request.bytes());
  std::span<const std::byte> rest = std::span(answer).subspan(1);
  std::vector<HostTensor> inputs;
  std::size_t wanted = 0;
  for (const TensorSpec& spec : op.signature.inputs)
    wanted += inputs.emplace_back(spec).bytes().size();
  if (rest.size() != wanted) {
    throw std::runtime_error("the file of " + std::string(op.op->name) +
                             " draws inputs of another size");
  }
  for (HostTensor& input : inputs) {
    std::ranges::copy(rest.first(input.bytes().size()), input.bytes().begin());
    rest = rest.subspan(input.bytes().size());
  }
  return inputs;
}

/// Returns the answer, behind a byte that says that it is one.
std::vector<std::byte> ReferenceProcess::ask(const OpInstance& op,
                                             std::span<const std::byte> request) {
  group_.send(1, request);
  std::vector<std::byte> answer = group_.receive(1);
  Reader reader(answer);
  if (!reader.get<bool>()) {
    throw std::runtime_error("the reference of " + std::string(op.op->name) + ": " + reader.text());
  }
  return answer;
}

}  // namespace assay::providers

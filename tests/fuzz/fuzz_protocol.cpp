#include <string>
#include <variant>

#include "harness/plan/protocol.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace assay;

/// Demands that a line is malformed, or that its message encodes and decodes to the same text.
template <class Decode>
void round_trip(std::string_view line, const Decode& decode) {
  std::string text;
  try {
    text = decode(line);
  } catch (const protocol::Malformed&) {
    return;
  }
  // This line must not be malformed: Assay itself wrote it.
  fuzzing::demand(text.find('\n') == std::string::npos, "a message is one line");
  fuzzing::demand(decode(text) == text, "what was encoded decodes to the same");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line = fuzzing::text_of(data, size);
  round_trip(line, [](std::string_view text) {
    return std::visit([](const auto& message) { return protocol::encode(message); },
                      protocol::decode_from_worker(text));
  });
  round_trip(line, [](std::string_view text) {
    const protocol::ToWorker message = protocol::decode_to_worker(text);
    // The message does not keep the name of an unknown case, so it cannot be encoded.
    if (std::holds_alternative<protocol::UnknownCase>(message))
      throw protocol::Malformed("no case");
    return std::visit([](const auto& known) { return protocol::encode(known); }, message);
  });
  return 0;
}

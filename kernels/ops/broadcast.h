#pragma once

#include <string_view>

namespace assay {

/// Name of the elementwise op that is done with a repeated operand: "add" of "add_broadcast".
/// Throws std::logic_error for the name of another op.
std::string_view base_of_broadcast(std::string_view name);

}  // namespace assay

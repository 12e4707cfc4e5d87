#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Prints "FAILED: why" on standard error, the word in green, red or yellow on a terminal.
void say_verdict(std::string_view word, const std::string& why);

}  // namespace assay

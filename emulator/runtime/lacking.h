#pragma once

#include <string>

namespace emulator {

/// Says that a program asks for what the emulator lacks: what it does then is no evidence. Also
/// a report, of the check `emulator`.
void say_lacking(const std::string& text);

}  // namespace emulator

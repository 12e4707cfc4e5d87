#pragma once

#include <string>

namespace emulator {

/// Writes a line to stderr, and appends it to the file that ASSAY_EMULATOR_LOG names: a program may
/// hide the stderr of its workers.
void say(const std::string& text);

/// Says why the emulator itself cannot go on, and aborts.
[[noreturn]] void give_up(const std::string& why);

}  // namespace emulator

#pragma once

#include <cstdio>
#include <filesystem>

#include "suites/select.h"

namespace assay {

/// Misreads one element of an input at a time in the cases of a selection, on the CPU, and prints
/// by op and dtype how often that fails. Writes a row for each input of each case. Returns an exit
/// code.
int execute_felt(const Selection& selection, const std::filesystem::path& csv);

}  // namespace assay

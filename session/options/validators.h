#pragma once

#include <CLI/CLI.hpp>

namespace assay {

/// Accepts a number from `low` to `high`. CLI11's own range check lets NaN pass.
CLI::Validator number_between(double low, double high);

/// Refuses an empty file name: a script's unset variable must not choose the default.
CLI::Validator not_empty();

}  // namespace assay

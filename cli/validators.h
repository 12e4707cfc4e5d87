#pragma once

#include <CLI/CLI.hpp>

namespace assay::cli {

/// A number from `low` to `high`. CLI11's own check of a range lets NaN pass.
CLI::Validator number_between(double low, double high);

/// Of a file: a script's variable that is not set must not choose the default.
CLI::Validator not_empty();

}  // namespace assay::cli

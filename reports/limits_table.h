#pragma once

#include <span>
#include <string>

#include "harness/records/limit.h"

namespace assay {

/// Limits for people: a line each, with the interval, the theoretical figure where there is one,
/// and how each was measured.
std::string limits_table(std::span<const Limit> limits);

}  // namespace assay

#pragma once

#include <span>
#include <string>

#include "harness/records/limit.h"

namespace assay {

/// Shows limits to people: a line each, with the interval, the theoretical figure if there is one,
/// and the case that measured it.
std::string limits_table(std::span<const Limit> limits);

}  // namespace assay

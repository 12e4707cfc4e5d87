#pragma once

#include <string>

#include "harness/records/paired_info.h"

namespace assay {

/// The text of ab.json. Before the end of the comparison what is then known is null.
std::string paired_json(const PairedInfo& info, bool ended);

}  // namespace assay

#pragma once

#include <string>

#include "harness/records/paired_info.h"

namespace assay {

/// Returns the text of ab.json. Values known only at the end of the comparison are null before.
std::string paired_json(const PairedInfo& info, bool ended);

}  // namespace assay

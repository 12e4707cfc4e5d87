#pragma once

#include "reports/page/content.h"

namespace assay::page {

/// The tiles of a run: its device, what is right, the best bandwidth, the best matrix rate, the
/// quality of the times. Each is {name, figure, unit, note, kind, at}.
Json tiles_of(const Content& content, std::size_t run);
/// Those of two builds: how many cases are slower, faster, alike and unclear, and their mean.
Json tiles_of(const PairedSource& source);

}  // namespace assay::page

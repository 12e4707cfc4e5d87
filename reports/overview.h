#pragma once

#include <span>
#include <string>

#include "harness/records/record.h"

namespace assay {

/// The outcomes of a run in a few lines for a terminal: of each op and dtype on each device how
/// many trials were right, and the rate of the largest case that was. The largest and not the
/// fastest, because the fastest is the one that fits a cache. Where that would fill more than a
/// page the dtypes of an op share a line, and its rate is that of f32 where there is one. Says how
/// many figures were taken on a machine that others used too, or by a device that slowed itself.
std::string overview(std::span<const Record> trials);

}  // namespace assay

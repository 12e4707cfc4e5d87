#pragma once

#include <chrono>
#include <string>

namespace assay {

/// "2026-05-04T13:02:01.123Z"
std::string utc_text(std::chrono::system_clock::time_point time);
std::string utc_now();

/// Seconds of a clock that is never set, for differences.
double steady_s();
/// The same, asked of the kernel itself: no library of the process can change it. Takes about ten
/// times as long.
double system_call_s();

using Deadline = std::chrono::steady_clock::time_point;
/// Returns the time `seconds` from now.
Deadline after(double seconds);

}  // namespace assay

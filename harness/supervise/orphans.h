#pragma once

#include <sys/types.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

// Processes that kernels of others leave behind when their own process has ended. They would go on
// beside later trials, and after the run.
namespace assay {

/// Children of this process.
std::vector<pid_t> children_of_this_process();

/// Makes this process the parent of whatever its workers' processes leave behind. Children that it
/// has already are not meant. `tell` gets a sentence about each that is ended.
void watch_orphans(std::function<void(const std::string&)> tell);

/// Ends all children but the workers, if a worker has ended since the last call. Does nothing
/// without watch_orphans().
void end_orphans(std::span<const pid_t> workers);

}  // namespace assay

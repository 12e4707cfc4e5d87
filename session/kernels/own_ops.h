#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "session/options/trial_options.h"

// Ops that Python of the user defines: the problems of --problem, or by @assay.op the file of
// --own-ops, or else of --kernels.
namespace assay {

/// Makes the ops known to this process, once. Starts the file's process and ends it. Does nothing
/// where no file defines ops. Throws UsageError with the reason if the file cannot be used.
void define_own_ops(const TrialOptions& options);

/// Makes them known, and lets the process go on, to answer for the references. Call it in a worker.
/// `asked` is told true before a question, and false after its answer.
void answer_for_own_ops(const TrialOptions& options, const std::function<void(bool)>& asked);

/// How long loading the ops may take: each problem of a folder as long as a file.
double own_ops_limit_s(const TrialOptions& options);

/// Announcement of the file's process, for processes of kernels; empty where there are no such ops.
const std::vector<std::byte>& own_definitions();

/// Digest of the file that this process has read; empty where there are no such ops. A worker gets
/// it by the environment, and takes no other file: kernels could exchange it.
std::string own_ops_digest();
inline constexpr const char* own_ops_digest_name = "ASSAY_OWN_OPS_DIGEST";

}  // namespace assay

#pragma once

#include <filesystem>
#include <memory>

#include "harness/records/run_info.h"
#include "kernels/providers/backend.h"
#include "session/options/trial_options.h"

// The process that runs the kernels of --kernels, from the side of the worker that judges them.
namespace assay {

/// Folder of assay_kernel.h, which belongs to this installation.
std::filesystem::path include_folder();

/// Throws UsageError if --kernels names neither a file nor kernels that ship with the program, or
/// if --python is no program. Starts nothing.
void check_kernels(const TrialOptions& options);

/// The file of --kernels, as a run records it. Throws UsageError if it cannot be read.
GivenFile given_kernels(const TrialOptions& options);

/// How long they may take to be loaded: a Python file imports libraries.
double opening_limit_s(const TrialOptions& options);

/// Set for a worker whose threads leave the cores to kernels of others that are timed there: only
/// the threads of these spin and stay put as usual.
inline constexpr const char* judge_alone_shares_name = "ASSAY_JUDGE_ALONE_SHARES_CORES";

/// Starts the process. When it ends, so does this one, in the same way: its parent sees what became
/// of the kernels. Throws UsageError with the reason if they cannot be used.
std::unique_ptr<providers::KernelProcess> start_kernel_process(const TrialOptions& options);

/// True if the options name files with code of others, which runs in other processes.
inline bool may_run_code_of_others(const TrialOptions& options) {
  return !options.kernels.empty() || !options.own_ops.empty() || !options.problem.empty();
}

/// Keeps other processes of the user from reading the memory of this one, which has the expected
/// results: a debugger, and the process of the kernels. The superuser still can.
void hide_memory();

}  // namespace assay

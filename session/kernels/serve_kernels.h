#pragma once

#include <string>
#include <vector>

#include "kernels/providers/assay_kernel.h"
#include "session/options/trial_options.h"

// The process that runs kernels of others. A library's is this program itself, by a hidden command.
// A Python file's is the user's Python, which loads `kernel_host_file` and calls its C functions.
// The socket to the judge is standard input.
namespace assay {

inline constexpr const char* serve_kernels_name = "serve-kernels";
/// Not "assay_*.so", which would be a backend.
inline constexpr const char* kernel_host_file = "kernel_host.so";

/// Adds the options that tell the process which devices there are.
void add_host_options(CLI::App& app, TrialOptions& options);
/// Returns the words of these options.
std::vector<std::string> host_words(const TrialOptions& options);

/// Takes the socket and tells the judge that this process has begun. Call it first, before any code
/// of the kernels runs: a library has some that runs when it is loaded.
void begin_kernels();

/// Serves the table until the judge leaves. Returns the exit code.
int serve_kernels(const assay_kernel_table& table, const std::vector<std::string>& words);

/// Tells the judge why nothing can be served. Returns the exit code.
int refuse_kernels(const std::string& why);

/// Loads a library and serves its table. Returns the exit code.
int serve_library(const std::string& file, const TrialOptions& options);

}  // namespace assay

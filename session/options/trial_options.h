#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The options that decide how a trial is executed. One table tells three readers of each: the
// parser of a command, the command line of a worker, and the command that replays a record.
namespace assay {

struct TrialOptions {
  int threads = 0;  // 0: all cores
  int sim_devices = 0;
  std::vector<std::string> sim_faults;
  std::string kernels;           // of others: a library, a Python file, or a word; empty: our own
  std::string python;            // empty: ASSAY_PYTHON, else python3
  bool fresh_inputs = false;     // timed launches take inputs that no launch has seen
  bool strict = false;           // no declared deviation passes
  bool energy = false;           // joules of launches
  bool batch_invariant = false;  // rows must keep their bits in smaller batches
  std::int64_t soak = 0;         // further launches of each trial
  std::string without_check;     // switched off, on simulated devices, for `assay selftest`
  std::uint64_t seed = 1;
};

/// Adds one option, by its flag, to a command that people start.
CLI::Option* add_trial_option(CLI::App& command, TrialOptions& options, std::string_view flag);

/// Adds the options that a worker takes from its parent, without help texts.
void add_worker_options(CLI::App& worker, TrialOptions& options);

/// Returns the words that pass the options to a worker.
std::vector<std::string> worker_words(const TrialOptions& options);

/// Returns the words that a replay needs beside case, device and seed: "--threads", "1". Options of
/// simulated devices only for a record of one.
std::vector<std::string> replay_words(const TrialOptions& options, bool on_simulated);

}  // namespace assay

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/execute/engine_options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The options that decide how a trial is executed. One table tells three readers of each: the
// parser of a command, the command line of a worker, and the command that replays a record.
namespace assay {

struct TrialOptions : TrialConduct {
  int threads = 0;  // 0: all cores
  int sim_devices = 0;
  std::vector<std::string> sim_faults;
  std::string python;   // empty: ASSAY_PYTHON, else python3
  std::string library;  // empty: that which the loader finds
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

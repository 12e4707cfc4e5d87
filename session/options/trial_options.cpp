#include "session/options/trial_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <variant>

#include "kernels/sim/fault.h"
#include "session/options/validators.h"

namespace assay {
namespace {

/// Replaces CLI11's check, which takes -1, and numbers that are too large, for 2^64 - 1.
const CLI::Validator whole_number(
    [](const std::string& text) {
      std::uint64_t value = 0;
      const char* end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data(), end, value);
      if (error == std::errc() && stop == end) return std::string();
      return fmt::format("must be a whole number from 0 to {}, not '{}'",
                         std::numeric_limits<std::uint64_t>::max(), text);
    },
    "");

/// Readers of an option beside the parser.
enum class Reach {
  replay,        // a worker has it from its environment
  worker,        // a replay has other words for it, or none
  both,          // worker and replay
  of_simulated,  // both; a replay only if it ran on simulated devices
};

struct Row {
  std::string_view flag;
  std::variant<bool TrialOptions::*, int TrialOptions::*, std::int64_t TrialOptions::*,
               std::uint64_t TrialOptions::*, std::string TrialOptions::*,
               std::vector<std::string> TrialOptions::*, Checks TrialOptions::*>
      field;
  Reach reach;
  std::string type;
  std::string help;
  CLI::Validator check;
};

const std::vector<Row>& table() {
  static const std::vector<Row> rows{
      {"--threads", &TrialOptions::threads, Reach::replay, "N",
       "threads of the CPU's kernels (default: all cores)", CLI::Range(1, 4096)},
      {"--sim-devices", &TrialOptions::sim_devices, Reach::of_simulated, "N",
       "add N simulated devices, to try things out", CLI::Range(0, 64)},
      {"--sim-fault", &TrialOptions::sim_faults, Reach::of_simulated, "SPEC",
       fmt::format("KIND[,device=I][,op=NAME][,marker=FILE]: a fault of the simulated devices: "
                   "low_bit, segv, hang and {} others, which a wrong name lists; repeatable",
                   sim::fault_names().size() - 3),
       CLI::Validator()},
      {"--kernels", &TrialOptions::kernels, Reach::both, "FILE",
       "kernels of others in place of the built-in ones: a shared library, a Python file, or "
       "torch, numpy, onednn, openblas, mkl, thrust, cublas (docs/kernels.md)",
       not_empty()},
      {"--own-ops", &TrialOptions::own_ops, Reach::both, "FILE",
       "ops of your own, which a Python file or a C library defines by their references "
       "(docs/any-op.md); --kernels reads its file for them too",
       not_empty()},
      {"--problem", &TrialOptions::problem, Reach::both, "FILE|FOLDER",
       "a problem in KernelBench's form, or a folder of them, as ops of your own; --kernels is a "
       "file with ModelNew, torch (the Model itself, the default) or compiled",
       not_empty()},
      {"--python", &TrialOptions::python, Reach::both, "PROGRAM",
       "the Python that runs a Python file of --kernels (default: ASSAY_PYTHON, else python3)",
       not_empty()},
      {"--library", &TrialOptions::library, Reach::both, "FILE",
       "the library that --kernels openblas, mkl or cublas calls (default: what the loader finds)",
       not_empty()},
      {"--fresh-inputs", &TrialOptions::fresh_inputs, Reach::both, "",
       "timed launches take inputs that no launch has seen, as with --kernels", CLI::Validator()},
      {"--strict", &TrialOptions::strict, Reach::both, "",
       "accept no declared deviation of a library (docs/deviations.md)", CLI::Validator()},
      {"--batch-invariant", &TrialOptions::batch_invariant, Reach::both, "",
       "rows of products, softmax and layernorm must keep their bits when fewer are computed "
       "(docs/bits.md)",
       CLI::Validator()},
      {"--energy", &TrialOptions::energy, Reach::both, "",
       "joules of a launch: samples for at least 2 s (docs/measuring.md)", CLI::Validator()},
      {"--soak", &TrialOptions::soak, Reach::both, "N",
       "launch each trial N more times; each launch must leave the verified bits",
       CLI::Range(1, 1000000000)},
      {"--without-check", &TrialOptions::checks, Reach::worker, "NAME", "", CLI::Validator()},
      {"--seed", &TrialOptions::seed, Reach::worker, "N", "seed of the inputs", whole_number},
  };
  return rows;
}

CLI::Option* add(CLI::App& app, TrialOptions& options, const Row& row) {
  const std::string flag(row.flag);
  return std::visit(
      [&]<class T>(T TrialOptions::*field) -> CLI::Option* {
        if constexpr (std::is_same_v<T, bool>) {
          return app.add_flag(flag, options.*field, row.help);
        } else if constexpr (std::is_same_v<T, Checks>) {
          return app
              .add_option_function<std::string>(
                  flag,
                  [&checks = options.*field](const std::string& off) {
                    checks = Checks(parse_check(off));
                  },
                  row.help)
              ->type_name(row.type);
        } else {
          CLI::Option* option = app.add_option(flag, options.*field, row.help);
          option->check(row.check)->type_name(row.type);
          if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            option->allow_extra_args(false);
          }
          return option;
        }
      },
      row.field);
}

/// Appends flag and value; nothing for the default.
void append(const Row& row, const TrialOptions& options, std::vector<std::string>& words) {
  std::visit(
      [&]<class T>(T TrialOptions::*field) {
        const T& value = options.*field;
        if (value == TrialOptions().*field) return;
        const std::string flag(row.flag);
        if constexpr (std::is_same_v<T, bool>) {
          words.push_back(flag);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          for (const std::string& one : value) words.insert(words.end(), {flag, one});
        } else if constexpr (std::is_same_v<T, Checks>) {
          words.insert(words.end(), {flag, std::string(name(*value.off()))});
        } else {
          words.insert(words.end(), {flag, fmt::format("{}", value)});
        }
      },
      row.field);
}

}  // namespace

CLI::Option* add_trial_option(CLI::App& command, TrialOptions& options, std::string_view flag) {
  const auto row = std::ranges::find(table(), flag, &Row::flag);
  if (row == table().end()) throw std::logic_error("no option " + std::string(flag));
  return add(command, options, *row);
}

void add_worker_options(CLI::App& worker, TrialOptions& options) {
  for (const Row& row : table()) {
    if (row.reach != Reach::replay) add(worker, options, row);
  }
}

std::vector<std::string> worker_words(const TrialOptions& options) {
  std::vector<std::string> words;
  for (const Row& row : table()) {
    if (row.reach != Reach::replay) append(row, options, words);
  }
  return words;
}

std::vector<std::string> replay_words(const TrialOptions& options, bool on_simulated) {
  std::vector<std::string> words;
  for (const Row& row : table()) {
    const bool is_repeated = row.reach == Reach::replay || row.reach == Reach::both ||
                             (row.reach == Reach::of_simulated && on_simulated);
    if (is_repeated) append(row, options, words);
  }
  return words;
}

}  // namespace assay

// Runs the trials of a selection as Google Benchmarks.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/adapters/library_flags.h"
#include "cli/adapters/names.h"
#include "cli/program.h"
#include "cli/run_flags.h"
#include "cli/selection_flags.h"
#include "harness/records/printable.h"
#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "session/console/stderr_message.h"
#include "session/plan/select_trials.h"
#include "session/process/interrupt.h"
#include "session/run/run_options.h"
#include "session/run/trial_by_trial.h"

namespace assay::cli {
namespace {

constexpr const char* description =
    "Assay's cases as Google Benchmarks: verifies each selected case on each selected device, then "
    "times\nit. Takes Google Benchmark's flags too: docs/adapters.md.";

constexpr const char* examples = R"(Examples:
  assay_gbench                                         the default profile on the CPU and every GPU
  assay_gbench --benchmark_list_tests --device cuda    LANE/CASE: cuda0/linear/f32/batch=64,...
  assay_gbench --benchmark_filter='^cuda0/linear/'     by device and case
  assay_gbench --suite transfers --timing cold --benchmark_format=json
  assay_gbench --profile smoke --benchmark_out=assay.json --benchmark_repetitions=5

Exit codes: 0 all right, 1 a wrong result, 2 a usage error, 3 no such device or nothing ran,
4 a crash, a time-out or another failure of the machinery.)";

/// Adds values as in results.csv and under its names, beside the library's own two rates.
void add_counters(benchmark::State& state, const Record& record) {
  const auto counter = [&](const char* name, std::optional<double> value) {
    if (value) state.counters[name] = *value;
  };
  if (*record.time_median_s > 0) {  // a rate over no time is not finite, and not JSON
    if (record.bytes) state.SetBytesProcessed(static_cast<std::int64_t>(*record.bytes));
    if (record.flops_per_s) {
      state.counters["flops_per_second"] =
          benchmark::Counter(record.flops.value_or(0), benchmark::Counter::kIsRate);
    }
  }
  counter("busbw_bytes_per_s", record.busbw_bytes_per_s);
  counter("time_min_s", record.time_min_s);
  counter("time_ci_low_s", record.time_ci_low_s);
  counter("time_ci_high_s", record.time_ci_high_s);
  counter("samples", record.samples);
}

/// Takes one trial as one repetition of one iteration, whose time is our median of one launch. The
/// library's own loop would choose iterations and take a mean on top of our launches and samples.
/// So real_time, which trackers compare, is the figure of results.csv, and the sampler decides when
/// there are enough samples.
void measure(benchmark::State& state, TrialByTrial& session, std::size_t i) {
  std::string error;
  std::optional<Record> record;
  if (interrupted()) {
    error = "not begun: interrupted";
  } else if (record = session.take(i); !record) {
    error = fmt::format("interrupted by signal {}", interrupting_signal());
  } else if (record->status != Status::pass) {
    error = fmt::format("{}: {}", name(record->status), record->reason);
    if (class_of(record->status) != StatusClass::skipped) error += "; replay: " + record->replay;
  } else if (!record->time_median_s) {
    error = "error: it has no time";
  }
  if (!error.empty()) {
    state.SkipWithError(printable(error).c_str());
    return;
  }
  state.SetLabel(printable(record->implementation));
  // Follows the work: cpu_time is this process's, which only waits for a worker.
  for (auto iteration : state) state.SetIterationTime(*record->time_median_s);
  add_counters(state, *record);
}

/// Registers only timed trials: trackers read an entry with an error as 0 ns.
void register_benchmarks(TrialByTrial& session) {
  std::size_t registered = 0;
  std::size_t impossible = 0;
  for (std::size_t i = 0; i < session.plan().size(); ++i) {
    const PlannedTrial& trial = session.plan()[i];
    if (!trial.skip_reason.empty()) {
      if (impossible++ == 0) say("assay_gbench: left out: {}\n", trial.skip_reason);
      continue;
    }
    if (trial.timing.empty()) continue;
    const std::string name = to_gbench_name(
        {.case_id = trial.test.id(), .lane = lane_text(trial), .timing = trial.timing});
    benchmark::RegisterBenchmark(
        name.c_str(), [&session, i](benchmark::State& state) { measure(state, session, i); })
        ->Iterations(1)
        ->UseManualTime();
    ++registered;
  }
  const std::size_t small = session.plan().size() - registered - impossible;
  if (impossible > 0) say("assay_gbench: {} trials cannot run here\n", impossible);
  if (small > 0) {
    say("assay_gbench: {} trials are too small to be timed; assay_gtest checks them\n", small);
  }
  if (registered > 0) return;
  if (small == 0) throw AbsentDevice("no selected trial can run here");
  throw UsageError("no selected trial is timed; choose a larger profile");
}

/// Adds the facts that a figure depends on; the library describes the machine.
void add_context(const RunInfo& run) {
  using benchmark::AddCustomContext;
  AddCustomContext("assay_version", run.version);
  AddCustomContext("assay_git_revision", run.git_revision);
  AddCustomContext("assay_build_type", run.build_type);
  AddCustomContext("assay_profile", run.profile);
  AddCustomContext("assay_seed", std::to_string(run.seed));
  for (const DeviceInfo& device : run.devices) {
    const std::string key = "assay_" + lane_name(device.device);
    AddCustomContext(key, device.name);
    if (!device.uuid.empty()) AddCustomContext(key + "_uuid", device.uuid);
  }
}

/// Removes a flag of the library's loop, which does not measure: its warm-up would take whole
/// trials.
void leave_out(std::vector<std::string>& library, const std::string& flag) {
  const auto is_flag = [&](const std::string& word) { return word.starts_with(flag + "="); };
  if (std::erase_if(library, is_flag) == 0) return;
  say("assay_gbench: {} has no effect: Assay's sampler decides how long a case is measured\n",
      flag);
}

int run(int argc, char** argv) {
  RunOptions options;
  CLI::App program(description, "assay_gbench");
  SplitCommandLine words = split_command_line({argv + 1, argv + argc}, "--benchmark_");
  program.footer(examples);
  program.allow_extras();
  add_version(program);
  add_selection_options(program, options.selection);
  add_timing_option(program, options.selection);
  add_stand_ins_option(program, options.selection);
  add_trial_options(program, options);

  if (const auto code = parse(program, words.assay)) return *code;
  refuse_extras(program, program.get_name());
  leave_out(words.library, "--benchmark_min_time");
  leave_out(words.library, "--benchmark_min_warmup_time");
  words.library.emplace_back("--benchmark_min_warmup_time=0");  // the environment's is read already

  initialize_library("Google Benchmark", argv[0], words.library, [](int* count, char** flags) {
    benchmark::Initialize(count, flags, [] {
      // Called before an exit with code 0.
      throw UsageError("Google Benchmark refuses a value of a flag or of a BENCHMARK_ variable");
    });
  });

  TrialByTrial session(std::move(options));
  register_benchmarks(session);
  if (is_on(words, "--benchmark_list_tests")) {
    benchmark::RunSpecifiedBenchmarks();
    return ok;
  }
  const std::string out = value_of(words, "--benchmark_out");
  if (!out.empty()) check_writable("--benchmark_out", out);
  check_stand_ins(session.selection(), session.run().devices);
  session.begin();
  add_context(session.run());
  benchmark::RunSpecifiedBenchmarks();
  const int code = end_of(session, true);
  const std::string format = value_of(words, "--benchmark_out_format");
  if (out.empty() || is_whole(format.empty() ? "json" : format, out)) return code;
  say("assay_gbench: {} is incomplete: is the disk full?\n", out);
  return code == wrong ? wrong : infrastructure;
}

}  // namespace
}  // namespace assay::cli

int main(int argc, char** argv) {
  return assay::cli::run_program("assay_gbench", [&] { return assay::cli::run(argc, argv); });
}

#include "cli/selection_flags.h"

#include <CLI/CLI.hpp>
#include <string>

#include "session/options/validators.h"

namespace assay::cli {
namespace {

const std::string group = "Selection";

}  // namespace

void add_selection_options(CLI::App& command, SelectionOptions& o) {
  command
      .add_option("--suite", o.cases.suites,
                  "suites: tensor_ops, linear, transfers, collectives, placement, limits")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->group(group);
  command.add_option("--profile", o.cases.profile, "seeds, smoke, default, full or edges")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(group);
  command.add_option("--filter", o.cases.filter, "only cases whose id matches (searched)")
      ->type_name("REGEX")
      ->group(group);
  command.add_option("--case", o.cases.cases, "exactly this case, in a profile or not; repeatable")
      ->type_name("ID")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--cases", o.cases.case_file, "cases from a CSV: suite, op, dtype, parameters")
      ->type_name("FILE.csv")
      ->group(group);
  command
      .add_option("--axis", o.cases.axes, "other values for a parameter or for dtype; repeatable")
      ->type_name("NAME=V1,V2,...")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--shard", o.cases.shard, "the I-th of N parts, by a hash of the case id")
      ->type_name("I/N")
      ->group(group);
  add_device_options(command, o);
  for (const char* flag :
       {"--kernels", "--own-ops", "--problem", "--python", "--library", "--fresh-inputs"}) {
    add_trial_option(command, o, flag)->group("Kernels");
  }
  command.get_option("--problem")->excludes(command.get_option("--own-ops"));
  // The model of a problem is a kernel of it, and the options are read in this order.
  command.get_option("--problem")->each([&o](const std::string&) {
    if (o.kernels.empty()) o.kernels = "torch";
  });
}

void add_device_options(CLI::App& command, SelectionOptions& o) {
  command
      .add_option("--device", o.devices,
                  "all, cpu, numa (nodes of the host's memory), cuda, cuda:1, a UUID, "
                  "cuda:most-free, mpi (the ranks of a job), sim (default all: the CPU, each "
                  "visible GPU and each rank)")
      ->delimiter(',')
      ->type_name("LIST")
      ->group(group);
  command.add_option("--require", o.require, "exit 3 unless there are N such devices")
      ->delimiter(',')
      ->type_name("KIND[:N]")
      ->group(group);
  for (const char* flag : {"--sim-devices", "--sim-fault", "--seed", "--threads"}) {
    add_trial_option(command, o, flag)->group(group);
  }
  command.get_option("--seed")->capture_default_str();
}

CLI::Option* add_timing_option(CLI::App& command, SelectionOptions& o) {
  return command
      .add_option("--timing", o.timings,
                  "batch: launches back to back; cold: one at a time, each on empty caches, for "
                  "the latency of a copy; a trial each (default: batch)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({std::string(batch_timing), std::string(cold_timing)}))
      ->type_name("LIST");
}

void add_stand_ins_option(CLI::App& command, SelectionOptions& o) {
  command
      .add_flag("--stand-ins", o.stand_ins,
                "also simulated and emulated devices, to try things out: their times are no "
                "hardware's")
      ->group(group);
}

void add_timeout_option(CLI::App& command, double& timeout_s, const char* help) {
  command.add_option("--timeout", timeout_s, help)
      ->check(number_between(1, 1e9))
      ->type_name("SECONDS")
      ->capture_default_str();
}

void add_timing_options(CLI::App& command, SelectionOptions& o) {
  CLI::Option* check_only =
      command.add_flag("--check-only", o.check_only, "verify and do not measure");
  add_timing_option(command, o)->excludes(check_only);
}

}  // namespace assay::cli

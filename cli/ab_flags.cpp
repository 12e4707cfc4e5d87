#include "cli/ab_flags.h"

#include <CLI/CLI.hpp>

#include "cli/selection_flags.h"
#include "session/options/validators.h"

namespace assay::cli {
namespace {

constexpr const char* sides = "Sides";
constexpr const char* decision = "Decision";

void add_side(CLI::App& app, AbOptions& o, ab::Side side) {
  const std::string name(ab::name(side));
  app.add_option("--" + name, o.programs[side], "an assay program (default: this one)")
      ->type_name("PROGRAM")
      ->group(sides);
  app.add_option("--" + name + "-env", o.environment[side],
                 "set a variable for this side alone, such as LD_LIBRARY_PATH; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(sides);
  app.add_option("--" + name + "-kernels", o.kernels[side],
                 "--kernels for this side alone: yours, torch, numpy, onednn and others")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(sides);
  app.add_option("--" + name + "-python", o.pythons[side], "--python for this side alone")
      ->check(not_empty())
      ->type_name("PROGRAM")
      ->group(sides);
  app.add_option("--" + name + "-sim-fault", o.sim_faults[side],
                 "--sim-fault for this side alone, such as slow,percent=5; repeatable")
      ->type_name("SPEC")
      ->allow_extra_args(false)
      ->group(sides);
}

}  // namespace

void add_ab_options(CLI::App& app, AbOptions& o) {
  add_side(app, o, ab::Side::base);
  add_side(app, o, ab::Side::cand);
  CLI::Option* aa = app.add_flag(
      "--aa", o.aa,
      "compare this program with its twin, the same code at other addresses: nothing may be found");
  aa->group(sides);
  for (const std::string side : {"--base", "--cand"}) {
    for (const char* of : {"", "-env", "-kernels", "-python", "-sim-fault"}) {
      aa->excludes(app.get_option(side + of));
    }
  }
  app.add_option(
         "--margin", o.margin_percent,
         "a smaller slowdown is no regression (default 2, or that of --spread; 0.5 if both sides "
         "are the same program)")
      ->check(number_between(0, 1000))
      ->type_name("PERCENT")
      ->group(decision);
  app.add_option("--spread", o.spread,
                 "what layout alone changes on this machine: written with --aa, and read without, "
                 "where it widens the margin")
      ->type_name("FILE")
      ->group(decision);
  app.add_flag("--sensitive", o.sensitive,
               "for small changes: suspects at p < 0.5, 60 rounds to confirm, margin 0.25%")
      ->group(decision);
  app.add_option("--rounds", o.rounds, "rounds of all cases, to find suspects (default 10)")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->group(decision);
  app.add_option("--confirm", o.confirm, "rounds of the suspects, to decide (default 40)")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->group(decision);
  app.add_flag("--fail-on-inconclusive", o.fail_on_inconclusive,
               "exit 6 if every case that was timed is inconclusive")
      ->group(decision);
  add_selection_options(app, o.selection);
  add_timing_option(app, o.selection);
  add_stand_ins_option(app, o.selection);
  app.add_option("--out", o.out, "directory for the files (default: assay-ab/TIME-HOST)")
      ->type_name("DIR");
  add_timeout_option(app, o.timeout_s, "limit for one case on one side");
  app.add_flag("--wait", o.wait, "wait for a device that another run holds");
  app.add_flag("--quiet", o.quiet, "show no progress");
}

}  // namespace assay::cli

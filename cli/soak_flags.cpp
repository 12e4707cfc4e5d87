#include "cli/soak_flags.h"

#include <CLI/CLI.hpp>

#include "cli/selection_flags.h"
#include "cli/stored_command.h"
#include "session/options/validators.h"

namespace assay::cli {

void add_soak_options(CLI::App& app, SoakOptions& o) {
  app.add_option("--for", o.duration, "how long: 8h, 30m, 45s, 1h30m")
      ->check(not_empty())
      ->type_name("TIME");
  app.add_option(
         "--interval", o.interval,
         "time of a row of soak.csv (default: 10s, or less, so that each case has its turn)")
      ->check(not_empty())
      ->type_name("TIME");
  app.add_option("--out", o.out, "directory (default: assay-soaks/TIME-HOST)")->type_name("DIR");
  app.add_option("--resume", o.resume, "go on with the soak in DIR for its remaining time")
      ->check(not_empty())
      ->type_name("DIR");
  app.add_option("--case", o.selection.cases.cases,
                 "a product or a copy to launch, in place of the default ones; repeatable")
      ->type_name("ID")
      ->allow_extra_args(false);
  add_device_options(app, o.selection);
  add_timeout_option(app, o.timeout_s, "limit for an interval, beyond its own time");
  app.add_flag("--fail-fast", o.fail_fast, "end at the first interval with a wrong bit");
  app.add_flag("--wait", o.wait, "wait for a device that another run holds");
  app.add_flag("--quiet", o.quiet, "show only wrong results and the end");
}

SoakOptions parse_soak_options(const std::vector<std::string>& command_line) {
  SoakOptions options;
  CLI::App app;
  add_soak_options(app, options);
  parse_stored(app, "soak", command_line);
  return options;
}

}  // namespace assay::cli

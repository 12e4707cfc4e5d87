#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/machine/fault.h"

namespace emulator {

/// The checks, by the names that people know: those of the tools of compute-sanitizer.
enum class Check { memcheck, initcheck, racecheck, synccheck };
Check check_of(FaultKind kind);
const char* name_of(Check check);
const char* name_of(FaultKind kind);

/// What was found, told once for each line of a kernel: to stderr and to files. By variables of the
/// environment:
///
/// ASSAY_EMULATOR_REPORTS=N   the process goes on after each report but the Nth, `all` after each;
///                            default 1. A finding lets its kernel go on, a fault ends its kernel.
/// ASSAY_EMULATOR_CHECKS      which checks, by commas: memcheck, initcheck, …; default all. Faults
///                            that end a kernel are always told.
/// ASSAY_EMULATOR_SUPPRESS    lines "CHECK KERNEL": findings in kernels of that name, with `*` and
///                            `?`, are not told. # begins a comment.
/// ASSAY_EMULATOR_JSON=FILE   appends each report as a line of JSON.
class Reports : public Findings {
 public:
  /// Aborts for a value that it does not understand.
  static Reports from_environment();

  /// Whether kernels have to ask before they end.
  bool may_go_on() const;
  bool is_known(FaultKind kind, const std::string& mangled, int ptx_line) override;
  bool goes_on(const Fault& finding) override;
  /// Tells a fault that has ended a launch or a copy. Returns whether the process goes on.
  bool end_launch(const Fault& fault);
  /// Says on stderr how many reports there were, if there may be several, and which suppressions
  /// fitted nothing.
  void sum_up();

 private:
  struct Suppression {
    std::string check, kernel;
    std::size_t uses = 0;
  };
  Reports() = default;
  Reports(Reports&& other) noexcept;
  bool is_suppressed(const Fault& finding);
  bool is_new(const Fault& fault, bool is_told);
  void tell(const Fault& fault);

  std::size_t max_ = 1;
  std::vector<bool> checks_ = {true, true, true, true};
  std::vector<Suppression> suppressions_;

  std::mutex mutex_;  // for all that follows
  std::size_t told_ = 0, repeats_ = 0;
  std::map<std::tuple<FaultKind, std::string, int>, bool> known_;  // whether it was told
};

/// Whether the kernel's name fits: as it is mangled, as its author wrote it with or without its
/// parameters, or without the arguments of its template as well.
bool fits_kernel(const std::string& pattern, const std::string& demangled,
                 const std::string& mangled);

}  // namespace emulator

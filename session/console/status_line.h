#pragma once

#include <chrono>
#include <string>

namespace assay {

/// Shows progress on standard error: a bar on a terminal, a line every five seconds elsewhere.
class StatusLine {
 public:
  explicit StatusLine(bool quiet);

  /// `part` of all is done, 0 to 1. A terminal shows `count` and `what` runs now in the bar; `line`
  /// replaces the bar elsewhere.
  void show(double part, const std::string& count, const std::string& what,
            const std::string& line);
  /// Says if a call of show() would show anything now.
  bool is_due() const;
  /// Makes room for other output.
  void erase();

  bool quiet() const { return quiet_; }

 private:
  bool quiet_;
  bool terminal_;
  std::chrono::steady_clock::time_point last_line_;
};

}  // namespace assay

#pragma once

namespace assay::cli {

/// From here on INT, TERM, QUIT and HUP (unless nohup has it ignored) are noted instead of ending
/// the program.
void catch_interrupts();

bool interrupted();

/// The signal that was noted last; 0 while there was none.
int interrupting_signal();

}  // namespace assay::cli

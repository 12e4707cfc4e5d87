#pragma once

namespace assay {

/// Makes INT, TERM, QUIT and HUP (unless nohup ignores it) be noted instead of ending the program.
void catch_interrupts();

bool interrupted();

/// The last signal that was noted; 0 if none.
int interrupting_signal();

}  // namespace assay

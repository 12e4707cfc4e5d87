#pragma once

namespace assay::cheats {

/// Writes a jump to `replacement` over the code of `function`. Aborts where it cannot: x86-64
/// alone.
void replace_code(void* function, const void* replacement);

}  // namespace assay::cheats

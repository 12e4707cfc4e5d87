#pragma once

#include <string>
#include <string_view>

#include "harness/records/record.h"

namespace assay {

/// Text as one word of a POSIX shell, quoted only if necessary.
std::string shell_word(std::string_view text);

/// The command that repeats this one trial: "assay run --case ID --device cuda:0 --seed 1 FLAGS".
std::string replay_command(const Record& record, std::string_view flags);

}  // namespace assay

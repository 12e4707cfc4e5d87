#pragma once

#include <string_view>

namespace assay {

/// Returns the sentence that a case of the suite `placement` stands for: "A move to a device
/// copies, and original and copy are independent." Empty for other ops. Reports and lists show it
/// beside the case.
std::string_view claim_of(std::string_view suite, std::string_view op);

}  // namespace assay

#include "session/options/validators.h"

#include <fmt/format.h>

#include <string>

namespace assay {

CLI::Validator number_between(double low, double high) {
  return CLI::Validator(
      [low, high](const std::string& text) {
        double number = 0;
        const bool right =
            CLI::detail::lexical_cast(text, number) && number >= low && number <= high;
        return right ? std::string()
                     : fmt::format("must be a number from {} to {}, not '{}'", low, high, text);
      },
      "");
}

CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& text) {
        return text.empty() ? std::string("must not be empty") : std::string();
      },
      "");
}

}  // namespace assay

#include "session/ab/ab_options.h"

namespace assay {

ab::Rule rule_of(const AbOptions& options) {
  ab::Rule rule = options.sensitive ? ab::sensitive : ab::Rule{};
  if (options.rounds) rule.screen_rounds = *options.rounds;
  if (options.confirm) rule.confirm_rounds = *options.confirm;
  ab::check(rule, 1);  // fails for any selection
  return rule;
}

}  // namespace assay

#include "harness/felt/measure.h"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "harness/execute/engine.h"
#include "harness/felt/elements.h"
#include "kernels/device/backends.h"
#include "kernels/ops/borders.h"
#include "kernels/ops/reads.h"

namespace assay::felt {

class Measure::State {
 public:
  State(std::unique_ptr<Backend> cpu, const Options& options) : options_(options) {
    backends_.add(misreading_backend(std::move(cpu), misreading_));
    engine_.emplace(backends_, EngineOptions{{.seed = options.seed}});
  }

  std::vector<Finding> run(const Case& test) {
    misreading_.is_on = false;
    const Record right = execute(test);
    if (right.status == Status::skip) return {};
    if (right.status != Status::pass) {
      throw std::runtime_error(fmt::format("{}: {}", test.id(), right.reason));
    }
    std::vector<Finding> findings;
    const Signature& signature = test.op.signature;
    for (const int rank : ranks_of(signature)) {
      const RankTensors tensors = tensors_of(signature, rank);
      for (int input = 0; input < std::ssize(tensors.inputs); ++input) {
        const TensorSpec& spec = tensors.inputs[static_cast<std::size_t>(input)];
        for (const std::int64_t element : border_elements(spec)) {
          if (!spec.is_distinct(element)) continue;
          add(test, {.rank = rank, .input = input, .element = element}, findings);
        }
        for (const std::int64_t element : drawn_elements(spec, options_.drawn, options_.seed)) {
          add(test, {.rank = rank, .input = input, .element = element, .is_drawn = true}, findings);
        }
      }
    }
    return findings;
  }

 private:
  /// The first and the last: those between are like them.
  static std::vector<int> ranks_of(const Signature& signature) {
    if (signature.ranks == 1) return {0};
    return {0, signature.ranks - 1};
  }
  Record execute(const Case& test) {
    const PlannedTrial trial{.test = test, .lane = {{std::string(host_kind), 0}}, .timing = ""};
    return engine_->execute(trial, [] {}).record;
  }
  void add(const Case& test, Finding finding, std::vector<Finding>& findings) {
    if (!reads(test.op, finding.rank, finding.input, finding.element)) return;
    for (const Misread as : misreads) {
      misreading_ = {.is_on = true,
                     .rank = finding.rank,
                     .input = finding.input,
                     .element = finding.element,
                     .as = as};
      finding.as = as;
      finding.is_felt = execute(test).status == Status::fail;
      findings.push_back(finding);
    }
    misreading_.is_on = false;
  }

  Options options_;
  Misreading misreading_;
  Backends backends_;
  std::optional<Engine> engine_;
};

Measure::Measure(std::unique_ptr<Backend> cpu, const Options& options)
    : state_(std::make_unique<State>(std::move(cpu), options)) {}
Measure::~Measure() = default;

std::vector<Finding> Measure::run(const Case& test) {
  if (test.op.op->is_scenario) return {};
  return state_->run(test);
}

}  // namespace assay::felt

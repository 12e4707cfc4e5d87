#include "harness/execute/soaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "harness/execute/memory.h"
#include "harness/execute/steps.h"
#include "harness/oracle/tolerance.h"
#include "kernels/core/clock.h"
#include "kernels/core/status.h"

namespace assay {

Soaks::Open& Soaks::open(const PlannedTrial& planned, placement::Place& place, Workshop& shop,
                         Result& result) {
  const OpInstance& op = planned.test.op;
  const std::string key = planned.test.id() + " " + place.text();
  if (const auto known = all_.find(key); known != all_.end()) return known->second;
  if (!can_soak(op)) throw std::runtime_error("only products and copies of one device can soak");
  const Passes all = passes(op);
  const auto exact = std::ranges::find_if(all, [&](const Pass& pass) {
    return !pass.has_specials() && oracle::tolerance(pass.rule, op, {}).exact;
  });
  if (exact == all.end()) throw std::runtime_error("no data of this case have exact results");
  const int pass = static_cast<int>(exact - all.begin());

  // Two contents. No skip: a soak that a device cannot take must show.
  const double needed = 2 * host_bytes(op, place.device().is_host());
  if (const auto why = too_little_memory_now(needed)) {
    throw DeviceError(Failure::out_of_memory, *why);
  }
  placement::Place* lane[] = {&place};
  auto trial = std::make_unique<Trial>(op, lane);
  Record& record = result.record;
  record.implementation = trial->implementation();
  record.wrong_algorithms = trial->wrong_algorithms();
  {
    Judge judge(op, shop.options.checks, shop.references, key, shop.clock);
    Work work{.shop = shop,
              .planned = planned,
              .lane = lane,
              .trial = *trial,
              .judge = judge,
              .wait_for_turn = [] {},
              .result = result};
    steps::verify(work);
  }
  SoakContents contents;
  for (std::size_t turn = 0; turn < contents.inputs.size(); ++turn) {
    const std::uint64_t seed = shop.options.seed + turn;
    contents.inputs[turn] = generate_inputs(op, pass, seed, trial->ranks());
    Judge judge(op, shop.options.checks, shop.references, fmt::format("{} soak seed={}", key, seed),
                shop.clock);
    Findings findings;
    std::vector<HostTensor> kept;
    judge.launch(*trial, pass, contents.inputs[turn], findings, kept);
    trial->tensors().output(0).download(contents.right.emplace_back(op.signature.outputs[0]));
  }
  // Not earlier: each judged launch has looked after all sets.
  if (trial->make_sets(2) < 2) {
    throw DeviceError(Failure::out_of_memory, "no memory for a second set of tensors");
  }
  Open opened{
      .verified = record,
      .soak = std::make_unique<Soak>(std::move(trial), place.device(), std::move(contents))};
  return all_.emplace(key, std::move(opened)).first->second;
}

void Soaks::run(const PlannedTrial& planned, placement::Place& place, Workshop& shop,
                Result& result) {
  SoakWork& work = result.soak.emplace();
  const double begin_s = steady_s();
  const std::string device_name = result.record.device_name;
  const std::string stand_in = result.record.stand_in;
  Open& known = open(planned, place, shop, result);
  work.setup_s = steady_s() - begin_s;
  result.record = known.verified;
  identify(result.record, planned, shop.options.seed);
  result.record.device_name = device_name;
  result.record.stand_in = stand_in;
  shop.clock.enter(&PhaseSeconds::execution);
  try {
    known.soak->run(planned.soak_s, shop.options.checks, work);
  } catch (...) {
    all_.clear();  // after an error of the device none of them can be trusted
    throw;
  }
  if (work.wrong_elements == 0 || !shop.options.checks.on(Check::soak)) return;
  throw WrongResult{
      Check::soak, "soak",
      fmt::format("soak: {} wrong elements in {} of the comparisons of {} launches: {}",
                  work.wrong_elements, work.wrong_comparisons, work.launches, work.first_wrong)};
}

}  // namespace assay

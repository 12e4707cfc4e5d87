#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "harness/execute/steps.h"

namespace assay::steps {

void find_yardstick(Work& work) {
  const std::string& id = work.planned.yardstick.case_id;
  placement::Place& place = *work.lane.front();
  Yardsticks& known = work.shop.yardsticks;
  work.yardstick = known.find(id, place.text());
  if (work.yardstick != nullptr) return;
  const PlannedTrial planned{.test = parse_case_id(id), .lane = {place.id()}, .timing = ""};
  if (!Yardsticks::may_keep(planned.test.op, place.device())) return;
  placement::Place* lane[] = {&place};
  auto trial = std::make_unique<Trial>(planned.test.op, lane);
  Judge judge(planned.test.op, work.options().checks, work.shop.references, id, work.shop.clock);
  Result result;
  Work own{.shop = work.shop,
           .planned = planned,
           .lane = lane,
           .trial = *trial,
           .judge = judge,
           .wait_for_turn = work.wait_for_turn,
           .result = result};
  try {
    verify(own);
    arm_for_timing(*trial);
    trial->time_s(1);
    check_last_launch(*trial, own.verified, work.options().checks);
  } catch (const WrongResult& wrong) {
    throw std::runtime_error(fmt::format("its limit, {}, is wrong: {}", id, wrong.reason));
  }
  work.yardstick = &known.keep(id, place.text(), std::move(trial));
}

}  // namespace assay::steps

#include "harness/execute/engine.h"

#include <fmt/format.h>

#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/execute/fill_record.h"
#include "harness/execute/fits_device.h"
#include "harness/execute/memory.h"
#include "harness/execute/steps.h"
#include "harness/placement/device_guard.h"
#include "harness/placement/scenarios/scenario.h"
#include "harness/records/skip_category.h"
#include "kernels/core/status.h"
#include "kernels/core/version.h"

namespace assay {
namespace {

void end_as(Record& record, Status status, const std::string& reason) {
  record.status = status;
  record.reason = reason;
}

void skip(Record& record, SkipCategory category, std::string_view why) {
  end_as(record, Status::skip, skip_reason(category, why));
  record.skip_category = category;
}

/// Makes the trial: its tensors and kernels. If a device lacks memory for them that others hold,
/// leaves it empty and returns why. Kernels of others get no such excuse, nor do launches.
std::string make_trial(std::optional<Trial>& trial, const OpInstance& op,
                       std::span<placement::Place* const> lane, bool has_foreign_kernels) {
  try {
    trial.emplace(op, lane);
    return "";
  } catch (const DeviceError& error) {
    if (error.failure() != Failure::out_of_memory || has_foreign_kernels) throw;
    for (const placement::Place* place : lane) {
      if (place->device().is_host()) continue;
      const auto why = held_by_others(op, place->device().info());
      if (why) return *why + ": " + error.what();
    }
    throw;
  }
}

/// Ends the record as a failure of the device, or as a skip if the device lacks support.
void fail(Record& record, const DeviceError& error) {
  switch (error.failure()) {
    case Failure::not_here:
      return skip(record, SkipCategory::not_here, error.what());
    case Failure::unsupported:
      return skip(record, SkipCategory::unsupported, error.what());
    case Failure::out_of_memory:
      return end_as(record, Status::oom, error.what());
    case Failure::device_lost:
      return end_as(record, Status::device_lost, error.what());
    case Failure::internal:
      return end_as(record, Status::error, error.what());
  }
  __builtin_unreachable();
}

/// Ends the record as a wrong result.
void caught(Record& record, Status status, Check check, const std::string& on,
            const std::string& reason) {
  end_as(record, status, reason);
  record.caught_by = check;
  record.caught_on = on;
}

/// Question that the wrong result of a copy over the bus raises before any about the program: CUDA
/// C++ Programming Guide, "IOMMU on Linux"; NCCL user guide, "PCI Access Control Services (ACS)".
std::string about_bus(const OpInstance& op) {
  const ParamValue* access = op.params.find("access");
  if (op.op->name != "peer_memcpy" || access == nullptr || to_text(*access) != "direct") return "";
  return "; is an IOMMU on, or PCI ACS? Copies between GPUs are then known to go wrong "
         "(docs/cuda.md)";
}

/// Tells of the devices what the parent does not know of a rank's device. One that a module borrows
/// from another backend tells of that one.
void describe_lane(const PlannedTrial& planned, std::span<placement::Place* const> lane,
                   Record& record) {
  record.device_name = lane.front()->device().hardware();
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const DeviceInfo& info = lane[i]->device().info();
    const bool is_own = info.device == to_text(planned.lane[i]);
    if (is_own && !info.stand_in.empty()) record.stand_in = info.stand_in;
  }
}

void describe_kernel(const Trial& trial, Record& record) {
  record.implementation = trial.implementation();
  record.wrong_algorithms = trial.wrong_algorithms();
  record.transport = trial.transport();
}

}  // namespace

void Engine::take(const PlannedTrial& planned, std::span<placement::Place* const> lane,
                  const WaitForTurn& wait_for_turn, Result& result) {
  const OpInstance& op = planned.test.op;
  Record& record = result.record;
  // First: some kernels launch when they are made.
  const placement::Place& first = *lane.front();
  if (const auto large = misfit(op, first.device().info(), first.device().is_host())) {
    return skip(record, large->category, large->why);
  }
  const EngineOptions& options = shop_.options;
  std::optional<Trial> made;
  const std::string lack = make_trial(made, op, lane, options.has_foreign_kernels());
  if (!made) {
    result.leave_worker = true;  // whose own leak it may be
    return skip(record, SkipCategory::too_little_memory, lack);
  }
  Trial& trial = *made;
  describe_kernel(trial, record);
  const double needed = host_bytes(op, lane.front()->device().is_host());
  if (const auto why = too_little_memory_now(needed)) {
    return skip(record, SkipCategory::too_little_memory, *why);
  }
  Judge judge(op, options.checks, shop_.references,
              fmt::format("{} seed={} {}", planned.test.id(), options.seed, version::build_id),
              shop_.clock);
  Work work{.shop = shop_,
            .planned = planned,
            .lane = lane,
            .trial = trial,
            .judge = judge,
            .wait_for_turn = wait_for_turn,
            .result = result};
  take_steps(work);
  describe_kernel(trial, record);           // a scenario knows it only now
  shop_.clock.enter(&PhaseSeconds::setup);  // the trial's memory is released here
  record.status = Status::pass;             // perhaps with a reason: a declared deviation
}

Result Engine::execute(const PlannedTrial& planned, const WaitForTurn& wait_for_turn) {
  const OpInstance& op = planned.test.op;
  Result result;
  Record& record = result.record;
  identify(record, planned, shop_.options.seed);
  record.flops = op.signature.flops;
  record.bytes = op.signature.bytes;
  if (op.op->collective) record.ranks = op.signature.ranks;
  std::vector<placement::Place*> lane;
  try {
    shop_.clock.enter(&PhaseSeconds::setup);
    for (const DeviceId& id : planned.lane) lane.push_back(&devices_.open(id));
    const placement::DeviceGuard current(*lane.front());
    describe_lane(planned, lane, record);
    shop_.yardsticks.make_room(op, lane.front()->device());
    if (planned.soak_s > 0) {
      soaks_.run(planned, *lane.front(), shop_, result);
      record.status = Status::pass;
    } else {
      take(planned, lane, wait_for_turn, result);
    }
  } catch (const WrongResult& wrong) {
    caught(record, Status::fail, wrong.check, wrong.on, wrong.reason + about_bus(op));
    result.leave_worker = wrong.spoiled_process;
  } catch (const placement::ScenarioFailure& broken) {
    caught(record, Status::fail, Check::placement_layer, "", "placement: " + broken.reason);
  } catch (const VacuousResult& nothing_shown) {
    caught(record, Status::vacuous, Check::decoys, "", nothing_shown.reason);
  } catch (const DeviceError& error) {
    fail(record, error);
  } catch (const std::bad_alloc&) {
    end_as(record, Status::oom, "no host memory for the inputs or the reference");
  } catch (const std::exception& error) {
    end_as(record, Status::error, error.what());
  }
  result.references = shop_.references.take_count();
  result.phases = shop_.clock.take();
  return result;
}

}  // namespace assay

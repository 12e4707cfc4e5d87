#pragma once

#include "harness/execute/work.h"

// Steps of a trial; their order is in steps.cpp. A step that finds a wrong result
// throws WrongResult, and none after it runs.
namespace assay {

/// Takes all steps that apply to a trial.
void take_steps(Work& work);

namespace steps {

/// The declared deviation by which launches of the trial may differ; null: they must not.
const Deviation* may_differ(const Work& work);
/// Judges each pass. Leaves the inputs and right outputs of the last one. Fills the record with the
/// findings also when it throws.
void verify(Work& work);
/// Launches again, as often as --soak says; each launch must leave the verified bits.
void launch_repeatedly(Work& work);
/// Looks for writes of kernels of others after their stream has ended.
void find_late_writes(Work& work);
/// Computes rows again in smaller batches. Throws WrongResult if their bits must stay and do not.
void find_batch_invariance(Work& work);
/// Finds the trial that is to be timed in turns with this one, and verifies it before its first
/// use. None without the memory for it. Throws std::runtime_error if its results are wrong.
void find_yardstick(Work& work);
/// Launches once, as timed launches are.
void launch_once_more(Work& work);
/// Draws the inputs of timed launches, on further sets of tensors, and makes their judge.
void lay_timed_inputs(Work& work);
/// Waits until nothing else runs.
void wait_for_turn(Work& work);
/// Measures the power of the trial's devices while nothing runs, once for each lane.
void measure_idle_power(Work& work);
/// Times launches.
void sample(Work& work);
/// Launches once more as a sample does, after which nothing goes on: what is read then had no time
/// to become right.
void launch_for_judge(Work& work);
/// Judges what timed launches left.
void judge_timed_launches(Work& work);
/// Judges what the last launch left: verified bits, or others that are right where a deviation
/// allows them, and nothing outside its outputs.
void judge_last_launch(Work& work);
/// Demands that the times told are those seen. Samples and judges again where the machine's speed
/// has changed.
void check_clock(Work& work);
/// Names in the record what judged later launches, and the deviation by which they may differ.
void tell_of_later_launches(Work& work);
/// Fills the record with times. Not earlier: wrong work has none.
void fill_figures(Work& work);

}  // namespace steps
}  // namespace assay

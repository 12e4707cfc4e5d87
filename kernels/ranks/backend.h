#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "kernels/device/backends.h"
#include "kernels/device/launch_info.h"
#include "kernels/device/process_group.h"

namespace assay::ranks {

/// The device that a rank puts at the job's service.
struct OwnDevice {
  Backend* backend;
  int index;
};
/// A GPU of its own (or another device with its own memory), if every rank has one of the same
/// kind; else all take their CPUs, as no library reduces over both. Called by all ranks. Throws
/// DeviceError where they were not started by the same command.
OwnDevice own_device(ProcessGroup& group, const Backends& backends, const LaunchInfo& info);

/// The ranks of a job as devices mpi:0, mpi:1, ... of rank 0, which drives them all. The job is
/// joined when the first of them is opened, and by one process of rank 0 alone.
std::unique_ptr<Backend> make_backend(const LaunchInfo& info,
                                      std::function<std::unique_ptr<ProcessGroup>()> join,
                                      const Backends& own);

}  // namespace assay::ranks

#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "kernels/device/backends.h"
#include "kernels/device/launch_info.h"
#include "kernels/device/process_group.h"
#include "kernels/remote/server.h"

namespace assay::ranks {

/// The device that a rank contributes to the job.
struct OwnDevice {
  Backend* backend;
  int index;
};
/// Returns a separate GPU (or another device with its own memory) if every rank has one of the same
/// kind. Else all ranks use their CPUs: no library reduces over both. All ranks call it. Throws
/// DeviceError if they were started by different commands.
OwnDevice own_device(ProcessGroup& group, const Backends& backends, const LaunchInfo& info);

/// How a rank serves its device.
remote::Served served(const OwnDevice& own, int rank);

/// Presents the ranks of a job as devices mpi:0, mpi:1, ... of rank 0, which drives them all. The
/// first open joins the job; only one process of rank 0 does so.
std::unique_ptr<Backend> make_backend(const LaunchInfo& info,
                                      std::function<std::unique_ptr<ProcessGroup>()> join,
                                      const Backends& own);

}  // namespace assay::ranks

#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "emulator/machine/fault.h"

namespace emulator {

/// The error by which a fault of a kernel or a copy reaches the host.
cudaError_t error_of(const Fault& fault);

/// The error of all later calls of the process: cudaSuccess until a fault was found.
cudaError_t sticky_error();
/// `report` joins the error's text (cudaGetErrorString) from then on.
void make_sticky(cudaError_t error, const std::string& report = "");

/// The calling thread's last error, which cudaGetLastError tells and clears.
cudaError_t& last_error();

}  // namespace emulator

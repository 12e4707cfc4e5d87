#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/core/file_descriptor.h"
#include "kernels/device/backends.h"
#include "kernels/providers/assay_kernel.h"

// The process in which kernels of others run. It holds the tensors of one launch and nothing else:
// no reference, no expected result, no clock that decides alone.
namespace assay::providers {

/// Ends the process at once.
[[noreturn]] void end_process();

/// Tells the judge at the other end of the socket which process this is, and of some bytes that it
/// must find in its memory. Call it first, before any code of others runs here.
void announce(const FileDescriptor& socket);

/// Tells the judge at the other end of the socket what the table offers, and serves one device that
/// the judge then names, until it leaves. `backends` is called when the device is known. Throws
/// UsageError, after telling the judge too, for an invalid table.
/// `left` is called when the judge has closed its end, and does not return: by default it ends the
/// process.
void serve(FileDescriptor socket, const assay_kernel_table& table,
           const std::function<std::unique_ptr<const Backends>()>& backends,
           const std::function<void()>& left = end_process);

/// Tells the judge why nothing can be served.
void refuse(FileDescriptor socket, const std::string& why);

}  // namespace assay::providers

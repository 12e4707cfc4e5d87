#include "kernels/providers/host.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/status.h"
#include "kernels/ops/defined.h"
#include "kernels/providers/definitions.h"
#include "kernels/providers/own_devices.h"
#include "kernels/providers/provided_kernels.h"
#include "kernels/providers/socket_group.h"
#include "kernels/providers/table.h"
#include "kernels/remote/message.h"
#include "kernels/remote/server.h"

namespace assay::providers {
namespace {

using remote::Reader;
using remote::Writer;

/// Lets the process take as much memory as there is: one that takes more gets none, and no other
/// process is killed for it. GPUs, and sanitizers, reserve more addresses than there is memory.
void limit_memory() {
#ifndef __SANITIZE_ADDRESS__
  const auto kib_of = [](const char* file, std::string_view wanted) -> rlim_t {
    std::ifstream lines(file);
    for (std::string name, rest; lines >> name && std::getline(lines, rest);) {
      if (name == wanted) return std::stoull(rest);
    }
    return RLIM_INFINITY / 4096;
  };
  const rlim_t kib =
      kib_of("/proc/meminfo", "MemAvailable:") + kib_of("/proc/self/status", "VmData:");
  const rlimit limit{kib * 1024, kib * 1024};
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

void tell_refusal(SocketGroup& group, const std::string& why) {
  Writer message;
  group.send(0, message.put(false).put(why).bytes());
}

}  // namespace

void end_process() { _exit(0); }

void announce(const FileDescriptor& socket) {
  static const std::vector<std::byte> sample = [] {
    std::vector<std::byte> bytes(32, std::byte{1});
    if (getrandom(bytes.data(), bytes.size(), 0) < 0) bytes.front() = std::byte{2};
    return bytes;
  }();
  SocketGroup group(FileDescriptor(fcntl(socket.get(), F_DUPFD_CLOEXEC, 3)), 1, end_process);
  Writer message;
  message.put(getpid()).put(remote::address(sample.data())).put(std::span<const std::byte>(sample));
  group.send(0, message.bytes());
  // Waits: code that is loaded next could hide the sample.
  if (const auto definitions = group.receive(0); !definitions.empty()) {
    define_ops(read_definitions(definitions));
  }
}

void refuse(FileDescriptor socket, const std::string& why) {
  SocketGroup group(std::move(socket), 1, end_process);
  tell_refusal(group, why);
}

void serve(FileDescriptor socket, const assay_kernel_table& table,
           const std::function<std::unique_ptr<const Backends>()>& backends,
           const std::function<void()>& left) {
  SocketGroup group(std::move(socket), 1, left);
  Writer hello;
  try {
    const Offers offers = read_offers(table);
    hello.put(true).put(offers.name).put(offers.ops.size());
    for (const Offer& offer : offers.ops) {
      hello.put(offer.op).put(offer.formats.size());
      for (const Format format : offer.formats) hello.put(std::string(name(format)));
      hello.put(offer.takes_views);
    }
    const std::vector<OwnDevice> devices = read_own_devices(table);
    hello.put(devices.size());
    for (const OwnDevice& device : devices) hello.put(device.kind).put(device.name);
  } catch (const UsageError& error) {
    tell_refusal(group, error.what());
    throw;
  }
  group.send(0, hello.bytes());

  const auto wanted = group.receive(0);
  Reader reader(wanted);
  const std::string kind = reader.text();
  const auto all = backends();
  Backend* backend = all->find(kind);
  const auto own = own_backend(table, kind);
  if (backend == nullptr) backend = own.get();
  const int index = reader.get<int>();
  if (backend->open(index)->is_host()) limit_memory();
  ProvidedKernels kernels(table);
  remote::serve(group,
                {.backend = *backend,
                 .index = index,
                 .prepare = [&](Device& device, const OpInstance& op, const Binding& binding) {
                   return kernels.prepare(device, op, binding);
                 }});
}

}  // namespace assay::providers

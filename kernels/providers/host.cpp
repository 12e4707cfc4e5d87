#include "kernels/providers/host.h"

#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/providers/provided_kernels.h"
#include "kernels/providers/socket_group.h"
#include "kernels/providers/table.h"
#include "kernels/remote/message.h"
#include "kernels/remote/server.h"

namespace assay::providers {
namespace {

using remote::Reader;
using remote::Writer;

void tell_refusal(SocketGroup& group, const std::string& why) {
  Writer message;
  group.send(0, message.put(false).put(why).bytes());
}

}  // namespace

void end_process() { _exit(0); }

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
    for (const Offer& offer : offers.ops) hello.put(offer.op).put(offer.dtypes);
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
  if (backend == nullptr) {
    throw std::runtime_error("the process of the kernels has no backend " + kind);
  }
  ProvidedKernels kernels(table);
  remote::serve(group,
                {.backend = *backend,
                 .index = reader.get<int>(),
                 .prepare = [&](Device& device, const OpInstance& op, const Binding& binding) {
                   return kernels.prepare(device, op, binding);
                 }});
}

}  // namespace assay::providers

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emulator/runtime/cluster_launch.h"
#include "emulator/runtime/functions.h"
#include "emulator/runtime/graph_work.h"
#include "emulator/runtime/lacking.h"
#include "emulator/runtime/limits.h"
#include "emulator/runtime/streams.h"
#include "emulator/runtime/watchdog.h"
#include "emulator/runtime/work.h"

namespace emulator {
namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
  bool is_cooperative = false;
  std::optional<dim3> cluster = std::nullopt;  // in blocks
};

/// Configurations that `<<<...>>>` has pushed and the stub of the kernel has not yet popped.
std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> pushed;
  return pushed;
}

/// Copies the arguments into a block of parameters.
std::vector<std::byte> parameter_block(std::span<const Program::Parameter> parameters,
                                       void* const* arguments) {
  std::vector<std::byte> block;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto [offset, bytes] = parameters[i];
    block.resize(std::max(block.size(), offset + bytes));
    std::memcpy(block.data() + offset, arguments[i], bytes);
  }
  return block;
}

/// cooperative_groups::grid_workspace for one launch: its size and the word of its barrier.
class GridWorkspace {
 public:
  GridWorkspace(Memory& memory, int gpu) : memory_(memory), address_(memory.allocate(gpu, bytes)) {
    if (address_ == 0)
      throw Fault(FaultKind::undefined, "no memory for the barrier of a cooperative launch");
    const std::uint32_t words[] = {bytes, 0};
    std::memcpy(memory.view(address_, bytes, Access::write, host, "cooperative launch"), words,
                bytes);
  }
  ~GridWorkspace() { memory_.release(address_); }
  GridWorkspace(const GridWorkspace&) = delete;
  GridWorkspace& operator=(const GridWorkspace&) = delete;
  std::uintptr_t address() const { return address_; }

 private:
  static constexpr std::uint32_t bytes = 8;
  Memory& memory_;
  const std::uintptr_t address_;
};

/// Numbers a launch that begins, and finds what no stream orders it with.
void begin(Process& p, Launch& launch, const std::string& name) {
  const Lock lock(p.mutex);
  launch.number = p.memory.next_launch();
  launch.told_host = std::make_shared<std::atomic<bool>>(false);
  launch.unordered = p.scheduler.memory_uses().begin_launch(
      Scheduler::running_position(), launch.number, "kernel " + name, launch.told_host);
}

void run(Program& program, const GpuModel& model, Memory& memory, const Settings& settings,
         Launch launch, bool is_cooperative) {
  std::optional<GridWorkspace> workspace;
  if (is_cooperative) launch.grid_workspace = workspace.emplace(memory, launch.gpu).address();
  const std::uint64_t before = executed_lane_instructions();
  execute(program, launch, model, memory, settings);
  const std::uint64_t executed = executed_lane_instructions() - before;
  check_watchdog(model, issue_time_s(model, executed), "kernel " + launch.kernel);
}

/// All blocks of a cooperative launch have to be resident at once.
bool is_too_large(const Configuration& c, const KernelFacts& facts, const GpuModel& model) {
  const auto blocks = std::uint64_t{c.grid.x} * c.grid.y * c.grid.z;
  const std::size_t threads = std::size_t{c.block.x} * c.block.y * c.block.z;
  const int resident = resident_blocks(threads, c.shared_bytes, facts, model);
  return c.is_cooperative && blocks > static_cast<std::uint64_t>(resident) *
                                          static_cast<std::uint64_t>(model.multiprocessors);
}

/// What a graph keeps of a launch.
std::shared_ptr<const NodeDetails> details_of(const Function& function, const Configuration& c,
                                              std::span<const Program::Parameter> parameters,
                                              void* const* arguments) {
  KernelNode kernel{};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto* begin = static_cast<const std::byte*>(arguments[i]);
    kernel.values.emplace_back(begin, begin + parameters[i].bytes);
  }
  auto details =
      std::make_shared<NodeDetails>(NodeDetails{cudaGraphNodeTypeKernel, std::move(kernel)});
  auto& kept = std::get<KernelNode>(details->parameters);
  for (auto& value : kept.values) kept.arguments.push_back(value.data());
  kept.is_cooperative = c.is_cooperative;
  kept.cluster = c.cluster;
  kept.parameters.func = const_cast<void*>(function.host_function);
  kept.parameters.gridDim = c.grid;
  kept.parameters.blockDim = c.block;
  kept.parameters.sharedMemBytes = static_cast<unsigned>(c.shared_bytes);
  kept.parameters.kernelParams = kept.arguments.data();
  return details;
}

/// The launch as work of the current device.
cudaError_t make_work(Process& p, const void* symbol, const Configuration& c,
                      void* const* arguments, bool is_for_graph, Work& work) {
  std::shared_ptr<Function> function;
  if (const cudaError_t e = find_function(p, symbol, function); e != cudaSuccess) return e;
  const int gpu = current_gpu(p);
  const GpuModel& model = p.devices.model(gpu);
  const std::shared_ptr<Program> program = function->code->program;
  const KernelFacts& facts = program->facts(function->name);
  const cudaError_t refusal = check_limits(
      {c.grid, c.block, c.shared_bytes, max_dynamic_shared_bytes(*function, facts, model)}, facts,
      model);
  if (refusal != cudaSuccess) return refusal;
  Dim3 cluster;
  if (const cudaError_t e = choose_cluster(*function, facts, model, c.grid, c.cluster, cluster);
      e != cudaSuccess)
    return e;
  if (is_too_large(c, facts, model)) return cudaErrorCooperativeLaunchTooLarge;
  const auto parameters = program->parameters(function->name);
  if (!parameters.empty() && arguments == nullptr) return cudaErrorInvalidValue;
  Launch launch{.kernel = function->name,
                .grid = {c.grid.x, c.grid.y, c.grid.z},
                .block = {c.block.x, c.block.y, c.block.z},
                .cluster = cluster,
                .dynamic_shared_bytes = c.shared_bytes,
                .parameters = parameter_block(parameters, arguments),
                .gpu = gpu,
                .stack_bytes = p.stack_bytes(current_device()),
                .images = p.images,
                .heap = &p.heap_of(current_device())};
  Settings settings = p.settings;
  settings.seed = p.scheduler.random()();
  work.name = "kernel " + function->name;
  work.step = [&p, program, &model, settings, launch = std::move(launch),
               is_cooperative = c.is_cooperative]() mutable {
    begin(p, launch, program->facts(launch.kernel).demangled);
    run(*program, model, p.memory, settings, launch, is_cooperative);
    return Progress::done;
  };
  if (is_for_graph) work.node = details_of(*function, c, parameters, arguments);
  return cudaSuccess;
}

cudaError_t launch(const void* symbol, const Configuration& c, void* const* arguments) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto stream = find_stream(p, c.stream);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    Work work;
    const bool is_for_graph = stream->front.capture != nullptr;
    const cudaError_t error = make_work(p, symbol, c, arguments, is_for_graph, work);
    if (error != cudaSuccess) return error;
    // Programming guide: a launch fails if its stream is not of the current device.
    if (stream->device != current_device()) return cudaErrorInvalidResourceHandle;
    return submit(p, *stream, std::move(work));
  });
}

/// Says which attributes of a launch change nothing that can be seen: a hint, or a permission that
/// need not be used.
bool is_harmless(const cudaLaunchAttribute& attribute) {
  return attribute.id == cudaLaunchAttributeIgnore || attribute.id == cudaLaunchAttributePriority ||
         attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization ||
         attribute.id == cudaLaunchAttributeClusterSchedulingPolicyPreference;
}

}  // namespace

cudaError_t make_kernel_work(Process& p, const cudaKernelNodeParams& parameters, Work& work) {
  if (parameters.extra != nullptr) {
    say("a kernel node with arguments in one buffer (`extra`) is not emulated");
    return cudaErrorNotSupported;
  }
  Configuration c{parameters.gridDim, parameters.blockDim, parameters.sharedMemBytes, nullptr};
  const auto* before =
      work.node == nullptr ? nullptr : std::get_if<KernelNode>(&work.node->parameters);
  if (before != nullptr) {
    c.is_cooperative = before->is_cooperative;
    c.cluster = before->cluster;
  }
  return make_work(p, parameters.func, c, parameters.kernelParams, true, work);
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return launch(function, {grid, block, shared_bytes, stream}, arguments);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  if (config == nullptr) return last_error() = cudaErrorInvalidValue;
  Configuration c{config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream};
  for (const cudaLaunchAttribute& attribute : std::span(config->attrs, config->numAttrs)) {
    if (is_harmless(attribute)) continue;
    if (attribute.id == cudaLaunchAttributeCooperative) {
      c.is_cooperative = attribute.val.cooperative != 0;
      continue;
    }
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      const auto& cluster = attribute.val.clusterDim;
      c.cluster = dim3(cluster.x, cluster.y, cluster.z);
      continue;
    }
    say_lacking("launch attribute " + std::to_string(static_cast<int>(attribute.id)) +
                " is not emulated");
    return last_error() = cudaErrorNotSupported;
  }
  return launch(function, c, arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared_bytes,
                                        cudaStream_t stream) {
  return launch(function, {grid, block, shared_bytes, stream, true}, arguments);
}

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     CUstream_st* stream) {
  configurations().push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream) {
  if (configurations().empty()) return last_error() = cudaErrorMissingConfiguration;
  const Configuration c = configurations().back();
  configurations().pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared_bytes = c.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = c.stream;
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return launch(kernel, {grid, block, shared_bytes, stream}, arguments);
}

}  // extern "C"

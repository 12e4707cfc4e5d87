#include <functional>
#include <span>
#include <utility>

#include "emulator/runtime/graph_calls.h"
#include "emulator/runtime/graph_handles.h"
#include "emulator/runtime/graph_work.h"
#include "emulator/runtime/say.h"

// Nodes and edges that the program adds to a graph, and takes from it.
namespace emulator {

cudaError_t refuse_edges(const cudaGraphEdgeData* data, std::size_t count) {
  if (data == nullptr) return cudaSuccess;
  for (const cudaGraphEdgeData& edge : std::span(data, count)) {
    if (edge.to_port != 0) return cudaErrorInvalidValue;
    if (edge.from_port == 0 && edge.type == cudaGraphDependencyTypeDefault) continue;
    say("programmatic edges of graphs are not emulated");
    return cudaErrorNotSupported;
  }
  return cudaSuccess;
}

cudaError_t find_nodes(const Process& p, const Graph& graph, const cudaGraphNode_t* handles,
                       const cudaGraphEdgeData* data, std::size_t count, NodeSet& nodes) {
  if (handles == nullptr && count > 0) return cudaErrorInvalidValue;
  for (const cudaGraphNode_t handle : std::span(handles, count)) {
    const auto node = p.graph_nodes.find(handle);
    const bool is_new = node != nullptr && node->graph == &graph && nodes.insert(node.get()).second;
    if (!is_new) return cudaErrorInvalidValue;
  }
  return refuse_edges(data, count);
}

namespace {

/// Adds a node whose work `make` makes.
cudaError_t add_node(cudaGraphNode_t* handle, cudaGraph_t graph_handle,
                     const cudaGraphNode_t* dependencies, std::size_t count,
                     const std::function<cudaError_t(Process&, Work&)>& make) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.graphs.find(graph_handle);
    NodeSet after;
    if (handle == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    cudaError_t error = find_nodes(p, *graph, dependencies, nullptr, count, after);
    if (error != cudaSuccess) return error;
    Work work;
    error = make(p, work);
    if (error != cudaSuccess) return error;
    *handle = handle_of(p, graph->add(std::move(work), std::move(after)));
    return cudaSuccess;
  });
}

cudaError_t change_edges(cudaGraph_t graph_handle, const cudaGraphNode_t* from,
                         const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                         std::size_t count, bool adds) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.graphs.find(graph_handle);
    if (graph == nullptr || (count > 0 && (from == nullptr || to == nullptr)))
      return cudaErrorInvalidValue;
    if (const cudaError_t error = refuse_edges(data, count); error != cudaSuccess) return error;
    for (std::size_t i = 0; i < count; ++i) {
      const auto first = p.graph_nodes.find(from[i]), second = p.graph_nodes.find(to[i]);
      if (first == nullptr || second == nullptr || first->graph != graph.get() ||
          second->graph != graph.get() || first == second) {
        return cudaErrorInvalidValue;
      }
      const bool is_changed =
          adds ? second->after.insert(first.get()).second : second->after.erase(first.get()) > 0;
      if (!is_changed) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

/// Memory of the graph.
cudaError_t make_allocation_work(Process& p, cudaMemAllocNodeParams& parameters, Work& work) {
  const cudaMemLocation& location = parameters.poolProps.location;
  if (parameters.bytesize == 0 || parameters.poolProps.allocType != cudaMemAllocationTypePinned ||
      parameters.poolProps.handleTypes != cudaMemHandleTypeNone ||
      location.type != cudaMemLocationTypeDevice || !p.devices.is_ordinal(location.id)) {
    return cudaErrorInvalidValue;
  }
  const int gpu = p.devices.gpu(location.id);
  GpuSet users = GpuSet{1} << gpu;
  for (const auto& access : std::span(parameters.accessDescs, parameters.accessDescCount)) {
    if (access.location.type != cudaMemLocationTypeDevice ||
        !p.devices.is_ordinal(access.location.id)) {
      return cudaErrorInvalidValue;
    }
    users |= GpuSet{1} << p.devices.gpu(access.location.id);
  }
  const std::uintptr_t address = p.memory.allocate_pooled(gpu, parameters.bytesize, users);
  if (address == 0) return cudaErrorMemoryAllocation;
  const auto memory = std::make_shared<GraphMemory>(p.memory, address);
  p.pools.graph_memories[address] = memory;
  parameters.dptr = reinterpret_cast<void*>(address);
  work.name = "an allocation of a graph";
  work.step = [memory] {
    memory->begin();
    return Progress::done;
  };
  work.node = std::make_shared<NodeDetails>(NodeDetails{cudaGraphNodeTypeMemAlloc, parameters});
  return cudaSuccess;
}

}  // namespace

Work empty_work() {
  Work work{"an empty node", [] { return Progress::done; }};
  work.node = std::make_shared<NodeDetails>(NodeDetails{cudaGraphNodeTypeEmpty});
  return work;
}

cudaError_t make_event_work(Process& p, cudaGraphNodeType type, cudaEvent_t event, Work& work) {
  if (p.events.find(event) == nullptr) return cudaErrorInvalidResourceHandle;
  work = empty_work();  // each launch has a step of its own
  work.node = std::make_shared<NodeDetails>(NodeDetails{type, event});
  return cudaSuccess;
}

}  // namespace emulator

using namespace emulator;

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return add_node(node, graph, dependencies, count, [&](Process& p, Work& work) {
    return parameters == nullptr ? cudaErrorInvalidValue : make_kernel_work(p, *parameters, work);
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return add_node(node, graph, dependencies, count, [&](Process& p, Work& work) {
    return parameters == nullptr ? cudaErrorInvalidValue : make_copy_work(p, *parameters, work);
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = parameters_of_copy(to, from, bytes, kind);
  return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &parameters);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* parameters) {
  return add_node(node, graph, dependencies, count, [&](Process& p, Work& work) {
    return parameters == nullptr ? cudaErrorInvalidValue : make_memset_work(p, *parameters, work);
  });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  return add_node(node, graph, dependencies, count, [&](Process&, Work& work) {
    return parameters == nullptr ? cudaErrorInvalidValue : make_host_work(*parameters, work);
  });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  return add_node(node, graph, dependencies, count, [](Process&, Work& work) {
    work = empty_work();
    return cudaSuccess;
  });
}

/// The node has a clone of the graph.
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child_handle) {
  return add_node(node, graph, dependencies, count, [&](Process& p, Work& work) {
    const auto child = p.graphs.find(child_handle);
    if (child == nullptr) return cudaErrorInvalidValue;
    auto clone = child->clone();
    clone->is_child = true;
    work = empty_work();
    work.node =
        std::make_shared<NodeDetails>(NodeDetails{cudaGraphNodeTypeGraph, std::move(clone)});
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, std::size_t count,
                                        cudaEvent_t event) {
  return add_node(node, graph, dependencies, count, [&](Process& p, Work& work) {
    return make_event_work(p, cudaGraphNodeTypeEventRecord, event, work);
  });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                      cudaEvent_t event) {
  return add_node(node, graph, dependencies, count, [&](Process& p, Work& work) {
    return make_event_work(p, cudaGraphNodeTypeWaitEvent, event, work);
  });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  return add_node(node, graph, dependencies, count, [&](Process& p, Work& work) {
    return parameters == nullptr ? cudaErrorInvalidValue
                                 : make_allocation_work(p, *parameters, work);
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                    void* address) {
  return add_node(node, graph, dependencies, count, [&](Process& p, Work& work) {
    const auto memory = p.pools.graph_memory(reinterpret_cast<std::uintptr_t>(address));
    if (memory == nullptr) return cudaErrorInvalidValue;
    work.name = "a free of a graph";
    work.step = [memory] {
      memory->end();
      return Progress::done;
    };
    work.node = std::make_shared<NodeDetails>(NodeDetails{cudaGraphNodeTypeMemFree, address});
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto node = p.graph_nodes.find(handle);
    if (node == nullptr) return cudaErrorInvalidValue;
    forget_handles(p, *node);
    node->graph->remove(*node);
    return cudaSuccess;
  });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     std::size_t count) {
  return change_edges(graph, from, to, data, count, true);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                        std::size_t count) {
  return change_edges(graph, from, to, data, count, false);
}
#else
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count) {
  return change_edges(graph, from, to, nullptr, count, true);
}

cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                        std::size_t count) {
  return change_edges(graph, from, to, data, count, true);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, std::size_t count) {
  return change_edges(graph, from, to, nullptr, count, false);
}

cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                           const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                           std::size_t count) {
  return change_edges(graph, from, to, data, count, false);
}
#endif

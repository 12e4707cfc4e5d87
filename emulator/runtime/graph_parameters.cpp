#include <algorithm>
#include <functional>
#include <utility>

#include "emulator/runtime/graph_handles.h"
#include "emulator/runtime/graph_work.h"

// What nodes do, asked for and changed: in a graph, and in one that has been instantiated.
namespace emulator {
namespace {

/// Copies what the node was given.
template <class T>
cudaError_t get_parameters(cudaGraphNode_t handle, cudaGraphNodeType type, T* to) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto node = p.graph_nodes.find(handle);
    if (node == nullptr || to == nullptr || node->type() != type) return cudaErrorInvalidValue;
    const T* parameters = node->parameters<T>();
    if (parameters == nullptr) return cudaErrorNotSupported;
    *to = *parameters;
    return cudaSuccess;
  });
}

using MakeWork = std::function<cudaError_t(Process&, Work&)>;

cudaError_t set_parameters(cudaGraphNode_t handle, cudaGraphNodeType type, const MakeWork& make) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto node = p.graph_nodes.find(handle);
    if (node == nullptr || node->type() != type) return cudaErrorInvalidValue;
    Work work;
    if (type == cudaGraphNodeTypeKernel) work.node = node->work.node;
    if (const cudaError_t error = make(p, work); error != cudaSuccess) return error;
    node->work = std::move(work);
    return cudaSuccess;
  });
}

/// Calls `body` with the node of an executable graph that was made from a node of a graph.
template <class Body>
cudaError_t with_executable_node(cudaGraphExec_t graph_handle, cudaGraphNode_t handle,
                                 const Body& body) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.executable_graphs.find(graph_handle);
    const auto node = p.graph_nodes.find(handle);
    if (graph == nullptr || node == nullptr) return cudaErrorInvalidValue;
    const auto found = std::ranges::find(graph->nodes, node->id, &ExecutableNode::origin);
    return found == graph->nodes.end() ? cudaErrorInvalidValue : body(p, *node, *found);
  });
}

cudaError_t set_parameters(cudaGraphExec_t graph, cudaGraphNode_t handle, cudaGraphNodeType type,
                           const MakeWork& make) {
  return with_executable_node(graph, handle,
                              [&](Process& p, const GraphNode& node, ExecutableNode& executable) {
                                if (node.type() != type) return cudaErrorInvalidValue;
                                Work work;
                                if (type == cudaGraphNodeTypeKernel) work.node = node.work.node;
                                if (const cudaError_t error = make(p, work); error != cudaSuccess)
                                  return error;
                                executable.work = std::move(work);
                                return cudaSuccess;
                              });
}

MakeWork kernel_maker(const cudaKernelNodeParams* parameters) {
  return [=](Process& p, Work& work) {
    return parameters == nullptr ? cudaErrorInvalidValue : make_kernel_work(p, *parameters, work);
  };
}

MakeWork copy_maker(const cudaMemcpy3DParms* parameters) {
  return [=](Process& p, Work& work) {
    return parameters == nullptr ? cudaErrorInvalidValue : make_copy_work(p, *parameters, work);
  };
}

MakeWork memset_maker(const cudaMemsetParams* parameters) {
  return [=](Process& p, Work& work) {
    return parameters == nullptr ? cudaErrorInvalidValue : make_memset_work(p, *parameters, work);
  };
}

MakeWork host_maker(const cudaHostNodeParams* parameters) {
  return [=](Process&, Work& work) {
    return parameters == nullptr ? cudaErrorInvalidValue : make_host_work(*parameters, work);
  };
}

MakeWork event_maker(cudaGraphNodeType type, cudaEvent_t event) {
  return [=](Process& p, Work& work) { return make_event_work(p, type, event, work); };
}

}  // namespace
}  // namespace emulator

using namespace emulator;

/// The arguments are the node's own, until it is changed or destroyed.
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t handle, cudaKernelNodeParams* to) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto node = p.graph_nodes.find(handle);
    if (node == nullptr || to == nullptr || node->type() != cudaGraphNodeTypeKernel)
      return cudaErrorInvalidValue;
    const auto* kernel = node->parameters<KernelNode>();
    if (kernel == nullptr) return cudaErrorNotSupported;  // a library's
    *to = kernel->parameters;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  return set_parameters(node, cudaGraphNodeTypeKernel, kernel_maker(parameters));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return set_parameters(graph, node, cudaGraphNodeTypeKernel, kernel_maker(parameters));
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  return get_parameters(node, cudaGraphNodeTypeMemcpy, parameters);
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* parameters) {
  return set_parameters(node, cudaGraphNodeTypeMemcpy, copy_maker(parameters));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  return set_parameters(graph, node, cudaGraphNodeTypeMemcpy, copy_maker(parameters));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = parameters_of_copy(to, from, bytes, kind);
  return cudaGraphMemcpyNodeSetParams(node, &parameters);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t graph, cudaGraphNode_t node,
                                               void* to, const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  const cudaMemcpy3DParms parameters = parameters_of_copy(to, from, bytes, kind);
  return cudaGraphExecMemcpyNodeSetParams(graph, node, &parameters);
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  return get_parameters(node, cudaGraphNodeTypeMemset, parameters);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  return set_parameters(node, cudaGraphNodeTypeMemset, memset_maker(parameters));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  return set_parameters(graph, node, cudaGraphNodeTypeMemset, memset_maker(parameters));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  return get_parameters(node, cudaGraphNodeTypeHost, parameters);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return set_parameters(node, cudaGraphNodeTypeHost, host_maker(parameters));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  return set_parameters(graph, node, cudaGraphNodeTypeHost, host_maker(parameters));
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get_parameters(node, cudaGraphNodeTypeEventRecord, event);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  constexpr auto type = cudaGraphNodeTypeEventRecord;
  return set_parameters(node, type, event_maker(type, event));
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  constexpr auto type = cudaGraphNodeTypeEventRecord;
  return set_parameters(graph, node, type, event_maker(type, event));
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return get_parameters(node, cudaGraphNodeTypeWaitEvent, event);
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  constexpr auto type = cudaGraphNodeTypeWaitEvent;
  return set_parameters(node, type, event_maker(type, event));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t graph, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  constexpr auto type = cudaGraphNodeTypeWaitEvent;
  return set_parameters(graph, node, type, event_maker(type, event));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* parameters) {
  return get_parameters(node, cudaGraphNodeTypeMemAlloc, parameters);
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* address) {
  return get_parameters(node, cudaGraphNodeTypeMemFree, static_cast<void**>(address));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t handle, cudaGraph_t* graph) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto node = p.graph_nodes.find(handle);
    if (node == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    const auto* child = node->parameters<std::shared_ptr<Graph>>();
    if (child == nullptr) return cudaErrorInvalidValue;
    *graph = handle_of(p, *child);
    return cudaSuccess;
  });
}

/// Only kernels, copies and memsets can be left out.
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t graph, cudaGraphNode_t handle,
                                    unsigned is_enabled) {
  return with_executable_node(graph, handle,
                              [&](Process&, const GraphNode& node, ExecutableNode& executable) {
                                if (node.type() > cudaGraphNodeTypeMemset)
                                  return cudaErrorInvalidValue;
                                executable.is_enabled = is_enabled != 0;
                                return cudaSuccess;
                              });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t graph, cudaGraphNode_t handle,
                                    unsigned* is_enabled) {
  return with_executable_node(
      graph, handle, [&](Process&, const GraphNode& node, const ExecutableNode& executable) {
        if (is_enabled == nullptr || node.type() > cudaGraphNodeTypeMemset)
          return cudaErrorInvalidValue;
        *is_enabled = executable.is_enabled ? 1 : 0;
        return cudaSuccess;
      });
}

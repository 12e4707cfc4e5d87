#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "emulator/runtime/graph_calls.h"
#include "emulator/runtime/graph_handles.h"

// Nodes and edges of a graph, asked for and drawn.
namespace emulator {
namespace {

/// Writes handles to an array as long as `count` says, and null behind the last; without an array
/// only tells how many there are.
cudaError_t tell(Process& p, const std::vector<GraphNode*>& nodes, cudaGraphNode_t* to,
                 std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (to == nullptr) {
    *count = nodes.size();
    return cudaSuccess;
  }
  for (std::size_t i = 0; i < *count; ++i)
    to[i] = i < nodes.size() ? handle_of(p, *nodes[i]) : nullptr;
  *count = std::min(*count, nodes.size());
  return cudaSuccess;
}

template <class Matches>
cudaError_t tell_nodes(cudaGraph_t handle, cudaGraphNode_t* to, std::size_t* count,
                       const Matches& matches) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.graphs.find(handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    std::vector<GraphNode*> found;
    for (const auto& node : graph->nodes)
      if (matches(*node)) found.push_back(node.get());
    return tell(p, found, to, count);
  });
}

cudaError_t tell_edges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                       cudaGraphEdgeData* data, std::size_t* count) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.graphs.find(handle);
    if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr))
      return cudaErrorInvalidValue;
    std::vector<GraphNode*> first, second;
    for (const auto& node : graph->nodes)
      for (GraphNode* before : node->after) {
        first.push_back(before);
        second.push_back(node.get());
      }
    if (from == nullptr) {
      *count = first.size();
      return cudaSuccess;
    }
    if (data != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
    std::size_t same = *count;
    tell(p, first, from, &same);
    return tell(p, second, to, count);
  });
}

/// Nodes before or behind a node.
cudaError_t tell_neighbours(cudaGraphNode_t handle, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                            std::size_t* count, bool are_before) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto node = p.graph_nodes.find(handle);
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    std::vector<GraphNode*> found;
    if (are_before) found.assign(node->after.begin(), node->after.end());
    for (const auto& other : node->graph->nodes)
      if (!are_before && other->after.contains(node.get())) found.push_back(other.get());
    if (data != nullptr && to != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
    return tell(p, found, to, count);
  });
}

const char* name_of(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "KERNEL";
    case cudaGraphNodeTypeMemcpy:
      return "MEMCPY";
    case cudaGraphNodeTypeMemset:
      return "MEMSET";
    case cudaGraphNodeTypeHost:
      return "HOST";
    case cudaGraphNodeTypeGraph:
      return "GRAPH";
    case cudaGraphNodeTypeEmpty:
      return "EMPTY";
    case cudaGraphNodeTypeWaitEvent:
      return "EVENT_WAIT";
    case cudaGraphNodeTypeEventRecord:
      return "EVENT_RECORD";
    case cudaGraphNodeTypeMemAlloc:
      return "MEM_ALLOC";
    case cudaGraphNodeTypeMemFree:
      return "MEM_FREE";
    default:
      return "NODE";
  }
}

/// Adds the nodes and edges of the graph to a text in the language of Graphviz.
void draw(const Graph& graph, unsigned flags, std::string& text) {
  for (const auto& node : graph.nodes) {
    const bool has_parameters =
        (flags & (cudaGraphDebugDotFlagsVerbose | cudaGraphDebugDotFlagsKernelNodeParams)) != 0;
    std::string label = fmt::format("{}\\n{}", name_of(node->type()), node->work.name);
    if (const auto* kernel = node->parameters<KernelNode>(); kernel != nullptr && has_parameters) {
      const auto& [grid, block] =
          std::pair{kernel->parameters.gridDim, kernel->parameters.blockDim};
      label += fmt::format("\\n<<<({},{},{}), ({},{},{}), {}>>>", grid.x, grid.y, grid.z, block.x,
                           block.y, block.z, kernel->parameters.sharedMemBytes);
    }
    text += fmt::format("  node_{} [label=\"{}\"];\n", node->id, label);
    for (const GraphNode* before : node->after)
      text += fmt::format("  node_{} -> node_{};\n", before->id, node->id);
    if (const auto* child = node->parameters<std::shared_ptr<Graph>>()) {
      text += fmt::format("  subgraph cluster_{} {{\n", node->id);
      draw(**child, flags, text);
      text += "  }\n";
    }
  }
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return tell_nodes(graph, nodes, count, [](const GraphNode&) { return true; });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return tell_nodes(graph, nodes, count, [](const GraphNode& node) { return node.after.empty(); });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto node = p.graph_nodes.find(handle);
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = node->type();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original_handle,
                                     cudaGraph_t clone_handle) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto original = p.graph_nodes.find(original_handle);
    const auto clone = p.graphs.find(clone_handle);
    if (found == nullptr || original == nullptr || clone == nullptr) return cudaErrorInvalidValue;
    for (const auto& node : clone->nodes)
      if (node->original == original->id) {
        *found = handle_of(p, *node);
        return cudaSuccess;
      }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.graphs.find(handle);
    if (graph == nullptr || path == nullptr) return cudaErrorInvalidValue;
    std::string text = "digraph dot {\n";
    draw(*graph, flags, text);
    text += "}\n";
    std::FILE* file = std::fopen(path, "w");
    if (file == nullptr) return cudaErrorOperatingSystem;
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && is_written ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, std::size_t* count) {
  return tell_edges(graph, from, to, data, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* to,
                                         cudaGraphEdgeData* data, std::size_t* count) {
  return tell_neighbours(node, to, data, count, true);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* to,
                                           cudaGraphEdgeData* data, std::size_t* count) {
  return tell_neighbours(node, to, data, count, false);
}
#else
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              std::size_t* count) {
  return tell_edges(graph, from, to, nullptr, count);
}

cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                 cudaGraphEdgeData* data, std::size_t* count) {
  return tell_edges(graph, from, to, data, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* to,
                                         std::size_t* count) {
  return tell_neighbours(node, to, nullptr, count, true);
}

cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t* to,
                                            cudaGraphEdgeData* data, std::size_t* count) {
  return tell_neighbours(node, to, data, count, true);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* to,
                                           std::size_t* count) {
  return tell_neighbours(node, to, nullptr, count, false);
}

cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t* to,
                                              cudaGraphEdgeData* data, std::size_t* count) {
  return tell_neighbours(node, to, data, count, false);
}
#endif

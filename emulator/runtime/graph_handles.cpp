#include "emulator/runtime/graph_handles.h"

#include <algorithm>

namespace emulator {

cudaGraph_t handle_of(Process& p, const std::shared_ptr<Graph>& graph) {
  if (graph->handle == nullptr) graph->handle = p.graphs.add(graph);
  return graph->handle;
}

cudaGraphNode_t handle_of(Process& p, GraphNode& node) {
  if (node.handle == nullptr) {
    const auto owner = std::ranges::find_if(node.graph->nodes,
                                            [&](const auto& each) { return each.get() == &node; });
    node.handle = p.graph_nodes.add(*owner);
  }
  return node.handle;
}

void forget_handles(Process& p, const Graph& graph) {
  for (const auto& node : graph.nodes) forget_handles(p, *node);
  if (graph.handle != nullptr) p.graphs.remove(graph.handle);
}

void forget_handles(Process& p, const GraphNode& node) {
  if (const auto* child = node.parameters<std::shared_ptr<Graph>>()) forget_handles(p, **child);
  if (node.handle != nullptr) p.graph_nodes.remove(node.handle);
}

}  // namespace emulator

#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "emulator/runtime/scheduler.h"

namespace emulator {

struct Graph;
struct GraphNode;

/// A kernel of a graph, with arguments of its own: those of the parameters point to `values`.
struct KernelNode {
  cudaKernelNodeParams parameters;
  std::vector<std::vector<std::byte>> values;
  std::vector<void*> arguments;
  // Of its launch; they stay when the parameters change.
  bool is_cooperative = false;
  std::optional<dim3> cluster = std::nullopt;
};

/// What the program can ask about a node. Nodes that libraries have made are kernels without
/// parameters.
struct NodeDetails {
  cudaGraphNodeType type;
  std::variant<std::monostate, KernelNode, cudaMemcpy3DParms, cudaMemsetParams, cudaHostNodeParams,
               cudaEvent_t, std::shared_ptr<Graph>, cudaMemAllocNodeParams, void*>
      parameters = {};
};

/// Older nodes first.
struct OlderNode {
  bool operator()(const GraphNode* a, const GraphNode* b) const;
};
using NodeSet = std::set<GraphNode*, OlderNode>;

struct GraphNode {
  Graph* graph;
  std::uint64_t id;
  Work work;  // each launch runs a copy of its step
  NodeSet after;
  cudaGraphNode_t handle = nullptr;  // once the program has asked for it
  std::uint64_t original = 0;        // of a clone: the node that it was cloned from

  cudaGraphNodeType type() const;
  /// Null unless the node is of that kind.
  template <class T>
  const T* parameters() const {
    return work.node == nullptr ? nullptr : std::get_if<T>(&work.node->parameters);
  }
};

struct Graph {
  std::vector<std::shared_ptr<GraphNode>> nodes;  // in the order in which they were added
  cudaGraph_t handle = nullptr;
  bool is_child = false;  // belongs to a node of another graph

  GraphNode& add(Work work, NodeSet after);
  void remove(const GraphNode& node);
  std::shared_ptr<Graph> clone() const;
};

struct ExecutableNode {
  std::uint64_t origin;  // of the node that it was made from
  Work work;
  std::set<std::size_t> after;
  bool is_enabled = true;
};

struct ExecutableGraph {
  std::vector<ExecutableNode> nodes;
  unsigned long long flags = 0;
  TicketPointer last = nullptr;  // of the newest launch or upload: only one runs at a time
};

/// The nodes of a graph and of its child graphs, in an order that their dependencies allow. Nothing
/// if they form a circle.
std::optional<std::vector<ExecutableNode>> executable_nodes(const Graph& graph);

}  // namespace emulator

#include "emulator/runtime/graph.h"

#include <algorithm>
#include <map>
#include <utility>

namespace emulator {
namespace {

/// Lists nodes behind those that they depend on.
class Ordering {
 public:
  bool visit(const GraphNode& node) {
    State& state = states_[&node];
    if (state != State::unknown) return state == State::listed;
    state = State::open;
    for (const GraphNode* before : node.after)
      if (!visit(*before)) return false;
    states_[&node] = State::listed;
    listed.push_back(&node);
    return true;
  }
  std::vector<const GraphNode*> listed;

 private:
  enum class State { unknown, open, listed };
  std::map<const GraphNode*, State> states_;
};

/// Adds the graph's nodes, all behind `before`. Returns false for a circle.
bool add_nodes(const Graph& graph, const std::set<std::size_t>& before,
               std::vector<ExecutableNode>& to) {
  Ordering ordering;
  for (const auto& node : graph.nodes)
    if (!ordering.visit(*node)) return false;
  std::map<const GraphNode*, std::size_t> indices;
  for (const GraphNode* node : ordering.listed) {
    std::set<std::size_t> after = before;
    for (const GraphNode* each : node->after) after.insert(indices.at(each));
    if (const auto* child = node->parameters<std::shared_ptr<Graph>>()) {
      // The node itself comes behind all nodes of its graph.
      const std::size_t first = to.size();
      if (!add_nodes(**child, after, to)) return false;
      for (std::size_t i = first; i < to.size(); ++i) after.insert(i);
    }
    indices[node] = to.size();
    to.push_back({node->id, node->work, std::move(after)});
  }
  return true;
}

}  // namespace

bool OlderNode::operator()(const GraphNode* a, const GraphNode* b) const { return a->id < b->id; }

cudaGraphNodeType GraphNode::type() const {
  return work.node == nullptr ? cudaGraphNodeTypeKernel : work.node->type;
}

GraphNode& Graph::add(Work work, NodeSet after) {
  static std::uint64_t last_id = 0;  // wants the runtime's lock
  nodes.push_back(
      std::make_shared<GraphNode>(GraphNode{this, ++last_id, std::move(work), std::move(after)}));
  return *nodes.back();
}

void Graph::remove(const GraphNode& node) {
  for (const auto& each : nodes) each->after.erase(const_cast<GraphNode*>(&node));
  std::erase_if(nodes, [&](const auto& each) { return each.get() == &node; });
}

std::shared_ptr<Graph> Graph::clone() const {
  auto cloned = std::make_shared<Graph>();
  std::map<const GraphNode*, GraphNode*> clones;
  for (const auto& node : nodes) {
    Work work = node->work;
    if (const auto* child = node->parameters<std::shared_ptr<Graph>>()) {
      auto child_clone = (*child)->clone();
      child_clone->is_child = true;
      work.node = std::make_shared<NodeDetails>(
          NodeDetails{cudaGraphNodeTypeGraph, std::move(child_clone)});
    }
    clones[node.get()] = &cloned->add(std::move(work), {});
    clones[node.get()]->original = node->id;
  }
  for (const auto& node : nodes)
    for (GraphNode* before : node->after) clones[node.get()]->after.insert(clones.at(before));
  return cloned;
}

std::optional<std::vector<ExecutableNode>> executable_nodes(const Graph& graph) {
  std::vector<ExecutableNode> nodes;
  if (!add_nodes(graph, {}, nodes)) return std::nullopt;
  return nodes;
}

}  // namespace emulator

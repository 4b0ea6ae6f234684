#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runner/ort/api.h"

namespace aaco::runner::ort {

// Nodes each provider took, from what ONNX Runtime says at verbose level while it makes a session ("Node(s) placed on [P].
// Number of nodes: N", the same words from 1.17 to 1.30). Empty where it said nothing of the kind.
std::map<std::string, std::int64_t> placement_from_log(const std::vector<LogCollector::Line>& lines);

// A node that a provider runs, as the log names it behind such a sentence ("  Conv (conv1)"); without a name it is empty.
struct PlacedNode {
  std::string provider, op_type, name;
};
// Where all nodes are on one provider, the log names none.
std::vector<PlacedNode> placed_nodes_from_log(const std::vector<LogCollector::Line>& lines);

}  // namespace aaco::runner::ort

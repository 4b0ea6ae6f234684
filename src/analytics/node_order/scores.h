#pragma once

#include <string>
#include <string_view>

#include "analytics/node_order.h"

namespace aaco::analytics::node_order {

// How much a node needs a kernel of its own.
enum class Need {
  none,    // moves no data, or runs on the host
  little,  // compilers fuse it into its neighbours
  some,
  anchor,  // a product, a convolution, attention
};
Need need_of(const Node& node);

// A kernel's name, as the scores want it.
struct KernelName {
  std::string text, lower;
  fingerprint::Family family = fingerprint::Family::other;
};
KernelName kernel_name(const Kernel& kernel);

// Log odds of a node's main kernel having this name; kNever: it cannot.
inline constexpr double kNever = -1e6;
double match_score(const Node& node, const KernelName& kernel);
// What the number of threads adds to it.
double size_score(const Node& node, const Kernel& kernel);
// Of a kernel before or behind the main one of the same node: a change of layout, the sum of partial results.
double helper_score(const Node& node, fingerprint::Family family);
// Of a node without a kernel, and of a kernel without a node.
double absent_score(const Node& node);
double stray_score(fingerprint::Family family);
// Whether kernels of this family are what such nodes usually have.
bool is_usual(const Node& node, fingerprint::Family family);
// Whether the family is one that only anchors have.
bool is_anchor(fingerprint::Family family);
// Whether the kernel's name holds the node's, and that name is long enough to tell.
bool names_node(std::string_view kernel, const Node& node);

}  // namespace aaco::analytics::node_order

#pragma once

#include <string>
#include <vector>

#include "estimation/analysis.h"
#include "report/paper.h"

// The tables of nodes in a prediction's paper, and how its figures are written.
namespace aaco::report {

std::string seconds_text(double seconds);
std::string share_text(double part, double whole);  // "-" of nothing
// A figure in "ns", "bytes", "J", "W" or "1/s" in its usual form.
std::string quantity(double value, const std::string& unit);
// "Conv+BN+Relu": what runs in the node's kernel.
std::string op_text(const estimation::NodeEstimate& node);

// The `count` kinds of nodes that take most time, and those that take most energy: nodes of the same work (the layers of a
// network) are one line. 0, or no fewer than there are: every node by itself, in order.
PaperSection node_times(const estimation::GraphEstimate& e, std::size_t count);
PaperSection node_energies(const estimation::GraphEstimate& e, std::size_t count);
// How each of the slowest lies on the device.
std::vector<std::string> node_mappings(const estimation::GraphEstimate& e, std::size_t count);

}  // namespace aaco::report

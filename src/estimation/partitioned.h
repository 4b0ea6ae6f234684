#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/json.h"
#include "estimation/analysis.h"
#include "graph/partition.h"

// A graph over two devices: a part of its nodes on an accelerator, what that does not take on a host, and what crosses between.
namespace aaco::estimation {

// A run of nodes on one device that needs nothing of the other's in between.
struct PartEstimate {
  std::size_t target = 0;
  std::size_t nodes = 0;  // of the graph
  double seconds = 0;     // of its kernels and of issuing them
  double bytes_in = 0, bytes_out = 0;
  std::string first, last;
};

struct PartitionReport {
  std::string backend, source;         // whose support decides, filled by the caller
  std::array<std::string, 2> devices;  // the accelerator and the host
  std::vector<PartEstimate> parts;     // in order of execution
  std::vector<graph::Refusal> refusals;
  std::size_t transfers = 0;
  double transfer_bytes = 0, transfer_seconds = 0;
  std::string link;              // "PCIe 3.0 x4, 4 GB/s"
  double critical_seconds = 0;   // of the longest chain of nodes and copies: what no further device could shorten
  std::array<double, 2> busy{};  // seconds, by device
};

// One device's share, analysed by itself (Conditions::only); an empty graph estimate where it has no work.
struct Share {
  const hardware::Device* device = nullptr;
  const Conditions* conditions = nullptr;
  GraphEstimate estimate;
};

// The whole: nodes of both in order, each named with its device; a node starts when what it reads is there, copied where it has
// to cross, and its device is free. Level: the worse one's. `shares`: by target of the partition.
GraphEstimate join_shares(const graph::Graph& graph, const graph::Partition& partition, const std::array<Share, 2>& shares,
                          PartitionReport& report);

core::Json to_json(const PartitionReport& report);

}  // namespace aaco::estimation

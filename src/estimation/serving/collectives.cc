#include "estimation/serving/collectives.h"

#include <array>
#include <cmath>

namespace aaco::estimation {

Collective all_reduce(double bytes, double ranks, double link_bytes_per_s, double latency_s, bool direct_links) {
  if (ranks <= 1) return {};
  const double share = (ranks - 1) / ranks;
  const std::array candidates{Collective{2 * share * bytes / link_bytes_per_s, 2 * (ranks - 1), "ring"},
                              Collective{2 * bytes / link_bytes_per_s, 2 * std::ceil(std::log2(ranks)), "tree"},
                              Collective{(ranks - 1) * bytes / link_bytes_per_s, 1, "one-shot"},
                              Collective{2 * share * bytes / link_bytes_per_s, 2, "two-shot"}};
  const Collective* best = candidates.data();
  for (const Collective& one : candidates) {
    const bool reads_peers = one.messages <= 2 && (one.algorithm == "one-shot" || one.algorithm == "two-shot");
    if (reads_peers && !direct_links) continue;
    if (one.seconds + latency_s * one.messages < best->seconds + latency_s * best->messages) best = &one;
  }
  return *best;
}

Collective all_to_all(double bytes, double ranks, double link_bytes_per_s) {
  if (ranks <= 1) return {};
  return {bytes * (ranks - 1) / ranks / link_bytes_per_s, 1, "all-to-all"};
}

}  // namespace aaco::estimation

#include "analytics/advice/copy_mix.h"

#include <algorithm>

namespace aaco::analytics::advice {
namespace {

constexpr double kMostlyPinned = 0.9;  // of the time of host copies: then pinning is done already

}  // namespace

CopyMix::CopyMix(const std::map<std::string, double>& by_kind, std::optional<double> pinned_ratio) : pinned_ratio_(pinned_ratio) {
  for (const auto& [kind, ns] : by_kind)
    (kind == "h2d" || kind == "d2h" ? host_ns_
     : kind == "d2d"                ? device_ns_
     : kind == "p2p"                ? peer_ns_
     : kind == "memset"             ? fill_ns_
                                    : other_ns_) += ns;
}

std::vector<CopyAdvice> CopyMix::advice(double exposed_ns) const {
  const auto part = [&](double ns) { return total() > 0 ? exposed_ns * ns / total() : 0; };
  const bool pinned = pinned_ratio_.value_or(0) >= kMostlyPinned;
  std::vector<CopyAdvice> list = {
      {"copies between host and device",
       pinned          ? "overlap the host copies with kernels (a separate stream), or keep tensors on the device"
       : pinned_ratio_ ? "copy from pinned memory on a separate stream, or keep tensors on the device"
                       : "overlap the host copies (a separate stream, pinned memory unless it is pinned already), or keep "
                         "tensors on the device",
       pinned          ? "They run while no kernel is running; the host memory is pinned already."
       : pinned_ratio_ ? "They run while no kernel is running, from or to pageable memory."
                       : "They run while no kernel is running.",
       part(host_ns_), false},
      {"copies within the device",
       "avoid copies within the device: write results in place (out=, views instead of clone, contiguous and cat)",
       "They run while no kernel is running and move data that is on the device already.", part(device_ns_), false},
      {"copies between devices", "overlap the copies between devices with kernels (a separate stream), or send less",
       "They run while no kernel is running.", part(peer_ns_), false},
      {"fills", "clear less memory: reuse buffers that the next kernel overwrites, or merge the fills",
       "They run while no kernel is running.", part(fill_ns_), false},
      {"copies", "overlap the copies with kernels (a separate stream), or keep tensors on the device",
       "They run while no kernel is running; the trace does not say between which memories.",
       total() > 0 ? part(other_ns_) : exposed_ns, false}};
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.exposed_ns > b.exposed_ns; });
  std::erase_if(list, [](const auto& one) { return !(one.exposed_ns > 0); });
  for (CopyAdvice& one : list) one.shared_out = list.size() > 1;
  return list;
}

std::string CopyMix::blocking_remedy(const std::string& usual) const {
  if (total() > 0 && host_ns_ <= 0 && other_ns_ <= 0)
    return "the copies do not involve host memory: use asynchronous copies, or avoid them (views instead of clone and "
           "contiguous)";
  if (pinned_ratio_.value_or(0) >= kMostlyPinned)
    return "the memory is pinned already: use asynchronous copies, and defer reading results (.item(), .cpu(), print)";
  return usual;
}

}  // namespace aaco::analytics::advice

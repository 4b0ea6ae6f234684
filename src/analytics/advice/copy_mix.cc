#include "analytics/advice/copy_mix.h"

#include <algorithm>

namespace aaco::analytics::advice {
namespace {

constexpr double kMostlyPinned = 0.9;  // of the time of host copies: then pinning is done already

}  // namespace

CopyMix::Kind CopyMix::kind_of(const std::string& kind) {
  return kind == "h2d" || kind == "d2h" ? kHost
         : kind == "d2d"                ? kDevice
         : kind == "p2p"                ? kPeer
         : kind == "memset"             ? kFill
                                        : kOther;
}

CopyMix::CopyMix(const std::map<std::string, double>& by_kind, std::optional<double> pinned_ratio,
                 const std::map<std::string, ExposedCopy>& exposed)
    : pinned_ratio_(pinned_ratio) {
  for (const auto& [kind, ns] : by_kind) {
    groups_[kind_of(kind)].time_ns += ns;
    time_ns_ += ns;
  }
  for (const auto& [kind, one] : exposed) {
    ExposedCopy& sum = groups_[kind_of(kind)].exposed;
    sum.exposed_ns += one.exposed_ns;
    exposed_ns_ += one.exposed_ns;
    for (const auto& [name, ns] : one.launchers) sum.launchers[name] += ns;
  }
}

double CopyMix::time_of(Kind kind) const { return exposed_ns_ > 0 ? groups_[kind].exposed.exposed_ns : groups_[kind].time_ns; }

std::vector<CopyAdvice> CopyMix::advice(double exposed_ns) const {
  const double total = exposed_ns_ > 0 ? exposed_ns_ : time_ns_;
  const auto part = [&](Kind kind) { return total > 0 ? exposed_ns * time_of(kind) / total : 0; };
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
       part(kHost),
       false,
       {},
       0},
      {"copies within the device",
       "avoid copies within the device: write results in place (out=, views instead of clone, contiguous and cat)",
       "They run while no kernel is running and move data that is on the device already.",
       part(kDevice),
       false,
       {},
       0},
      {"copies between devices",
       "overlap the copies between devices with kernels (a separate stream), or send less",
       "They run while no kernel is running.",
       part(kPeer),
       false,
       {},
       0},
      {"fills",
       "clear less memory: reuse buffers that the next kernel overwrites, or merge the fills",
       "They run while no kernel is running.",
       part(kFill),
       false,
       {},
       0},
      {"copies",
       "overlap the copies with kernels (a separate stream), or keep tensors on the device",
       "They run while no kernel is running; the trace does not say between which memories.",
       total > 0 ? part(kOther) : exposed_ns,
       false,
       {},
       0}};
  for (std::size_t i = 0; i < list.size(); ++i)
    for (const auto& [name, ns] : groups_.at(i).exposed.launchers)
      if (const double all = groups_.at(i).exposed.exposed_ns; !name.empty() && 2 * ns > all)
        list[i].launched_by = name, list[i].launched_ratio = ns / all;
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.exposed_ns > b.exposed_ns; });
  std::erase_if(list, [](const auto& one) { return !(one.exposed_ns > 0); });
  for (CopyAdvice& one : list) one.shared_out = list.size() > 1 && exposed_ns_ <= 0;
  return list;
}

std::string CopyMix::blocking_remedy(const std::string& usual) const {
  if (time_ns_ > 0 && groups_[kHost].time_ns <= 0 && groups_[kOther].time_ns <= 0)
    return "the copies do not involve host memory: use asynchronous copies, or avoid them (views instead of clone and "
           "contiguous)";
  if (pinned_ratio_.value_or(0) >= kMostlyPinned)
    return "the memory is pinned already: use asynchronous copies, and defer reading results (.item(), .cpu(), print)";
  return usual;
}

}  // namespace aaco::analytics::advice

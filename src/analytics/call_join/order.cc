#include <algorithm>
#include <set>

#include "analytics/call_join.h"

namespace aaco::analytics::call_join {
namespace {

using Launches = std::map<std::uint64_t, std::vector<Launch>>;
using Kernels = std::map<std::uint64_t, std::vector<Kernel>>;

bool fits(const std::vector<Launch>& launches, const std::vector<Kernel>& kernels, std::int64_t tolerance_ns) {
  if (launches.size() != kernels.size()) return false;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (kernels[i].start_ns < launches[i].start_ns - tolerance_ns) return false;
    if (launches[i].kernel != 0 && launches[i].kernel != kernels[i].name) return false;
  }
  return true;
}

// Each stream of kernels with the one of launches that it can only be, by exclusion. Empty where the possibilities contradict
// each other.
std::map<std::uint64_t, std::uint64_t> assign(std::map<std::uint64_t, std::set<std::uint64_t>> possible) {
  std::map<std::uint64_t, std::uint64_t> out;
  for (;;) {
    auto certain = std::find_if(possible.begin(), possible.end(), [](const auto& one) { return one.second.size() == 1; });
    if (certain == possible.end()) return out;
    const std::uint64_t launches = *certain->second.begin();
    out.emplace(certain->first, launches);
    possible.erase(certain);
    for (auto& one : possible)
      if (one.second.erase(launches) > 0 && one.second.empty()) return {};
  }
}

// Launches whose order the calls' times leave open.
std::set<std::uint64_t> concurrent(const std::vector<Launch>& launches) {
  std::set<std::uint64_t> out;
  for (std::size_t i = 1; i < launches.size(); ++i)
    for (std::size_t before = i; before-- > 0 && i - before < 64;)
      if (launches[before].thread_id != launches[i].thread_id && launches[i].start_ns < launches[before].end_ns)
        out.insert({launches[before].id, launches[i].id});
  return out;
}

}  // namespace

OrderAnswer join_by_order(std::vector<Launch> launches, std::vector<Kernel> kernels, std::int64_t tolerance_ns) {
  constexpr std::size_t kMaxStreams = 512;  // of each side: the comparison is of each with each
  std::sort(launches.begin(), launches.end(),
            [](const Launch& a, const Launch& b) { return std::pair(a.start_ns, a.id) < std::pair(b.start_ns, b.id); });
  std::sort(kernels.begin(), kernels.end(),
            [](const Kernel& a, const Kernel& b) { return std::pair(a.start_ns, a.id) < std::pair(b.start_ns, b.id); });
  Launches given;
  Kernels seen;
  std::set<std::uint64_t> graphs;
  for (const Launch& one : launches) {
    if (one.is_graph) graphs.insert(one.stream);
    given[one.stream].push_back(one);
  }
  for (const Kernel& one : kernels) seen[one.stream].push_back(one);

  OrderAnswer answer;
  const auto leave = [&](const std::vector<Kernel>& stream, Reason reason) {
    for (const Kernel& one : stream) answer.apart.emplace(one.id, reason);
  };
  std::map<std::uint64_t, std::set<std::uint64_t>> possible;
  std::set<std::uint64_t> without;
  const bool comparable = graphs.empty() && given.size() == seen.size() && seen.size() <= kMaxStreams;
  for (const auto& [stream, own] : seen) {
    std::set<std::uint64_t>& candidates = possible[stream];
    for (const auto& [other, calls] : given)
      if (comparable && fits(calls, own, tolerance_ns)) candidates.insert(other);
    if (candidates.empty()) without.insert(stream);
  }
  // Where one stream fits none, launches or kernels are missing, and exclusion proves nothing of the others.
  const auto assigned = without.empty() ? assign(possible) : std::map<std::uint64_t, std::uint64_t>();
  for (const auto& [stream, own] : seen) {
    const auto found = assigned.find(stream);
    if (found == assigned.end()) {
      leave(own, !graphs.empty() ? Reason::graph : !without.empty() ? Reason::counts : Reason::streams);
      continue;
    }
    const std::vector<Launch>& calls = given.at(found->second);
    const std::set<std::uint64_t> open = concurrent(calls);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (open.contains(calls[i].id))
        answer.apart.emplace(own[i].id, Reason::concurrent);
      else
        answer.launch.emplace(own[i].id, calls[i].id);
    }
  }
  return answer;
}

}  // namespace aaco::analytics::call_join

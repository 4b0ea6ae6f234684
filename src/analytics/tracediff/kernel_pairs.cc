#include "analytics/kernel_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace aaco::analytics::tracediff {
namespace {

bool is_known(const Role& role) { return !role.cause.empty() || (!role.family.empty() && role.family != "other"); }

Role role_of(const Roles& roles, const std::string& name) {
  const auto found = roles.find(name);
  return found == roles.end() ? Role{} : found->second;
}

void add_side(KernelSide& sum, const KernelSide& one) {
  sum.calls += one.calls;
  sum.calls_per_step += one.calls_per_step;
  sum.per_step_ns += one.per_step_ns;
  sum.mean_ns = sum.calls_per_step > 0 ? sum.per_step_ns / sum.calls_per_step : 0;
}

struct UnmatchedKernels {
  std::vector<const KernelChange*> a, b;
};

KernelPair role_row(const Role& role, const UnmatchedKernels& kernels) {
  KernelPair pair{Match::role, to_string(role), {}, {}, {}, {}, 0};
  const auto longer = [](bool of_a) {
    return [of_a](const KernelChange* x, const KernelChange* y) {
      return (of_a ? x->a : x->b).per_step_ns > (of_a ? y->a : y->b).per_step_ns;
    };
  };
  auto a = kernels.a, b = kernels.b;
  std::stable_sort(a.begin(), a.end(), longer(true));
  std::stable_sort(b.begin(), b.end(), longer(false));
  for (const KernelChange* kernel : a) pair.names_a.push_back(kernel->name), add_side(pair.a, kernel->a);
  for (const KernelChange* kernel : b) pair.names_b.push_back(kernel->name), add_side(pair.b, kernel->b);
  pair.delta_ns = pair.b.per_step_ns - pair.a.per_step_ns;
  return pair;
}

KernelPair own_row(const KernelChange& kernel, Match match, const Role& role) {
  KernelPair pair{match, is_known(role) ? to_string(role) : std::string(), {}, {}, kernel.a, kernel.b, kernel.delta_ns};
  if (kernel.a.calls > 0) pair.names_a = {kernel.name};
  if (kernel.b.calls > 0) pair.names_b = {kernel.name};
  return pair;
}

}  // namespace

std::string to_string(const Role& role) {
  return role.cause + (role.cause.empty() || role.family.empty() ? "" : ", ") + role.family;
}

std::string_view to_string(Match match) {
  constexpr std::array<std::string_view, 3> kNames = {"name", "role", "none"};
  return kNames[static_cast<std::size_t>(match)];
}

std::vector<KernelPair> pair_kernels(const TraceDifference& difference, const Roles& a, const Roles& b) {
  std::vector<KernelPair> pairs;
  std::map<Role, UnmatchedKernels> unmatched;
  for (const KernelChange& kernel : difference.kernels) {
    const bool in_a = kernel.a.calls > 0, in_b = kernel.b.calls > 0;
    const Role role = role_of(in_a ? a : b, kernel.name);
    if (in_a && in_b)
      pairs.push_back(own_row(kernel, Match::name, role));
    else if (!is_known(role))
      pairs.push_back(own_row(kernel, Match::none, role));
    else
      (in_a ? unmatched[role].a : unmatched[role].b).push_back(&kernel);
  }
  for (const auto& [role, kernels] : unmatched) {
    if (!kernels.a.empty() && !kernels.b.empty()) {
      pairs.push_back(role_row(role, kernels));
      continue;
    }
    for (const auto* list : {&kernels.a, &kernels.b})
      for (const KernelChange* kernel : *list) pairs.push_back(own_row(*kernel, Match::none, role));
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const KernelPair& x, const KernelPair& y) { return std::abs(x.delta_ns) > std::abs(y.delta_ns); });
  return pairs;
}

}  // namespace aaco::analytics::tracediff

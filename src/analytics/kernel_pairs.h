#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/tracediff.h"

// Kernels of two traces side by side, also where their names differ: another library, device or framework version.
namespace aaco::analytics::tracediff {

// What a kernel does: the operator that launches it most of the time (empty: unknown), and its family.
struct Role {
  std::string cause, family;
  auto operator<=>(const Role&) const = default;
};
std::string to_string(const Role& role);  // "aten::mm, gemm"

using Roles = std::map<std::string, Role, std::less<>>;  // by kernel name

enum class Match : std::uint8_t { name, role, none };
std::string_view to_string(Match match);

// A row of the table: one kernel on both sides (name), all kernels of one role on both sides whose names the other side lacks
// (role), or a kernel that only one side has (none).
struct KernelPair {
  Match match = Match::name;
  std::string role;                           // of role rows: what they do; else of the kernel, empty if unknown
  std::vector<std::string> names_a, names_b;  // most time first
  KernelSide a, b;
  double delta_ns = 0;  // of a step: b - a
};

// Largest |delta_ns| first; the sums of both sides are those of the traces.
std::vector<KernelPair> pair_kernels(const TraceDifference& difference, const Roles& a, const Roles& b);

}  // namespace aaco::analytics::tracediff

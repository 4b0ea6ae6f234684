#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/fingerprint.h"

namespace aaco::analytics::fingerprint {

struct NamedKernel {
  std::string_view name;
  Family family = Family::other;
  core::Json parameters;  // of its fingerprint, or null
};

// "GEMM bf16 MT256x128x32", "Conv fwd f16 MT64x64x32", "Attention bf16": family, what the name says of direction and data type,
// and the tile of a work-group. Empty for other families and for names that state neither type nor tile.
std::string short_name(const NamedKernel& kernel);

// Of each kernel, different for different names: kernels with equal ones get their transposes ("TN"), else a number in their
// order ("#2").
std::vector<std::string> short_names(std::span<const NamedKernel> kernels);

}  // namespace aaco::analytics::fingerprint

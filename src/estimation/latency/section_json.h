#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace aaco::estimation {

// The forms that trees are stored in: nodes as they lie in memory, and rounded ones (stats/compact_trees.h).
inline constexpr std::string_view kTreesForm = "trees", kCompactForm = "compact_trees";

// Nodes of one part of a section, and what the head tells of them. Every form of what can be learnt has a name.
struct Part {
  std::string form = std::string(kTreesForm);
  std::size_t columns = 0, trees = 0;
  std::vector<double> bases;
  std::uint64_t bytes = 0;
};

// What was learnt of one class: parts, one after the other.
struct Section {
  std::uint64_t offset = 0, bytes = 0;  // in the file
  std::uint32_t crc32c = 0;
  std::vector<Part> members;
  std::vector<Part> log_scale;  // one or none
  std::vector<double> probe;    // what it was fitted to see of fixed kernels (probe.h)
};

core::Json section_json(const Section& section);
// Of a class's entry. `columns` and `probe` are what this release's features and probe are; refuses others, and what is damaged.
core::Result<Section> section_of(const core::Json& entry, std::size_t columns, const std::vector<double>& probe);

}  // namespace aaco::estimation

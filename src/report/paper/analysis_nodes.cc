#include "report/paper/analysis_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/numbers.h"
#include "report/rates.h"

namespace aaco::report {

using estimation::GraphEstimate;
using estimation::NodeEstimate;

std::string seconds_text(double seconds) { return core::format_duration(seconds * 1e9); }
std::string share_text(double part, double whole) { return whole > 0 ? core::format_percent(part / whole) : "-"; }

std::string quantity(double value, const std::string& unit) {
  if (unit == "ns") return core::format_duration(value);
  if (unit == "bytes") return core::format_bytes(value);
  if (unit == "J" && value < 1e-3) return fmt::format("{:.3g} uJ", value * 1e6);
  if (unit == "J" && value < 1) return fmt::format("{:.3g} mJ", value * 1e3);
  if (unit == "1/s") return rate_text(value) + "/s";
  return fmt::format("{:.3g} {}", value, unit);
}

std::string op_text(const NodeEstimate& node) {
  std::string text = node.op_type;
  for (const std::string& fused : node.fused) text += "+" + (fused == "BatchNormalization" ? "BN" : fused);
  return text;
}

namespace {

std::string ratio_text(double ratio) { return fmt::format("{:.2f}", ratio); }

double joules_of(const NodeEstimate& node) { return node.energy ? node.energy->joules() * node.repeats : 0; }

std::string name_text(const NodeEstimate& node) {
  return node.name + (node.repeats > 1 ? fmt::format(" ({:g} times)", node.repeats) : "");
}

// "12.1 us to 45.3 us", of all its executions.
std::string range_text(const NodeEstimate& node) {
  return seconds_text(node.latency.lower * node.repeats) + " to " + seconds_text(node.latency.upper * node.repeats);
}

// Nodes that do the same work in the same way, as the layers of a network do.
struct Alike {
  const NodeEstimate* first = nullptr;
  std::size_t nodes = 0;
  double seconds = 0, joules = 0;  // of all of them
};

// The kinds of nodes that take most; every node by itself, in order, where no more are asked for (0) than there are.
std::vector<Alike> largest(const GraphEstimate& e, std::size_t count, double Alike::*amount) {
  std::vector<Alike> kinds;
  std::map<std::string, std::size_t> places;
  const bool all = count == 0 || count >= e.nodes.size();
  for (const NodeEstimate& node : e.nodes) {
    const std::string key = all ? node.name
                                : fmt::format("{}|{}|{}|{}|{}|{}|{}", op_text(node), node.shape, node.dtype, node.mapping.engine,
                                              node.repeats, node.seconds(), joules_of(node));
    const auto [place, added] = places.try_emplace(key, kinds.size());
    if (added || all) {
      place->second = kinds.size();
      kinds.push_back({&node, 0, 0, 0});
    }
    Alike& kind = kinds[place->second];
    ++kind.nodes;
    kind.seconds += node.seconds();
    kind.joules += joules_of(node);
  }
  if (all) return kinds;
  std::stable_sort(kinds.begin(), kinds.end(), [&](const Alike& a, const Alike& b) { return a.*amount > b.*amount; });
  kinds.resize(std::min(count, kinds.size()));
  return kinds;
}

bool any_alike(const std::vector<Alike>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [](const Alike& kind) { return kind.nodes > 1; });
}

}  // namespace

PaperSection node_times(const GraphEstimate& e, std::size_t count) {
  const auto listed = largest(e, count, &Alike::seconds);
  const bool alike = any_alike(listed);
  PaperSection section{alike ? fmt::format("Time per node: {} nodes, identical ones merged", e.nodes.size())
                       : listed.size() < e.nodes.size() ? fmt::format("The {} slowest of {} nodes", listed.size(), e.nodes.size())
                                                        : "Nodes",
                       {},
                       {},
                       {}};
  section.table.header = {"NODE",  "OP",      "SHAPE",  "TIME",  "90 %", "LEVEL", "SHARE",
                          "LIMIT", "COMPUTE", "MEMORY", "FLOOR", "TILE", "WAVE",  "EFFIC."};
  section.table.numeric = {false, false, false, true, true, false, true, false, true, true, true, true, true, true};
  if (alike) {
    section.table.header.insert(section.table.header.begin() + 1, "ALIKE");
    section.table.numeric.insert(section.table.numeric.begin() + 1, true);
  }
  for (const Alike& kind : listed) {
    const NodeEstimate* node = kind.first;
    const auto& why = node->latency.explanation;
    std::vector<std::string> row{name_text(*node),
                                 op_text(*node),
                                 node->shape,
                                 seconds_text(node->seconds()),
                                 range_text(*node),
                                 std::string(to_string(node->latency.level)),
                                 share_text(kind.seconds, e.device_seconds),
                                 why.limit,
                                 seconds_text(why.compute_s),
                                 seconds_text(why.memory_s),
                                 seconds_text(why.floor_s),
                                 ratio_text(node->mapping.tile_ratio),
                                 ratio_text(node->mapping.wave_ratio),
                                 ratio_text(why.efficiency_ratio)};
    if (alike) row.insert(row.begin() + 1, std::to_string(kind.nodes));
    section.table.rows.push_back(std::move(row));
  }
  if (alike)
    section.lines.emplace_back(
        "TIME and the columns after it are per node; SHARE covers all identical nodes, and NODE is the first of them.");
  section.lines.emplace_back(
      "COMPUTE and MEMORY are the roofline minimums, and FLOOR is the fixed cost of any shape; TILE and WAVE are the useful "
      "fractions of tiles and units; EFFIC. is the part of the estimate explained by roofline and floor.");
  return section;
}

PaperSection node_energies(const GraphEstimate& e, std::size_t count) {
  const auto listed = largest(e, count, &Alike::joules);
  const bool alike = any_alike(listed);
  PaperSection section{alike || listed.size() < e.nodes.size() ? "Nodes by energy" : "Energy per node", {}, {}, {}};
  section.table.header = {"NODE", "OP", "ENERGY", "90 %", "LEVEL", "SHARE", "MEAN POWER", "COMPUTING", "MOVING", "STATIC"};
  section.table.numeric = {false, false, true, true, false, true, true, true, true, true};
  if (alike) {
    section.table.header.insert(section.table.header.begin() + 1, "ALIKE");
    section.table.numeric.insert(section.table.numeric.begin() + 1, true);
  }
  for (const Alike& kind : listed) {
    const NodeEstimate* node = kind.first;
    if (!node->energy) continue;
    const auto& energy = *node->energy;
    const double joules = energy.joules();
    std::vector<std::string> row{
        name_text(*node),
        op_text(*node),
        quantity(joules * node->repeats, "J"),
        quantity(energy.lower * node->repeats, "J") + " to " + quantity(energy.upper * node->repeats, "J"),
        std::string(to_string(energy.level)),
        share_text(kind.joules, e.energy_parts.joules()),
        quantity(joules / node->latency.seconds, "W"),
        share_text(energy.parts.compute_joules, joules),
        share_text(energy.parts.movement_joules, joules),
        share_text(energy.parts.static_joules, joules)};
    if (alike) row.insert(row.begin() + 1, std::to_string(kind.nodes));
    section.table.rows.push_back(std::move(row));
  }
  return section;
}

std::vector<std::string> node_mappings(const GraphEstimate& e, std::size_t count) {
  std::vector<std::string> lines;
  for (const Alike& kind : largest(e, count, &Alike::seconds)) {
    const NodeEstimate* node = kind.first;
    std::string text =
        node->name + ": " + node->mapping.engine + " in " + node->mapping.computed_as + ", fed by " + node->mapping.level;
    for (const std::string& reason : node->mapping.reasons) text += "; " + reason;
    lines.push_back(std::move(text));
  }
  return lines;
}

}  // namespace aaco::report

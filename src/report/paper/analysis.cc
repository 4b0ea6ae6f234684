#include "report/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/numbers.h"
#include "report/paper/analysis_nodes.h"
#include "report/rates.h"

namespace aaco::report {
namespace {

using estimation::Estimate;
using estimation::GraphEstimate;
using estimation::NodeEstimate;

std::string parts_text(const GraphEstimate& estimate) {
  const auto& parts = estimate.energy_parts;
  const double all = parts.joules();
  return fmt::format("compute {}, data movement {}, static {}", share_text(parts.compute_joules, all),
                     share_text(parts.movement_joules, all), share_text(parts.static_joules, all));
}

// "2.74 J  (1.37 J to 5.49 J, 90 %)"
std::string interval_text(const Estimate& e) {
  return fmt::format("{}  ({} to {}, 90 %)", quantity(e.value, e.unit), quantity(e.lower, e.unit), quantity(e.upper, e.unit));
}

std::string tokens_text(const graph::Tokens& tokens) {
  std::string shape;
  for (const std::int64_t size : tokens.shape) shape += fmt::format("{}{}", shape.empty() ? "" : " x ", size);
  return fmt::format("{} tokens per run ({} ids in '{}', including padding)", tokens.count, shape, tokens.input);
}

void add_throughput(const AnalysisReport& report, const Rates& rates, PaperSection& section) {
  auto& facts = section.facts;
  const std::string counted = report.counted_by.empty() ? "" : ", counted by " + report.counted_by;
  facts.emplace_back("items/s", fmt::format("{} at batch {}{}", interval_text(rates.items_per_s), report.batch, counted));
  if (!rates.tokens_per_s) return;
  facts.emplace_back("tokens/s", interval_text(*rates.tokens_per_s));
  facts.emplace_back("", tokens_text(*report.tokens));
}

void add_energy(const AnalysisReport& report, const Rates& rates, PaperSection& section) {
  const GraphEstimate& e = report.estimate;
  auto& facts = section.facts;
  if (!e.energy) return;
  facts.emplace_back("energy", estimate_text(*e.energy));
  facts.emplace_back("", parts_text(e));
  if (report.batch > 1) facts.emplace_back("energy per item", interval_text(*rates.joules_per_item));
  if (rates.joules_per_token) facts.emplace_back("energy per token", interval_text(*rates.joules_per_token));
  facts.emplace_back("mean power", estimate_text(*e.power));
}

// What the latency is made of. A fit of whole models knows more, or less, than the nodes' sum.
std::string parts_text(const AnalysisReport& report) {
  const GraphEstimate& e = report.estimate;
  std::string text = fmt::format("{} on the device, {} waiting for the host", seconds_text(e.device_seconds),
                                 seconds_text(e.host_exposed_seconds));
  constexpr double kShown = 0.01;
  const double seconds = e.latency.value * 1e-9, rest = seconds - e.device_seconds - e.host_exposed_seconds;
  if (report.partition || std::abs(rest) <= kShown * seconds) return text;
  return text + (rest > 0 ? ", " + seconds_text(rest) + " more in runs of whole models"
                          : "; runs of whole models take " + seconds_text(-rest) + " less");
}

PaperSection head(const AnalysisReport& report) {
  const GraphEstimate& e = report.estimate;
  PaperSection section;
  auto& facts = section.facts;
  facts.emplace_back("latency", estimate_text(e.latency));
  facts.emplace_back("", parts_text(report));
  const Rates rates = rates_of(report);
  add_throughput(report, rates, section);
  if (e.memory) {
    facts.emplace_back("peak memory", estimate_text(*e.memory));
    const auto& parts = e.memory_parts;
    facts.emplace_back(
        "", fmt::format(
                "weights {}, activations {}, workspace {}{}{}", core::format_bytes(static_cast<double>(parts.weight_bytes)),
                core::format_bytes(static_cast<double>(parts.activation_bytes)),
                core::format_bytes(static_cast<double>(parts.workspace_bytes)),
                parts.kv_cache_bytes > 0 ? ", including KV cache " + core::format_bytes(static_cast<double>(parts.kv_cache_bytes))
                                         : "",
                parts.peak_node.empty() ? "" : ", peak at " + parts.peak_node));
    if (parts.device_bytes > 0 && e.memory->value > static_cast<double>(parts.device_bytes))
      facts.emplace_back("", "DOES NOT FIT: the device has " + core::format_bytes(static_cast<double>(parts.device_bytes)));
  }
  add_energy(report, rates, section);
  if (e.least_clock_ratio < 1)
    facts.emplace_back("", "the power cap lowers the clock to as little as " + core::format_percent(e.least_clock_ratio));
  if (e.confidence_ratio < 1)
    facts.emplace_back("confidence", core::format_percent(e.confidence_ratio) +
                                         " of the graph is modelled with certainty; exceptions are listed below");
  facts.emplace_back("work", fmt::format("{:.4g} GFLOP, {} moved", e.flops / 1e9, core::format_bytes(e.bytes)));
  std::string sizes;
  for (const auto& [name, size] : report.sizes) sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ", ", name, size);
  if (!sizes.empty()) facts.emplace_back("sizes", sizes);
  if (!report.dtype.empty()) facts.emplace_back("data type", report.dtype);
  return section;
}

// Which device runs which part, what crosses, and why the rest stays off the accelerator.
PaperSection parts(const estimation::PartitionReport& p) {
  PaperSection section{"Placement", {}, {}, {}};
  section.table.header = {"PART", "DEVICE", "NODES", "TIME", "COPIED IN", "COPIED OUT", "FROM", "TO"};
  section.table.numeric = {true, false, true, true, true, true, false, false};
  constexpr std::size_t kParts = 24;
  for (std::size_t i = 0; i < std::min(kParts, p.parts.size()); ++i) {
    const auto& one = p.parts[i];
    section.table.rows.push_back({std::to_string(i), p.devices[one.target], std::to_string(one.nodes), seconds_text(one.seconds),
                                  core::format_bytes(one.bytes_in), core::format_bytes(one.bytes_out), one.first, one.last});
  }
  if (p.parts.size() > kParts)
    section.lines.push_back(fmt::format("and {} more parts (--json lists them)", p.parts.size() - kParts));
  for (std::size_t target = 0; target < 2; ++target)
    section.lines.push_back(p.devices[target] + " is busy for " + seconds_text(p.busy[target]));
  if (p.transfers > 0)
    section.lines.push_back(fmt::format("{}, {} in total: {} ({})",
                                        p.transfers == 1 ? "1 copy" : fmt::format("{} copies", p.transfers),
                                        core::format_bytes(p.transfer_bytes), seconds_text(p.transfer_seconds), p.link));
  section.lines.push_back("critical path of dependent nodes and copies: " + seconds_text(p.critical_seconds));
  for (const auto& one : p.refusals)
    section.lines.push_back(
        fmt::format("{} leaves {} x {} on {}: {}", p.backend, one.nodes, one.op_type, p.devices[1], one.reason));
  section.lines.push_back("source for the operators supported by " + p.backend + ": " + p.source);
  return section;
}

PaperSection classes(const GraphEstimate& e) {
  PaperSection section{"Time by operator class", {}, {}, {}};
  section.table.header = {"CLASS", "NODES", "TIME", "SHARE", "GFLOP", "MOVED", "ENERGY"};
  section.table.numeric = {false, true, true, true, true, true, true};
  std::vector<std::pair<std::string, estimation::ClassEstimate>> sorted(e.classes.begin(), e.classes.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  for (const auto& [name, one] : sorted)
    section.table.rows.push_back({name, std::to_string(one.nodes), seconds_text(one.seconds),
                                  share_text(one.seconds, e.device_seconds), fmt::format("{:.3g}", one.flops / 1e9),
                                  core::format_bytes(one.bytes), one.joules > 0 ? quantity(one.joules, "J") : "-"});
  return section;
}

// What the figures leave out or may have wrong.
std::vector<std::string> newer(const GraphEstimate& e) {
  std::vector<std::string> lines;
  for (const auto& one : e.newer) lines.push_back(describe(one));
  return lines;
}

void add_lines(Paper& paper, const char* title, std::vector<std::string> lines) {
  if (!lines.empty()) paper.sections.push_back({title, {}, {}, std::move(lines)});
}

std::vector<std::string> unmodelled(const GraphEstimate& e) {
  std::vector<std::string> lines;
  for (const auto& one : e.unmodelled)
    lines.push_back(fmt::format("{} x {}: {}; up to {} of the activations pass through them", one.nodes, one.op_type, one.reason,
                                core::format_percent(one.activation_share)));
  return lines;
}

}  // namespace

std::string estimate_text(const Estimate& e) { return fmt::format("{}  {}, {}", interval_text(e), to_string(e.level), e.source); }

Paper analysis_paper(const AnalysisReport& report, std::size_t count) {
  constexpr std::size_t kMapped = 5, kEnergies = 5;
  const GraphEstimate& e = report.estimate;
  Paper paper{report.model + " on " + e.device_id + " (" + e.device_name + ")" +
                  (report.partition ? ", the remainder on " + report.partition->devices[1] : ""),
              {}};
  paper.sections.push_back(head(report));
  if (report.partition) paper.sections.push_back(parts(*report.partition));
  paper.sections.push_back(classes(e));
  paper.sections.push_back(node_times(e, count));
  if (e.energy) paper.sections.push_back(node_energies(e, count == 0 ? 0 : std::min(count, kEnergies)));
  add_lines(paper, "Device mapping of the slowest nodes", node_mappings(e, kMapped));
  add_lines(paper, "Newer operator versions", newer(e));
  add_lines(paper, "Not modelled (excluded from the estimates)", unmodelled(e));
  add_lines(paper, "Assumed", report.assumptions);
  add_lines(paper, "Notes", e.notes);
  return paper;
}

PaperSection memory_timeline(const AnalysisReport& report) {
  constexpr std::size_t kMaxStretches = 24, kWidest = 40;
  const auto& timeline = report.estimate.memory_parts.timeline;
  PaperSection section;
  if (timeline.empty()) return section;
  section.title = "Memory over the graph, weights left out";
  section.table = {{"NODES", "LARGEST AT", "LIVE", ""}, {false, false, true, false}, {}};
  const auto bytes = [](const auto& point) { return point.activation_bytes + point.workspace_bytes; };
  const auto less = [&](const auto& a, const auto& b) { return bytes(a) < bytes(b); };
  const auto most =
      static_cast<double>(std::max<std::int64_t>(1, bytes(*std::max_element(timeline.begin(), timeline.end(), less))));
  const std::size_t stretches = std::min(kMaxStretches, timeline.size());
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t begin = timeline.size() * i / stretches, end = timeline.size() * (i + 1) / stretches;
    const auto& largest = *std::max_element(timeline.begin() + static_cast<std::ptrdiff_t>(begin),
                                            timeline.begin() + static_cast<std::ptrdiff_t>(end), less);
    const auto live = static_cast<double>(bytes(largest));
    std::string bar;
    for (std::size_t k = 0; k < static_cast<std::size_t>(live / most * kWidest); ++k) bar += "█";
    section.table.rows.push_back({end - begin == 1 ? std::to_string(begin) : fmt::format("{} to {}", begin, end - 1),
                                  largest.node, core::format_bytes(live), std::move(bar)});
  }
  return section;
}

PaperTable analysis_table(const AnalysisReport& report) {
  PaperTable table;
  table.header = {"node",
                  "op_type",
                  "class",
                  "shape",
                  "dtype",
                  "repeats",
                  "latency_ns",
                  "lower_ns",
                  "upper_ns",
                  "level",
                  "source",
                  "limit",
                  "compute_ns",
                  "memory_ns",
                  "floor_ns",
                  "tile_ratio",
                  "wave_ratio",
                  "efficiency_ratio",
                  "flops",
                  "bytes",
                  "energy_joules",
                  "energy_lower_joules",
                  "energy_upper_joules",
                  "energy_level",
                  "energy_source",
                  "clock_ratio",
                  "device",
                  "live_bytes"};
  std::map<std::string_view, std::int64_t> live;  // while a node runs, weights left out
  for (const auto& point : report.estimate.memory_parts.timeline)
    live[point.node] = point.activation_bytes + point.workspace_bytes;
  const auto live_bytes = [&live](const std::string& node) {
    const auto found = live.find(node);
    return found == live.end() ? std::string() : std::to_string(found->second);
  };
  const auto joules = [](double value) { return fmt::format("{:.6g}", value); };
  const auto ns = [](double seconds) { return fmt::format("{:.6g}", seconds * 1e9); };
  for (const NodeEstimate& node : report.estimate.nodes) {
    const auto& why = node.latency.explanation;
    table.rows.push_back({node.name,
                          node.op_type,
                          std::string(graph::to_string(node.kind)),
                          node.shape,
                          node.dtype,
                          fmt::format("{:g}", node.repeats),
                          ns(node.latency.seconds),
                          ns(node.latency.lower),
                          ns(node.latency.upper),
                          std::string(to_string(node.latency.level)),
                          node.latency.source,
                          why.limit,
                          ns(why.compute_s),
                          ns(why.memory_s),
                          ns(why.floor_s),
                          fmt::format("{:.4g}", node.mapping.tile_ratio),
                          fmt::format("{:.4g}", node.mapping.wave_ratio),
                          fmt::format("{:.4g}", why.efficiency_ratio),
                          fmt::format("{:.10g}", node.work.flops),
                          fmt::format("{:.10g}", node.work.bytes),
                          node.energy ? joules(node.energy->joules()) : "",
                          node.energy ? joules(node.energy->lower) : "",
                          node.energy ? joules(node.energy->upper) : "",
                          node.energy ? std::string(to_string(node.energy->level)) : "",
                          node.energy ? node.energy->source : "",
                          fmt::format("{:.4g}", node.clock_ratio),
                          node.device.empty() ? report.estimate.device_id : node.device,
                          live_bytes(node.name)});
  }
  return table;
}

core::Json analysis_json(const AnalysisReport& report) {
  core::Json sizes = core::Json::object(), assumptions = core::Json::array();
  for (const auto& [name, size] : report.sizes) sizes.set(name, size);
  for (const std::string& text : report.assumptions) assumptions.push(text);
  core::Json out = core::Json::object({{"schema_version", 1}, {"model", report.model}, {"batch", report.batch}});
  if (!report.counted_by.empty()) out.set("batch_counted_by", report.counted_by);
  if (report.tokens) out.set("tokens", to_json(*report.tokens));
  if (!report.dtype.empty()) out.set("dtype", report.dtype);
  out.set("sizes", std::move(sizes)).set("assumptions", std::move(assumptions));
  if (report.partition) out.set("partition", to_json(*report.partition));
  return out.set("rates", to_json(rates_of(report))).set("estimate", to_json(report.estimate, true));
}

}  // namespace aaco::report

#include "cli/output/calibration_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/numbers.h"

namespace aaco::cli {
namespace {

std::string errors(const estimation::Quality& quality, const char* sites = "sites") {
  const std::string extent = fmt::format("{:>7} rows, {:>5} {}; ", quality.rows, quality.sites, sites);
  if (!quality.tested()) return extent + "not validated: too few for a held-out test";
  return extent + fmt::format("error on held-out {}: mean {:.1f} %, median {:.1f} %, p90 {:.1f} %", sites,
                              quality.mean_error * 100, quality.median_error * 100, quality.p90_error * 100);
}

// Of a ceiling: 0 where no row was bound by it.
std::string rate(double value, double unit, int digits, const char* name) {
  return value > 0 ? fmt::format("{:.{}f} {}", value / unit, digits, name) : fmt::format("- {}", name);
}

// "2 kernel classes, 51,207 rows; 1 of energy".
std::string extent(const estimation::DeviceCalibration& calibration) {
  std::int64_t rows = 0;
  for (const auto& model : calibration.latency) rows += model.quality.rows;
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  const auto counted = [](std::size_t count, const char* one, const char* more) {
    return fmt::format("{} {}", count, count == 1 ? one : more);
  };
  if (!calibration.latency.empty())
    add(counted(calibration.latency.size(), "kernel class", "kernel classes") + ", " +
        core::format_count(static_cast<double>(rows)) + " rows");
  if (!calibration.energy.empty()) add(counted(calibration.energy.size(), "energy model", "energy models"));
  if (!calibration.models.empty()) add(counted(calibration.models.size(), "whole-model family", "whole-model families"));
  if (!calibration.memory.empty()) add(counted(calibration.memory.size(), "memory model", "memory models"));
  return text;
}

}  // namespace

std::string describe(const estimation::DeviceCalibration& calibration) {
  std::string text;
  for (const auto& model : calibration.latency) {
    const auto& best = model.ceilings;
    text += fmt::format("  {:<34}{}\n", model.kind + " " + model.type, errors(model.quality));
    text +=
        fmt::format("  {:<34}reaches {}, {} ({} cached), floor {:.1f} µs\n", "", rate(best.flops_per_s, 1e12, 1, "TFLOP/s"),
                    rate(best.bytes_per_s, 1e9, 0, "GB/s"), rate(best.cached_bytes_per_s, 1e9, 0, "GB/s"), best.floor_s * 1e6);
  }
  for (const auto& [name, model] : calibration.energy) {
    text += fmt::format("  {:<34}{}\n", "energy: " + name, errors(model.quality));
    text += fmt::format("  {:<34}{:.0f} W, {:.3f} pJ/FLOP, {:.1f} pJ/byte\n", "", model.static_watts,
                        model.joules_per_flop * 1e12, model.joules_per_byte * 1e12);
  }
  for (const auto& [name, fit] : calibration.models)
    text += fmt::format("  {:<34}{}\n", "whole models: " + name, errors(fit.quality, "models"));
  for (const auto& [name, fit] : calibration.memory)
    text += fmt::format("  {:<34}{}\n", "peak memory: " + name, errors(fit.quality, "models"));
  return text;
}

std::string describe(const workflows::CalibrationEntry& entry) {
  const auto& head = entry.file->head();
  const auto& from = head.provenance;
  std::string text = fmt::format("Calibration of {}{}\n{}\n", head.device, entry.own ? "" : " (shipped)", describe(head));
  text += fmt::format("fitted     {} by aaco {}\n", from.created, from.tool_version);
  for (const auto& file : from.measurements) text += "from       " + file + "\n";
  if (!from.sources.empty()) text += fmt::format("measured   by {}\n", fmt::join(from.sources, ", "));
  for (const auto& licence : from.licences) text += "licence    " + licence + "\n";
  for (const auto& model : head.latency)
    if (model.bounds.elsewhere > 0)
      text += fmt::format("elsewhere  {} {}: bounds include a factor of {:.2f} for other laboratories\n", model.kind, model.type,
                          std::exp(model.bounds.elsewhere));
  text += fmt::format("file       {} ({})\n", entry.path, core::format_bytes(static_cast<double>(entry.bytes)));
  for (const auto& section : entry.file->sections())
    text += fmt::format("  {:<34}{:>10}, {} members, {} trees\n", section.name,
                        core::format_bytes(static_cast<double>(section.bytes)), section.members, section.trees);
  return text;
}

std::string describe(const std::vector<workflows::CalibrationEntry>& entries) {
  if (entries.empty()) return "no calibrations; run 'aaco benchmark' to measure this machine, then 'aaco calibrate' to fit one\n";
  std::string text = fmt::format("{:<34} {:<21} {:>10}  {}\n", "DEVICE", "FITTED", "SIZE", "CONTENTS");
  for (const auto& entry : entries) {
    const std::string size = core::format_bytes(static_cast<double>(entry.bytes));
    if (entry.file)
      text += fmt::format("{:<34} {:<21} {:>10}  {}{}\n", entry.device, entry.file->head().provenance.created, size,
                          extent(entry.file->head()), entry.own ? "" : " (shipped)");
    else
      text += fmt::format("{:<34} {:<21} {:>10}  unreadable: {}\n", entry.device, "-", size, entry.file.error().message);
  }
  return text;
}

}  // namespace aaco::cli

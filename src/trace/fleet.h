#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Telemetry of a fleet: one row per node, device, metric group and minute (docs/formats/fleet.md), and what the analysis reads of
// it, means over bins of minutes.
namespace aaco::trace {

enum class FleetGroup : std::uint8_t { gpu, health, work, host };
inline constexpr std::array<FleetGroup, 4> kFleetGroups = {FleetGroup::gpu, FleetGroup::health, FleetGroup::work,
                                                           FleetGroup::host};
inline constexpr std::array<std::string_view, 4> kFleetGroupNames = {"gpu", "health", "work", "host"};

struct FleetColumn {
  std::string_view name;
  FleetGroup group;
  std::string_view meaning;  // with its unit
};

// The values of a row; each belongs to one group and is empty in rows of the others. Order and names are the stored form.
inline constexpr std::array<FleetColumn, 21> kFleetColumns = {{
    {"clock_hz", FleetGroup::gpu, "mean clock of the compute units, Hz"},
    {"power_watts", FleetGroup::gpu, "mean power, W"},
    {"temperature_celsius", FleetGroup::gpu, "hottest sensor, degrees Celsius"},
    {"busy_ratio", FleetGroup::gpu, "share of the minute with work on the device"},
    {"throttle_ratio", FleetGroup::gpu, "share of the minute with an active throttle reason"},
    {"ecc_corrected", FleetGroup::health, "corrected memory errors in the minute"},
    {"ecc_uncorrected", FleetGroup::health, "uncorrected memory errors in the minute"},
    {"pcie_replays", FleetGroup::health, "PCIe replays in the minute"},
    {"link_errors", FleetGroup::health, "errors of the links between devices (XGMI, NVLink) in the minute"},
    {"driver_resets", FleetGroup::health, "resets of the device in the minute"},
    {"steps", FleetGroup::work, "steps of the job in the minute"},
    {"compute_ns", FleetGroup::work, "mean compute time of the rank per step, ns"},
    {"wait_ns", FleetGroup::work, "mean wait of the rank for other ranks per step, ns"},
    {"transfer_ns", FleetGroup::work, "mean transfer time of the rank's collectives per step, waits excluded, ns"},
    {"host_ns", FleetGroup::work, "mean time per step in which the device waits for its host, ns"},
    {"clock_joined", FleetGroup::work, "1: the node's clock is joined to the job's other clocks, 0: it is not"},
    {"cpu_busy_ratio", FleetGroup::host, "share of CPU time in use"},
    {"foreign_cpu_ratio", FleetGroup::host, "share of CPU time used by processes outside the job"},
    {"probe_ns", FleetGroup::host, "duration of the agent's fixed probe on a CPU, ns"},
    {"clock_offset_ns", FleetGroup::host, "clock of the node minus clock of the collector, ns"},
    {"uptime_s", FleetGroup::host, "seconds since the node started"},
}};
inline constexpr std::size_t kFleetValues = kFleetColumns.size();
inline constexpr std::size_t kMaxFleetGroupValues = 6;  // columns of the largest group

constexpr std::size_t fleet_column(std::string_view name) {
  for (std::size_t i = 0; i < kFleetValues; ++i)
    if (kFleetColumns[i].name == name) return i;
  return kFleetValues;
}

// Position of a column among those of its group.
constexpr std::size_t place_in_group(std::size_t column) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < column; ++i) place += kFleetColumns[i].group == kFleetColumns[column].group ? 1 : 0;
  return place;
}

struct FleetMinute {
  std::int64_t minute_unix_ns = 0;               // start of the minute, by the node's clock
  std::optional<std::int64_t> received_unix_ns;  // by the collector's clock
  std::string node;
  std::optional<std::int32_t> device;  // empty: the host
  FleetGroup group = FleetGroup::gpu;
  std::string hardware;  // model of the device or of the host
  std::string job;       // empty: idle, or not known
  std::optional<std::int32_t> rank;
  std::array<std::optional<double>, kFleetValues> values{};
};

struct FleetUnit {
  std::string node;
  std::int32_t device = -1;  // -1: the host
  std::string hardware;
  bool operator==(const FleetUnit&) const = default;
};

// One unit in one bin; duplicate rows count once in the means.
struct FleetCell {
  std::int32_t unit = 0;  // index into FleetCells::units
  std::int32_t job = -1;  // index into FleetCells::jobs; -1: none
  std::int32_t rank = -1;
  std::int32_t bin = 0;            // since FleetCells::first_unix_ns
  std::int32_t minutes = 0;        // distinct ones
  std::int32_t rows = 0;           // duplicates included
  std::int32_t late = 0;           // received more than kFleetLateNs after their minute
  std::optional<double> delay_ns;  // mean of received - minute
  std::array<std::optional<double>, kMaxFleetGroupValues> values{};
};
inline constexpr std::int64_t kFleetLateNs = 600'000'000'000;
inline constexpr std::int64_t kFleetSlotNs = 600'000'000'000;  // what an engine adds up when rows arrive

struct FleetCells {
  std::int64_t first_unix_ns = 0;
  std::int64_t bin_ns = 0;
  std::int32_t bins = 0;
  std::vector<FleetUnit> units;
  std::vector<std::string> jobs;
  std::vector<FleetCell> cells;
};

}  // namespace aaco::trace

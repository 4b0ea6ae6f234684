#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "workflows/fleet.h"

namespace aaco::workflows {

// A fleet for clients that ask often, such as a page: answers are kept for kKeptNs. Safe from several threads. The analysis of a
// large fleet takes long: overview() waits for it, heat() and node() take its findings only where it has been made (`judged`).
class FleetView {
 public:
  static constexpr std::int64_t kKeptNs = 30'000'000'000;
  static constexpr std::int64_t kKeptPerMaking = 20;  // the analysis of a large fleet is kept for so many times what it took
  static constexpr std::int64_t kMaxColumns = 160;    // bins of a heat map

  // `from` as in FleetRequest; empty: no fleet, and every answer fails with not_found.
  FleetView(std::string from, const Services& services) : from_(std::move(from)), services_(services) {}
  [[nodiscard]] bool has_fleet() const { return !from_.empty(); }

  // Status, findings and stragglers of the last `hours` of the data.
  core::Result<core::Json> overview(std::int64_t hours);
  // One metric: means per node and bin, nodes with the most severe findings first; by name where not judged.
  core::Result<core::Json> heat(const std::string& metric, std::int64_t hours);
  // One node: its findings, the metrics of the node and its devices over time, its sessions in the lake.
  core::Result<core::Json> node(const std::string& name, std::int64_t hours);

 private:
  struct Kept {
    core::Json document;
    std::int64_t made_ns = 0;
  };
  using Report = std::shared_ptr<const FleetReport>;  // null: the analysis has not been made, or is no longer kept
  struct KeptReport {
    Report report;
    std::int64_t until_ns = 0;
  };
  struct Window;
  core::Result<core::Json> kept(const std::string& key, const std::function<core::Result<core::Json>()>& make);
  Report made_report(std::int64_t hours);
  core::Result<Report> report(std::int64_t hours);
  core::Result<Window> window(tracelake::FleetSource& source, const Report& report, std::int64_t hours) const;
  core::Result<core::Json> make_heat(const std::string& metric, std::int64_t hours, const Report& report);
  core::Result<core::Json> make_node(const std::string& name, std::int64_t hours, const Report& report);

  std::string from_;
  const Services& services_;
  std::mutex mutex_;      // of what is kept
  std::mutex analysing_;  // one analysis at a time: the second client waits for the first one's
  std::map<std::string, Kept> kept_;
  std::map<std::int64_t, KeptReport> reports_;  // by hours
};

}  // namespace aaco::workflows

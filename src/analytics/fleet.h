#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/fleet.h"

// Which nodes and devices of a fleet differ from their peers, since when, and why. Peers are units of the same model in the same
// job, or of the same model where the metric does not depend on the job. docs/how_to/watch_a_fleet.md explains the statistics.
namespace aaco::analytics::fleet {

// A test of a unit's metric against its peers that is significant after correction and larger than the smallest effect that
// matters.
struct Evidence {
  std::string metric;
  bool relative = true;  // effect is a ratio; else in the metric's unit
  double effect = 0;     // value / peers - 1, or value - peers; counts: events per hour above the peers
  double value = 0;      // mean of the unit over the window
  double peer_value = 0;
  std::int64_t since_unix_ns = 0, until_unix_ns = 0;
  std::int32_t bins = 0;  // of the window
  std::int32_t peers = 0;
  double p = 1, q = 1;
};

struct Finding {
  std::string kind;  // a kFleetKinds id
  std::string node;
  std::int32_t device = -1;  // -1: the node
  std::string hardware, job;
  std::int64_t since_unix_ns = 0, until_unix_ns = 0;
  bool lasting = false;            // still there in the last bin
  double severity = 0;             // largest effect of its evidence relative to the smallest one that matters
  std::vector<Evidence> evidence;  // strongest first
  [[nodiscard]] double q() const { return evidence.empty() ? 1 : evidence.front().q; }
};

struct Kind {
  std::string_view id, title, hint;
};
std::span<const Kind> kinds();
const Kind& kind_of(std::string_view id);

inline constexpr double kFalseDiscoveryRate = 0.01;

struct Rule;
// One unit's test before correction. Every test counts in the correction, those without effect included.
struct Test {
  trace::FleetUnit unit;
  std::string job;
  const Rule* rule = nullptr;
  bool large_enough = false;
  double severity = 0;
  bool lasting = false;
  Evidence evidence;
};

struct Tests {
  std::vector<Test> tests;
  std::int64_t units_without_peers = 0;  // unit and metric pairs that have too few peers
};

// What is known of a node's rows apart from their values, by bin; gathered from the cells of every group.
struct Presence {
  std::vector<std::string> nodes;
  std::vector<std::vector<std::int32_t>> minutes;  // [node][bin], the most of any of its units
  std::vector<std::vector<std::int64_t>> rows, distinct, late;
  std::vector<std::vector<double>> delay_sum_ns;
  std::vector<std::vector<std::int64_t>> delay_count;
  std::int64_t first_unix_ns = 0, bin_ns = 0;
  std::int32_t bins = 0;
  void add(const trace::FleetCells& cells);
};

// Tests of all metrics of one group, and of the presence. Append to `tests`.
void test_group(const trace::FleetCells& cells, trace::FleetGroup group, Tests& tests);
void test_presence(const Presence& presence, Tests& tests);

enum class StragglerState : std::uint8_t { none, found, cannot_tell };
std::string_view to_string(StragglerState state);

// Whom the ranks of one job wait for. The last to arrive waits least; the others are its victims, however long their steps take.
struct JobStraggler {
  std::string job;
  StragglerState state = StragglerState::none;
  std::string reason;  // of cannot_tell, in words
  std::int32_t ranks = 0;
  std::string node;
  std::vector<std::int32_t> devices;  // several if the whole node is late
  std::vector<std::int32_t> rank_numbers;
  std::string cause;      // compute, host or transfer: the part of its step that is longer than that of its peers; empty: none is
  double late_ns = 0;     // per step, median of the others' wait minus its own
  double late_ratio = 0;  // of the step: what the job would gain at most
  double last_ratio = 0;  // share of the bins in which it waited least
  bool chronic = false;   // in most of the time observed; else an episode
  std::int64_t since_unix_ns = 0, until_unix_ns = 0;
  double q = 1;
};
// Of the work group's cells; one entry per job with at least two ranks, by name.
std::vector<JobStraggler> stragglers(const trace::FleetCells& work);

// What a job did with its time and energy, over all its ranks.
struct JobSummary {
  std::string job;
  std::int32_t ranks = 0, nodes = 0;
  std::int64_t since_unix_ns = 0, until_unix_ns = 0;
  std::optional<double> steps;          // of one rank, in the minutes observed
  std::optional<double> step_ns;        // mean
  std::optional<double> goodput_ratio;  // compute time / step, mean over ranks
  std::optional<double> wait_ratio, transfer_ratio, host_ratio;
  std::optional<double> power_watts;        // of all devices
  std::optional<double> energy_per_step_j;  // of all devices
};
std::vector<JobSummary> job_summaries(const trace::FleetCells& work, const trace::FleetCells& gpu);

// Corrects all tests together (Benjamini-Hochberg) and merges those of a unit into findings with a kind, most severe first.
std::vector<Finding> findings(Tests tests);

}  // namespace aaco::analytics::fleet

#include "analytics/fleet/rules.h"

#include <array>

#include "analytics/fleet.h"
#include "core/check.h"

namespace aaco::analytics::fleet {
namespace {

constexpr std::array kRules = {
    Rule{"compute_ns", Scale::ratio, Bad::high, 0.03, 0.002, true, false, "slow_gpu"},
    Rule{"clock_hz", Scale::ratio, Bad::low, 0.03, 0.002, true, false, "slow_gpu"},
    Rule{"temperature_celsius", Scale::difference, Bad::high, 4, 0.3, true, false, "thermal"},
    Rule{"throttle_ratio", Scale::difference, Bad::high, 0.02, 0.002, false, false, "thermal"},
    Rule{"power_watts", Scale::ratio, Bad::both, 0.08, 0.005, true, false, "power_outlier"},
    Rule{"ecc_corrected", Scale::count, Bad::high, 3, 0.5, false, false, "ecc_storm"},
    Rule{"ecc_uncorrected", Scale::count, Bad::high, 0.5, 0.5, false, false, "ecc_storm"},
    Rule{"pcie_replays", Scale::count, Bad::high, 2.5, 0.5, false, false, "bad_link"},
    Rule{"link_errors", Scale::count, Bad::high, 2.5, 0.5, false, false, "bad_link"},
    Rule{"driver_resets", Scale::count, Bad::high, 0.5, 0.5, false, false, "driver_resets"},
    Rule{"transfer_ns", Scale::ratio, Bad::high, 0.04, 0.002, true, false, "bad_link"},
    Rule{"host_ns", Scale::ratio, Bad::high, 0.04, 0.002, true, true, "slow_host"},
    Rule{"probe_ns", Scale::ratio, Bad::high, 0.03, 0.002, false, true, "slow_host"},
    Rule{"foreign_cpu_ratio", Scale::difference, Bad::high, 0.02, 0.002, false, true, "noisy_neighbour", 4, false, true},
    Rule{"clock_offset_ns", Scale::difference, Bad::both, 1e9, 1e6, false, true, "clock_skew"},
    Rule{"delay_ns", Scale::difference, Bad::low, 30e9, 1e9, false, true, "clock_skew"},
    Rule{"missing_ratio", Scale::difference, Bad::high, 0.03, 0.005, false, true, "missing_rows", 4, false, true, 6},
    Rule{"late_ratio", Scale::difference, Bad::high, 0.02, 0.005, false, true, "late_rows", 4, false, true},
    Rule{"duplicate_ratio", Scale::difference, Bad::high, 0.02, 0.005, false, true, "duplicate_rows", 4, false, true},
};

constexpr std::array kKinds = {
    Kind{"slow_gpu", "slow GPU", "move the rank to another device and run a stress test on this one"},
    Kind{"thermal", "thermal limit", "check fans, airflow and the heat sink of this device"},
    Kind{"ecc_storm", "memory errors", "drain the node and test or replace the device"},
    Kind{"bad_link", "bad link", "check cable, riser and link width; keep the rank off this link until then"},
    Kind{"driver_resets", "device resets", "drain the node and read the kernel log for the reason of the resets"},
    Kind{"power_outlier", "power outlier", "compare the power limit and firmware with the peers"},
    Kind{"slow_host", "slow host",
         "compare governor, BIOS settings and memory population with a peer; move its ranks until then"},
    Kind{"noisy_neighbour", "noisy neighbour", "find the process that uses the CPU, or give the job dedicated cores"},
    Kind{"clock_skew", "clock skew", "check the time service (chrony, PTP) of the node; its times are not comparable until then"},
    Kind{"missing_rows", "missing telemetry", "check that the node is up and its agent running"},
    Kind{"late_rows", "late telemetry", "check the network of the node and the spool of its agent"},
    Kind{"duplicate_rows", "duplicate telemetry", "check that only one agent runs on the node; duplicates were counted once"},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

std::size_t rule_of(std::string_view metric) {
  std::size_t at = 0;
  while (at < kRules.size() && kRules[at].metric != metric) ++at;
  return at;
}

std::span<const Kind> kinds() { return kKinds; }

const Kind& kind_of(std::string_view id) {
  for (const Kind& kind : kKinds)
    if (kind.id == id) return kind;
  AACO_CHECK(!"a kind of finding that kinds() lists");
  return kKinds[0];
}

}  // namespace aaco::analytics::fleet

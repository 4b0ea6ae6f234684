#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <numbers>
#include <optional>

#include "core/random.h"
#include "laboratory/fleet.h"

namespace aaco::laboratory::fleet {
namespace {

constexpr std::int64_t kMinuteNs = 60'000'000'000;
constexpr double kMissingShare = 0.01;    // of the rows
constexpr double kRestartsPerDay = 0.15;  // of a node
constexpr double kMinuteNoise = 0.015;    // of a time per step
constexpr double kSiliconSpread = 0.01;   // of clock and time between good devices
constexpr std::array<std::string_view, 3> kDeviceModels = {"amd_instinct_mi300x_192gb", "nvidia_h100_sxm5_80gb",
                                                           "amd_instinct_mi250x_128gb"};
constexpr std::array<std::string_view, 3> kHostModels = {"host-96c", "host-112c", "host-64c"};
constexpr std::array<double, 3> kClocksHz = {2.1e9, 1.83e9, 1.7e9};
constexpr std::array<double, 3> kPowersWatts = {690, 640, 480};

constexpr std::size_t column(std::string_view name) { return trace::fleet_column(name); }

struct DeviceState {
  double speed = 1;     // of a good device about 1
  double heat = 0;      // K above the model's usual
  double link = 1;      // factor of its transfer time
  double ecc_rate = 0;  // per minute
};
struct NodeState {
  std::vector<DeviceState> devices;
  double host = 1;
  double foreign = 0.01;
  double offset_ns = 0;
  double arrival_ns = 5e9;
  std::int64_t up_since = -20'000;
  std::int64_t down_until = 0;
  std::int64_t absent_until = 0;
};

// The strongest active fault of a kind, 0 where there is none.
class Active {
 public:
  Active(const std::vector<Fault>& faults, std::int64_t minute) : minute_(minute) {
    for (const Fault& fault : faults)
      if (fault.since_minute <= minute && minute < fault.until_minute) faults_.push_back(&fault);
  }
  [[nodiscard]] double of(std::string_view kind, std::int32_t device = -1) const {
    for (const Fault* fault : faults_)
      if (fault->kind == kind && fault->device == device) return fault->strength;
    return 0;
  }
  // Of a noisy neighbour: two thirds of each hour.
  [[nodiscard]] double neighbour() const { return minute_ % 60 < 40 ? of("noisy_neighbour") : 0; }

 private:
  std::vector<const Fault*> faults_;
  std::int64_t minute_;
};

class Simulation {
 public:
  Simulation(const Plan& plan, const std::function<core::Status(const trace::FleetMinute&)>& add)
      : plan_(plan), add_(add), random_(core::Random(plan.request.seed).fork(1)), faults_(plan.nodes.size()) {
    for (const Fault& fault : plan.faults) faults_[static_cast<std::size_t>(fault.node)].push_back(fault);
    for (std::size_t i = 0; i < plan.nodes.size(); ++i) states_.push_back(make_state());
    job_drift_.resize(plan.jobs.size());
  }

  core::Status run() {
    for (minute_ = 0; minute_ < plan_.minutes(); ++minute_) {
      for (double& drift : job_drift_) drift = 0.98 * drift + 0.004 * random_.normal();
      for (std::size_t job = 0; job < plan_.jobs.size(); ++job) AACO_TRY(job_minute(job));
      for (std::size_t node = 0; node < plan_.nodes.size(); ++node)
        if (plan_.nodes[node].job < 0) AACO_TRY(idle_minute(node));
      AACO_TRY(deliver_late(false));
    }
    return deliver_late(true);
  }

 private:
  struct Rank {
    std::size_t node = 0;
    std::int32_t device = 0;
    double compute = 0, transfer = 0, host = 0, busy = 0;
    [[nodiscard]] double own() const { return compute + transfer + host; }
  };

  NodeState make_state() {
    NodeState state;
    for (std::int32_t i = 0; i < plan_.request.devices; ++i)
      state.devices.push_back({1 + kSiliconSpread * random_.normal(), 1.2 * random_.normal(), 1 + 0.01 * random_.normal(),
                               random_.uniform() < 0.03 ? 0.02 : 0.0005});
    state.host = 1 + kSiliconSpread * random_.normal();
    state.foreign = 0.01 * std::exp(0.2 * random_.normal());
    state.offset_ns = 2e6 * random_.normal();
    state.arrival_ns = 4e9 + 3e9 * random_.uniform();
    return state;
  }

  double noise(double spread) { return 1 + spread * random_.normal(); }
  double load() const {  // of the day: 0.55 to 0.95
    return 0.75 + 0.2 * std::sin(2 * std::numbers::pi * (static_cast<double>(minute_ % 1440) / 1440 - 0.3));
  }
  std::int64_t poisson(double mean) {
    if (mean <= 0) return 0;
    const double limit = std::exp(-mean);
    double product = random_.uniform();
    std::int64_t count = 0;
    for (; product > limit; ++count) product *= random_.uniform();
    return count;
  }

  bool is_up(std::size_t node) {
    NodeState& state = states_[node];
    if (state.down_until > minute_) return false;
    if (random_.uniform() < kRestartsPerDay / 1440) {
      state.down_until = minute_ + 4 + static_cast<std::int64_t>(random_.below(9));
      state.up_since = state.down_until;
      return false;
    }
    return true;
  }
  // A node that does its work and is not heard of.
  bool is_absent(std::size_t node, const Active& active) {
    NodeState& state = states_[node];
    if (state.absent_until > minute_) return true;
    const double share = active.of("missing_rows");
    constexpr double kMeanGap = 10.5;
    if (share <= 0 || random_.uniform() >= share / (1 - share) / kMeanGap) return false;
    state.absent_until = minute_ + 1 + static_cast<std::int64_t>(random_.below(20));
    return true;
  }

  core::Status job_minute(std::size_t index) {
    const Job& job = plan_.jobs[index];
    std::vector<Rank> ranks;
    bool up = true;
    for (const std::int32_t node : job.nodes) up = is_up(static_cast<std::size_t>(node)) && up;
    const double level = job.step_ns * (1 + job_drift_[index]);
    for (const std::int32_t node : job.nodes)
      for (std::int32_t device = 0; device < plan_.request.devices; ++device)
        ranks.push_back(make_rank(static_cast<std::size_t>(node), device, level));
    double step = 0;
    for (const Rank& rank : ranks) step = std::max(step, rank.own());
    for (const std::int32_t node : job.nodes) {
      const auto at = static_cast<std::size_t>(node);
      const Active active(faults_[at], minute_);
      if (states_[at].down_until > minute_ || is_absent(at, active)) continue;
      AACO_TRY(host_row(at, active));
      std::int32_t number = 0;
      for (const Rank& rank : ranks) {
        if (rank.node == at) AACO_TRY(device_rows(rank, step, up, job, number, active));
        ++number;
      }
    }
    return {};
  }

  core::Status idle_minute(std::size_t node) {
    const Active active(faults_[node], minute_);
    if (!is_up(node) || is_absent(node, active)) return {};
    AACO_TRY(host_row(node, active));
    for (std::int32_t device = 0; device < plan_.request.devices; ++device)
      AACO_TRY(device_rows({node, device, 0, 0, 0, 0}, 0, false, {}, -1, active));
    return {};
  }

  Rank make_rank(std::size_t node, std::int32_t device, double level) {
    const Active active(faults_[node], minute_);
    const NodeState& state = states_[node];
    const DeviceState& one = state.devices[static_cast<std::size_t>(device)];
    const double slow = 1 + active.of("slow_gpu", device) + active.of("thermal", device) + active.of("ecc_storm", device) / 4;
    Rank rank{node, device, 0, 0, 0, load()};
    rank.compute = 0.7 * level / one.speed * slow * noise(kMinuteNoise);
    rank.transfer = 0.2 * level * one.link * (1 + active.of("bad_link", device)) * noise(kMinuteNoise);
    rank.host = 0.1 * level * state.host * (1 + active.of("slow_host") + active.neighbour()) * noise(2 * kMinuteNoise);
    return rank;
  }

  trace::FleetMinute row_of(std::size_t node, trace::FleetGroup group) const {
    trace::FleetMinute row;
    row.node = plan_.nodes[node].name;
    row.group = group;
    row.hardware = kHostModels[static_cast<std::size_t>(plan_.nodes[node].model)];
    return row;
  }

  core::Status host_row(std::size_t node, const Active& active) {
    trace::FleetMinute row = row_of(node, trace::FleetGroup::host);
    const NodeState& state = states_[node];
    const double neighbour = active.neighbour();
    row.values[column("foreign_cpu_ratio")] = std::min(1.0, state.foreign * noise(0.2) + neighbour * noise(0.1));
    row.values[column("cpu_busy_ratio")] = std::min(1.0, 0.3 * load() * noise(0.05) + neighbour);
    row.values[column("probe_ns")] = 5e6 * state.host * (1 + active.of("slow_host") + 0.3 * neighbour) * noise(0.01);
    row.values[column("clock_offset_ns")] = state.offset_ns + skew_ns(node, active) + 1e6 * random_.normal();
    row.values[column("uptime_s")] = static_cast<double>(minute_ - state.up_since) * 60;
    return send(node, std::move(row), active);
  }

  // Odd nodes are late, even ones early.
  static double skew_ns(std::size_t node, const Active& active) {
    return active.of("clock_skew") * 50 * static_cast<double>(kMinuteNs) * (node % 2 == 0 ? 1 : -1);
  }

  core::Status device_rows(const Rank& rank, double step, bool running, const Job& job, std::int32_t number,
                           const Active& active) {
    const auto model = static_cast<std::size_t>(plan_.nodes[rank.node].model);
    const DeviceState& one = states_[rank.node].devices[static_cast<std::size_t>(rank.device)];
    const double busy = running ? rank.busy * rank.own() / step : 0;
    const double thermal = active.of("thermal", rank.device);
    trace::FleetMinute row = row_of(rank.node, trace::FleetGroup::gpu);
    row.device = rank.device;
    row.hardware = kDeviceModels[model];
    row.job = job.name;
    if (number >= 0) row.rank = number;
    trace::FleetMinute health = row;
    trace::FleetMinute work = row;
    const double clock = (1 - 0.03 * busy) * one.speed * (1 - active.of("slow_gpu", rank.device) - thermal);
    row.values[column("clock_hz")] = kClocksHz[model] * (running ? clock : 0.3) * noise(0.004);
    row.values[column("power_watts")] = kPowersWatts[model] * (0.2 + 0.75 * busy) * noise(0.02);
    row.values[column("temperature_celsius")] = 38 + 34 * busy + one.heat + 60 * thermal + 0.5 * random_.normal();
    row.values[column("busy_ratio")] = std::clamp(busy * noise(0.01), 0.0, 1.0);
    row.values[column("throttle_ratio")] = std::clamp(thermal * noise(0.2) + (random_.uniform() < 0.01 ? 0.02 : 0), 0.0, 1.0);
    AACO_TRY(send(rank.node, std::move(row), active));
    health.group = trace::FleetGroup::health;
    health.values[column("ecc_corrected")] =
        static_cast<double>(poisson(one.ecc_rate + 40 * active.of("ecc_storm", rank.device)));
    health.values[column("ecc_uncorrected")] = 0;
    health.values[column("pcie_replays")] = static_cast<double>(poisson(0.002));
    health.values[column("link_errors")] = static_cast<double>(poisson(0.001 + 20 * active.of("bad_link", rank.device)));
    health.values[column("driver_resets")] = 0;
    AACO_TRY(send(rank.node, std::move(health), active));
    if (!running) return {};
    work.group = trace::FleetGroup::work;
    const double wait = (step - rank.own()) + 0.002 * step * (1 + random_.uniform());
    work.values[column("steps")] = std::floor(static_cast<double>(kMinuteNs) * rank.busy / step);
    work.values[column("compute_ns")] = rank.compute;
    work.values[column("wait_ns")] = wait;
    work.values[column("transfer_ns")] = rank.transfer;
    work.values[column("host_ns")] = rank.host;
    work.values[column("clock_joined")] = active.of("clock_skew") > 0 ? 0 : 1;
    return send(rank.node, std::move(work), active);
  }

  // Stamps a row with the node's clock and sends it, now or later, once, twice or never.
  core::Status send(std::size_t node, trace::FleetMinute row, const Active& active) {
    if (random_.uniform() < kMissingShare) return {};
    const std::int64_t true_ns = plan_.request.start_unix_ns + minute_ * kMinuteNs;
    const auto skew_minutes = static_cast<std::int64_t>(std::llround(skew_ns(node, active) / static_cast<double>(kMinuteNs)));
    row.minute_unix_ns = true_ns + skew_minutes * kMinuteNs;
    row.received_unix_ns =
        true_ns + kMinuteNs + static_cast<std::int64_t>(states_[node].arrival_ns * (0.8 + 0.4 * random_.uniform()));
    const bool twice = random_.uniform() < active.of("duplicate_rows");
    if (random_.uniform() < active.of("late_rows")) {
      const auto delay = 15 + static_cast<std::int64_t>(random_.below(106));
      *row.received_unix_ns += delay * kMinuteNs;
      late_.emplace(minute_ + delay, std::move(row));
      return {};
    }
    if (twice) AACO_TRY(add_(row));
    return add_(row);
  }

  core::Status deliver_late(bool all) {
    while (!late_.empty() && (all || late_.begin()->first <= minute_)) {
      AACO_TRY(add_(late_.begin()->second));
      late_.erase(late_.begin());
    }
    return {};
  }

  const Plan& plan_;
  const std::function<core::Status(const trace::FleetMinute&)>& add_;
  core::Random random_;
  std::vector<std::vector<Fault>> faults_;
  std::vector<NodeState> states_;
  std::vector<double> job_drift_;
  std::multimap<std::int64_t, trace::FleetMinute> late_;
  std::int64_t minute_ = 0;
};

}  // namespace

core::Status simulate(const Plan& plan, const std::function<core::Status(const trace::FleetMinute&)>& add) {
  return Simulation(plan, add).run();
}

}  // namespace aaco::laboratory::fleet

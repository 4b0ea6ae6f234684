#include "agent/agent.h"

#include <fmt/format.h>
#include <time.h>

#include <cmath>
#include <cstdlib>

#include "core/files.h"
#include "core/numbers.h"
#include "core/resident_memory.h"
#include "core/strings.h"
#include "hardware/gpu_devices.h"
#include "hardware/inventory.h"
#include "hardware/process_jobs.h"
#include "tracelake/engine.h"

namespace aaco::agent {
namespace {

constexpr std::int64_t kMinuteNs = 60'000'000'000;
constexpr std::int64_t kJumpNs = 1'000'000'000;
constexpr std::int64_t kProbePeriodNs = 5'000'000'000;
constexpr int kProbeSteps = 60'000;  // about 0.1 ms

constexpr std::size_t kProbeColumn = trace::fleet_column("probe_ns");
constexpr std::size_t kUptimeColumn = trace::fleet_column("uptime_s");
constexpr std::size_t kOffsetColumn = trace::fleet_column("clock_offset_ns");

std::int64_t process_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t minute_of(std::int64_t realtime_ns) { return realtime_ns / kMinuteNs * kMinuteNs; }

}  // namespace

Agent::Agent(Settings settings, std::vector<std::unique_ptr<collectors::Collector>> collectors, Spool& spool, Sender& sender,
             const core::Clock& clock)
    : settings_(std::move(settings)),
      spool_(spool),
      sender_(sender),
      clock_(clock),
      health_(settings_.root.path, hardware::read_gpus(settings_.root.path)) {
  for (auto& collector : collectors) {
    if (const auto opened = collector->open(settings_.root, {}); !opened)
      absent_.push_back(collector->info().name + ": " + opened.error().message);
    else
      collectors_.push_back(std::move(collector));
  }
  const hardware::Inventory inventory = hardware::take_inventory(settings_.root.path, {});
  host_.hardware = inventory.cpu.model;
  for (const hardware::GpuInfo& gpu : inventory.gpus)
    devices_[static_cast<std::int32_t>(gpu.index)] = {gpu.name.empty() ? gpu.pci_id : gpu.name, "", {}};
  look_at_jobs();
}

// A process with a local rank works on the device of that number. A job that says nothing of devices has the whole node.
void Agent::look_at_jobs() {
  host_.job = settings_.job;
  for (auto& [device, facts] : devices_) {
    facts.job = settings_.job;
    facts.rank.reset();
  }
  for (const hardware::ProcessJob& one : hardware::find_process_jobs(settings_.root.path)) {
    if (!settings_.job.empty() && one.job != settings_.job) continue;
    if (host_.job.empty()) host_.job = one.job;
    const auto device = devices_.find(static_cast<std::int32_t>(one.local_rank.value_or(-1)));
    if (device == devices_.end() || device->second.rank) continue;
    device->second.job = one.job;
    device->second.rank = static_cast<std::int32_t>(*one.rank);
  }
}

// A fixed piece of work: it takes longer where the CPU is slow or taken by others.
void Agent::probe_cpu() {
  const std::int64_t begin = clock_.now_ns(core::ClockId::monotonic);
  if (begin < next_probe_ns_) return;
  next_probe_ns_ = begin + kProbePeriodNs;
  std::uint64_t state = 88172645463325252ULL;
  for (int i = 0; i < kProbeSteps; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  const std::int64_t end = clock_.now_ns(core::ClockId::monotonic);
  book_.host(kProbeColumn, static_cast<double>(end - begin) + static_cast<double>(state & 1) * 1e-3);
}

void Agent::notice_clock_jump(std::int64_t realtime_ns, std::int64_t monotonic_ns) {
  const std::int64_t apart = realtime_ns - monotonic_ns;
  const bool jumped = clocks_apart_ns_ && std::abs(apart - *clocks_apart_ns_) > kJumpNs;
  clocks_apart_ns_ = apart;
  if (!jumped) return;
  ++clock_jumps_;
  end_minute();
  sender_.forget_clock();
}

void Agent::sample() {
  const std::int64_t realtime = clock_.now_ns(core::ClockId::realtime);
  notice_clock_jump(realtime, clock_.now_ns(core::ClockId::monotonic));
  const std::int64_t minute = minute_of(realtime);
  if (minute_unix_ns_ && *minute_unix_ns_ != minute) end_minute();
  minute_unix_ns_ = minute;
  for (const auto& collector : collectors_) collector->sample(book_);
  probe_cpu();
  ++samples_;
}

void Agent::end_minute() {
  if (!minute_unix_ns_ || book_.empty()) return;
  health_.read(book_);
  if (const auto text = core::read_file(settings_.root.at("/proc/uptime"), 4096))
    if (const auto uptime = core::parse_f64(text->substr(0, text->find(' ')))) book_.host(kUptimeColumn, *uptime);
  const auto offset = sender_.clock_offset_ns();
  auto rows = book_.close(*minute_unix_ns_, settings_.node, host_, devices_);
  std::string text;
  for (trace::FleetMinute& row : rows) {
    if (offset) row.values[kOffsetColumn] = static_cast<double>(*offset);
    text += row_text(row);
  }
  ++minutes_;
  stored_rows_ += static_cast<std::int64_t>(rows.size());
  spool_.add(std::move(text), static_cast<std::int64_t>(rows.size()));
  minute_unix_ns_.reset();
  look_at_jobs();
  if (!settings_.status_file.empty()) (void)core::write_file_atomic(settings_.status_file, status().dump() + "\n");
}

void Agent::finish() {
  end_minute();
  for (const auto& collector : collectors_) collector->close();
}

core::Json Agent::status() const {
  using core::Json;
  const SpoolCounts spool = spool_.counts();
  const SenderCounts sent = sender_.counts();
  const std::int64_t now = clock_.now_ns(core::ClockId::realtime);
  Json clock = Json::object({{"jumps", clock_jumps_}});
  clock.set_if("offset_ns", sender_.clock_offset_ns()).set_if("uncertainty_ns", sender_.clock_uncertainty_ns());
  Json cost = Json::object({{"cpu_ns", process_cpu_ns()}, {"samples", samples_}});
  cost.set_if("resident_bytes", core::resident_bytes());
  Json out = Json::object({{"schema_version", 1},
                           {"node", settings_.node},
                           {"started_unix_ns", settings_.started_unix_ns},
                           {"updated_unix_ns", now},
                           {"minutes", minutes_},
                           {"rows", stored_rows_},
                           {"sent_rows", sent.sent_rows},
                           {"waiting_rows", spool.waiting_rows},
                           {"waiting_bytes", spool.waiting_bytes},
                           {"rows_in_memory", spool.rows_in_memory},
                           {"dropped_rows", spool.dropped_rows},
                           {"damaged_rows", spool.damaged_rows},
                           {"failures", sent.failures}});
  if (!sent.last_error.empty()) out.set("last_error", sent.last_error);
  if (!host_.job.empty()) out.set("job", host_.job);
  return out.set("clock", std::move(clock)).set("cost", std::move(cost)).set("absent", Json::texts(absent_));
}

std::vector<std::string> row_columns() {
  std::vector<std::string> out;
  for (const auto& [name, type] : tracelake::fleet_row_columns())
    if (name != "received_unix_ns") out.push_back(name);
  out.emplace_back("received_unix_ns");
  return out;
}

std::string row_text(const trace::FleetMinute& row) {
  const auto whole = [](const auto& value) { return value ? std::optional(std::to_string(*value)) : std::nullopt; };
  const auto text = [](const std::string& value) { return value.empty() ? std::nullopt : std::optional(value); };
  std::vector<std::optional<std::string>> cells = {std::to_string(row.minute_unix_ns),
                                                   row.node,
                                                   whole(row.device),
                                                   std::string(trace::kFleetGroupNames[static_cast<std::size_t>(row.group)]),
                                                   text(row.hardware),
                                                   text(row.job),
                                                   whole(row.rank)};
  for (const auto& value : row.values)
    cells.push_back(value && std::isfinite(*value) ? std::optional(fmt::format("{}", *value)) : std::nullopt);
  std::string line;
  for (const auto& cell : cells) {
    if (!line.empty()) line += '\t';
    tracelake::append_cell(line, cell);
  }
  return line + "\n";
}

}  // namespace aaco::agent

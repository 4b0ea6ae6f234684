#include "collectors/smi/smi_collector.h"

#include <algorithm>

#include "collectors/smi/tool_run.h"
#include "core/environment.h"
#include "core/strings.h"
#include "formats/smi_text.h"

namespace aaco::collectors::smi {
namespace {

constexpr int kMaxFailures = 3;  // in a row; then the tool is left alone
constexpr std::int64_t kMinPeriodNs = 1'000'000'000;

struct Tool {
  const char* program;
  std::vector<std::string> arguments;
};

const std::vector<Tool>& tools() {
  static const std::vector<Tool> kTools = {
      {"amd-smi", {"metric", "--json"}},
      {"rocm-smi", {"--showtemp", "--showpower", "--showuse", "--showclocks", "--showmeminfo", "vram", "--json"}}};
  return kTools;
}

class SmiCollector final : public Collector {
 public:
  SmiCollector(Options options, std::unique_ptr<core::Clock> clock) : options_(std::move(options)), clock_(std::move(clock)) {
    options_.period_ns = std::max(options_.period_ns, kMinPeriodNs);
    account_.source = "smi";
  }

  [[nodiscard]] CollectorInfo info() const override {
    return {"smi", "AMD GPU metrics that sysfs lacks, from amd-smi or rocm-smi, once per second"};
  }

  core::Status open(const SysRoot& root, const Target&) override {
    known_ = quantities_of_sysfs(root);
    std::string path = options_.path_variable.value_or("");
    if (!options_.path_variable && root.is_real()) path = core::Environment::of_process().get("PATH").value_or("");
    for (const Tool& tool : tools()) {
      const auto program = core::find_program(tool.program, path);
      if (!program) continue;
      source_ = tool.program;
      command_ = {*program};
      command_.insert(command_.end(), tool.arguments.begin(), tool.arguments.end());
      break;
    }
    if (command_.empty())
      return core::fail(core::ErrorCode::unsupported, "neither amd-smi nor rocm-smi is on PATH",
                        known_.empty() ? "to monitor AMD GPUs, install amd-smi-lib (ROCm)" : "");
    if (known_.size() >= kQuantities) {
      command_.clear();
      return core::fail(core::ErrorCode::unsupported, "sysfs already provides everything " + source_ + " would", "");
    }
    if (!known_.empty()) account_.notes.push_back("sysfs provides " + core::join(known_, ", ") + ": not queried from " + source_);
    next_ns_ = clock_->now_ns(core::ClockId::monotonic);
    return {};
  }

  void sample(trace::Sink& sink) override {
    if (command_.empty()) return;
    const std::int64_t now = clock_->now_ns(core::ClockId::monotonic);
    if (run_) return follow(now, sink);
    if (now < next_ns_) return;
    next_ns_ = now + options_.period_ns;
    auto started = ToolRun::start(command_);
    if (!started) return fail_once("cannot start: " + started.error().message);
    run_.emplace(std::move(*started));
    started_ns_ = now;
  }

  void close() override {
    run_.reset();  // kills a run that is under way
    command_.clear();
  }
  [[nodiscard]] trace::Account account() const override { return account_; }

 private:
  static constexpr std::size_t kQuantities = 5;  // those of sysfs_quantities.cc

  void follow(std::int64_t now, trace::Sink& sink) {
    if (run_->poll() == ToolRun::State::running) {
      if (now - started_ns_ < options_.timeout_ns) return;
      run_.reset();
      return fail_once("timed out after " + std::to_string(options_.timeout_ns / 1'000'000) + " ms");
    }
    const ToolRun run = std::move(*run_);
    run_.reset();
    if (run.exit_code() != 0)
      return fail_once("exit code " + std::to_string(run.exit_code()) + ": " + first_line(run.error_output()));
    const auto log = formats::smi_text::decode(run.output());
    if (!log) return fail_once(log.error().message);
    failures_ = 0;
    take(*log, started_ns_ + (now - started_ns_) / 2, sink);
  }

  void take(const formats::smi_text::Log& log, std::int64_t time_ns, trace::Sink& sink) {
    if (log.not_available > 0) account_.drop("reported as N/A", log.not_available);
    if (log.not_understood > 0) account_.drop("unknown value or unit", log.not_understood);
    for (const auto& reading : log.readings) {
      if (std::find(known_.begin(), known_.end(), reading.metric) != known_.end()) continue;
      trace::GpuEventRow row;
      row.time_ns = time_ns;
      row.device = reading.device;
      row.metric = sink.name(reading.metric);
      row.source = sink.name(source_);
      row.value = reading.value;
      sink.add(row);
      account_.keep();
    }
  }

  static std::string first_line(const std::string& text) {
    const auto lines = core::split_lines(text);
    return lines.empty() ? "no message" : std::string(lines.front().substr(0, 200));
  }

  void fail_once(const std::string& why) {
    account_.drop(source_ + " failed: " + why);
    if (++failures_ < kMaxFailures) return;
    account_.state = trace::Account::State::partial;
    account_.reason = source_ + " failed " + std::to_string(failures_) + " times in a row and is disabled: " + why;
    command_.clear();
  }

  Options options_;
  std::unique_ptr<core::Clock> clock_;
  trace::Account account_;
  std::vector<std::string> known_;
  std::string source_;
  std::vector<std::string> command_;
  std::optional<ToolRun> run_;
  std::int64_t started_ns_ = 0, next_ns_ = 0;
  int failures_ = 0;
};

}  // namespace

std::unique_ptr<Collector> make_collector(Options options, std::unique_ptr<core::Clock> clock) {
  return std::make_unique<SmiCollector>(std::move(options), std::move(clock));
}

}  // namespace aaco::collectors::smi

#include "workflows/compare/side_facts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/files.h"
#include "workflows/recorded_run.h"
#include "workflows/session/traced_devices.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::string_view kMeasuredWith = "measured_with", kInputs = "inputs.hash", kJobRanks = "job.ranks";
// Members of a run's request, which are options of `aaco run` too. The profiled pass follows the measurement.
constexpr std::array<std::string_view, 2> kInProcess = {"telemetry", "ebpf"};
constexpr std::string_view kProfile = "profile";
// Options of PyTorch's profiler that slow the host down.
constexpr std::array<std::string_view, 4> kRecording = {"with_stack", "record_shapes", "profile_memory", "with_flops"};

std::string option_of(std::string_view member) { return "--" + std::string(member); }

std::string options_of(const Json& request) {
  std::string text;
  for (const std::string_view member : {kInProcess[0], kInProcess[1], kProfile})
    if (request[member].as_bool().value_or(false)) text += (text.empty() ? "" : " ") + option_of(member);
  return text.empty() ? "none" : text;
}

bool has(const hardware::Fingerprint& fingerprint, std::string_view key) {
  return std::any_of(fingerprint.facts.begin(), fingerprint.facts.end(), [&](const auto& fact) { return fact.key == key; });
}

}  // namespace

void add_request_facts(const Json& request, hardware::Fingerprint& fingerprint) {
  add_command_facts(request, fingerprint);
  if (!request[kProfile].is_bool()) return;  // not the request of a run
  auto facts = fingerprint.facts;
  facts.push_back({std::string(kMeasuredWith), options_of(request)});
  if (!request["inputs"].members().empty() && !has(fingerprint, kInputs))
    facts.push_back({std::string(kInputs), "given, content not recorded"});
  fingerprint = hardware::make_fingerprint(std::move(facts));
}

namespace {

// Of the job that the traces belong to; empty: they do not state it, or differ.
std::string ranks_of(const Json& files) {
  std::optional<std::int64_t> ranks;
  for (const Json& file : files.items()) {
    const auto of_file = file["facts"]["distributed"]["world_size"].as_i64();
    if (!of_file || *of_file <= 0 || (ranks && *ranks != *of_file)) return {};
    ranks = of_file;
  }
  return ranks ? std::to_string(*ranks) : std::string();
}

// The options of PyTorch's profiler that were on, or "none"; empty: no file states them.
std::string recorded_with(const Json& files) {
  std::string text;
  bool known = false;
  for (const std::string_view option : kRecording) {
    bool on = false;
    for (const Json& file : files.items()) {
      const Json& fact = file["facts"][option];
      if (!fact.is_null()) known = true;
      on = on || fact.as_i64().value_or(0) != 0 || fact.as_bool().value_or(false);
    }
    if (on) text += (text.empty() ? "" : " ") + std::string(option);
  }
  return known && text.empty() ? "none" : text;
}

}  // namespace

void add_recording_facts(const Json& files, hardware::Fingerprint& fingerprint) {
  const std::string options = recorded_with(files), ranks = ranks_of(files);
  if (options.empty() && ranks.empty()) return;
  auto facts = fingerprint.facts;
  if (!options.empty()) facts.push_back({std::string(kMeasuredWith), options});
  if (!ranks.empty()) facts.push_back({std::string(kJobRanks), ranks});
  fingerprint = hardware::make_fingerprint(std::move(facts));
}

namespace {

// An imported trace knows its devices from its files; sessions of older versions have them there only.
void add_traced_devices(const Json& environment, hardware::Fingerprint& fingerprint) {
  fingerprint.facts.push_back({"device", traced_devices(environment["files"])});
  fingerprint = hardware::make_fingerprint(std::move(fingerprint.facts));
}

}  // namespace

core::Result<hardware::Fingerprint> stored_fingerprint(const std::string& path) {
  const std::string file = core::join_path(path, "env.json");
  if (!core::exists(file)) return hardware::Fingerprint();
  AACO_ASSIGN(const Json environment, core::read_json_file(file));
  AACO_ASSIGN(auto fingerprint, hardware::fingerprint_from_json(environment["fingerprint"]));
  if (environment["imported"].as_bool() == true) {
    add_traced_devices(environment, fingerprint);
    add_recording_facts(environment["files"], fingerprint);
  }
  return fingerprint;
}

std::string host_not_judged(const std::vector<hardware::Difference>& differences, bool traced) {
  const auto found =
      std::find_if(differences.begin(), differences.end(), [](const auto& one) { return one.key == kMeasuredWith; });
  if (!traced || found == differences.end() || found->a.empty() || found->b.empty()) return {};
  return "the traces were recorded with different options (" + found->a + " and " + found->b + "), which cost time on the host";
}

void name_models(std::vector<hardware::Difference>& differences, const std::string& model_a, const std::string& model_b) {
  if (model_a.empty() || model_b.empty()) return;
  for (auto& difference : differences)
    if (difference.key == "model.hash")
      difference.meaning += model_a == model_b ? ": two files named " + model_a : ": " + model_a + " vs " + model_b;
}

std::string memory_not_judged(const std::vector<hardware::Difference>& differences) {
  const auto found =
      std::find_if(differences.begin(), differences.end(), [](const auto& one) { return one.key == kMeasuredWith; });
  if (found == differences.end()) return {};
  for (const std::string_view member : kInProcess) {
    const std::string option = option_of(member);
    const bool in_a = found->a.find(option) != std::string::npos, in_b = found->b.find(option) != std::string::npos;
    if (in_a != in_b) return option + " ran on one side only, and its buffers count as memory of the process";
  }
  return {};
}

std::shared_ptr<const ComparedSide> stored_sessions(const ComparedSide& side, const Services& services) {
  if (!side.baseline) return nullptr;
  auto stored = load_side(side.ids(), services);
  if (!stored || stored->ids() != side.ids()) return nullptr;
  return std::make_shared<const ComparedSide>(*std::move(stored));
}

}  // namespace aaco::workflows

#include "workflows/ab/ab_processes.h"

#include <algorithm>

#include "core/numbers.h"
#include "hardware/usable_cpus.h"
#include "stats/robust.h"
#include "workflows/ab/ab_account.h"
#include "workflows/ab/worker_answers.h"
#include "workflows/run/run_plan.h"
#include "workflows/worker_answer.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kLoadingTimeoutNs = 900'000'000'000;
constexpr std::int64_t kCallTimeoutNs = 600'000'000'000;

std::string delay_text(const InjectedDelay& delay) {
  if (delay.ratio > 0) return "+" + core::format_percent(delay.ratio) + " of the call time";
  return delay.ns > 0 ? "+" + core::format_duration(static_cast<double>(delay.ns)) : std::string("none");
}

}  // namespace

std::vector<hardware::Fact> AbLoaded::facts(const AbSide& side) const {
  const auto text = [&](const char* key) {
    const Json& value = described[key];
    return value.is_string() ? std::string(value.text()) : value.is_null() ? std::string() : value.dump(-1);
  };
  std::vector<hardware::Fact> facts = {{"model.hash", text("model_hash")},
                                       {"runtime.name", std::string(described["runtime"]["runtime"].text())},
                                       {"runtime.version", text("runtime_version")},
                                       {"provider", text("provider")},
                                       {"threads.intra", text("threads_intra")},
                                       {"threads.inter", text("threads_inter")},
                                       {"graph_level", text("graph_level")},
                                       {"session_options", text("session_options")},
                                       {"inputs.hash", inputs_hash_text(side.request.inputs)},
                                       {"input_shapes", text("shapes_text")},
                                       {"batch", text("batch")},
                                       {"seed", std::to_string(side.request.seed)},
                                       {"injected_delay", delay_text(side.delay)},
                                       {"mode", "ab"}};
  // The measuring process has the mask of this one, whose threads no runtime has pinned.
  if (const auto usable = hardware::usable_cpus(); !usable.allowed.empty())
    facts.push_back({"cpu.allowed_list", usable.allowed_list()});
  return facts;
}

double AbLoaded::warm_median_ns() const {
  std::vector<double> late;
  for (std::size_t i = warmup.size() / 2; i < warmup.size(); ++i) late.push_back(static_cast<double>(warmup[i].duration_ns));
  return late.empty() ? 0 : stats::median(late);
}

core::Status AbProcesses::launch(const AbRequest& request, const std::vector<int>& sides, const Services& services) {
  core::Command command;
  command.arguments = request.worker;
  for (const int side : sides) {
    command.arguments.emplace_back("--");
    const auto& words = side == 0 ? request.a_words : request.b_words;
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  }
  for (const auto& [name, value] : services.environment.all()) command.set_environment.emplace_back(name, value);
  AACO_ASSIGN(core::WorkerProcess process, core::WorkerProcess::start(command));
  AACO_ASSIGN(const Json ready, worker_answer(process, kLoadingTimeoutNs));
  if (ready["sides"].items().size() != sides.size())
    return core::fail(ErrorCode::io, "the worker loaded an unexpected number of sides");
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const auto side = static_cast<std::size_t>(sides[i]);
    loaded_[side].described = ready["sides"].items()[i];
    AACO_ASSIGN(loaded_[side].warmup, worker_calls(loaded_[side].described["warmup"]));
    places_[side] = {processes_.size(), i};
    rss_[side] = ready["rss_peak_bytes"].as_i64().value_or(0);
  }
  processes_.push_back(std::move(process));
  return {};
}

core::Result<AbProcesses> AbProcesses::start(const AbRequest& request, bool together, bool b_first, const Services& services) {
  AbProcesses made;
  const std::vector<int> order = b_first ? std::vector<int>{1, 0} : std::vector<int>{0, 1};
  if (together) {
    AACO_TRY(made.launch(request, order, services));
  } else {
    for (const int side : order) AACO_TRY(made.launch(request, {side}, services));
  }
  return made;
}

core::Result<AbBlock> AbProcesses::run(int side, std::int64_t calls) {
  const Place& place = places_[static_cast<std::size_t>(side)];
  core::WorkerProcess& process = processes_[place.process];
  AACO_TRY(process.send("run " + std::to_string(place.number) + " " + std::to_string(calls)));
  AACO_ASSIGN(const Json document, worker_answer(process, kCallTimeoutNs));
  rss_[static_cast<std::size_t>(side)] = document["rss_peak_bytes"].as_i64().value_or(0);
  AbBlock block;
  AACO_ASSIGN(block.calls, worker_calls(document));
  if (static_cast<std::int64_t>(block.calls.size()) != calls)
    return core::fail(ErrorCode::io, "the worker made an unexpected number of calls");
  read_account(document["account"], block.account);
  return block;
}

}  // namespace aaco::workflows

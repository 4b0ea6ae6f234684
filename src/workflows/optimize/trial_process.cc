#include "workflows/optimize/trial_process.h"

#include "core/clock.h"
#include "stats/robust.h"
#include "workflows/ab/worker_answers.h"
#include "workflows/run/run_again.h"
#include "workflows/worker_answer.h"

namespace aaco::workflows {
namespace {

double late_median(const std::vector<runner::TimedCall>& calls) {
  std::vector<double> late;
  for (std::size_t i = calls.size() / 2; i < calls.size(); ++i) late.push_back(static_cast<double>(calls[i].duration_ns));
  return late.empty() ? 0 : stats::median(late);
}

}  // namespace

core::Result<TrialProcess> TrialProcess::start(const std::vector<std::string>& worker, const RunRequest& configuration,
                                               std::int64_t warmup, const Services& services, std::int64_t timeout_ns) {
  const std::int64_t begin = core::monotonic_ns();
  core::Command command;
  command.arguments = worker;
  command.arguments.emplace_back("--");
  const auto words = configuration_words(configuration);
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.arguments.insert(command.arguments.end(), {"--warmup", std::to_string(warmup)});
  for (const auto& [name, value] : services.environment.all()) command.set_environment.emplace_back(name, value);
  AACO_ASSIGN(core::WorkerProcess process, core::WorkerProcess::start(command));
  TrialProcess trial(std::move(process));
  AACO_ASSIGN(const core::Json ready, worker_answer(trial.process_, timeout_ns));
  if (ready["sides"].items().size() != 1)
    return core::fail(core::ErrorCode::io, "the worker loaded an unexpected number of configurations");
  trial.described_ = ready["sides"].items().front();
  AACO_ASSIGN(const auto calls, worker_calls(trial.described_["warmup"]));
  trial.warm_median_ns_ = late_median(calls);
  trial.rss_peak_bytes_ = ready["rss_peak_bytes"].as_i64().value_or(0);
  trial.start_ns_ = core::monotonic_ns() - begin;
  return trial;
}

core::Result<std::vector<runner::TimedCall>> TrialProcess::run(std::int64_t calls, std::int64_t timeout_ns) {
  AACO_TRY(process_.send("run 0 " + std::to_string(calls)));
  AACO_ASSIGN(const core::Json answer, worker_answer(process_, timeout_ns));
  rss_peak_bytes_ = answer["rss_peak_bytes"].as_i64().value_or(rss_peak_bytes_);
  return worker_calls(answer);
}

core::Status TrialProcess::write_outputs(std::uint64_t seed, const std::string& file, std::int64_t timeout_ns) {
  AACO_TRY(process_.send("outputs 0 " + std::to_string(seed) + " " + file));
  AACO_ASSIGN(const core::Json answer, worker_answer(process_, timeout_ns));
  (void)answer;
  return {};
}

}  // namespace aaco::workflows

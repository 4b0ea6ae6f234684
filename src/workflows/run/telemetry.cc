#include "workflows/telemetry.h"

#include "collectors/pace.h"
#include "core/numbers.h"

namespace aaco::workflows {
namespace {

collectors::SamplingOptions options_for(std::int64_t process_id, core::Nanoseconds period) {
  collectors::SamplingOptions options;
  options.period = period;
  options.target.process_id = process_id;
  return options;
}

}  // namespace

Telemetry::Telemetry(std::int64_t process_id, core::Nanoseconds period)
    : loop_(collectors::builtin_collectors(), options_for(process_id, period)) {}

core::Status Telemetry::start() {
  AACO_TRY(loop_.start());
  loop_.pause();
  return {};
}

void Telemetry::finish(trace::Sink& sink, trace::SessionManifest& manifest, std::string_view late_remedy) {
  loop_.stop(sink);
  for (trace::Account& account : loop_.accounts()) manifest.accounts.push_back(std::move(account));
  const collectors::SamplingAccount sampling = loop_.sampling();
  trace::Account account;
  account.source = "telemetry.loop";
  account.read = sampling.samples;
  account.kept = sampling.samples;
  if (sampling.wall_time.count() > 0)
    account.notes.push_back("the sampling thread used " +
                            core::format_percent(core::to_seconds(sampling.cpu_time) / core::to_seconds(sampling.wall_time)) +
                            " of one core");
  if (sampling.longest_period.count() > 0)
    account.notes.push_back("sampled as rarely as every " +
                            core::format_duration(static_cast<double>(sampling.longest_period.count())) + " to use at most " +
                            core::format_percent(collectors::kMaxSamplingShare) + " of one core");
  if (sampling.missed_deadlines > 0) {
    account.drop("missed deadline", sampling.missed_deadlines);
    manifest.warnings.push_back(
        {"telemetry.missed_deadlines",
         std::to_string(sampling.missed_deadlines) + " of " + std::to_string(sampling.samples + sampling.missed_deadlines) +
             " telemetry samples missed their deadline: the machine was too busy for this sampling period",
         std::string(late_remedy)});
  }
  manifest.accounts.push_back(std::move(account));
}

}  // namespace aaco::workflows

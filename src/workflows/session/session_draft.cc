#include "workflows/session_draft.h"

#include "core/clock.h"
#include "core/files.h"
#include "core/random.h"
#include "hardware/inventory.h"
#include "hardware/secrets.h"
#include "hardware/time_sync.h"
#include "tracelake/session_notes.h"
#include "workflows/session/metrics_files.h"

namespace aaco::workflows {

using core::Json;

core::Result<SessionDraft> SessionDraft::begin(std::string kind, std::string tag, Json request, const Services& services) {
  if (!tag.empty()) AACO_TRY(tracelake::check_tag(tag));
  const core::SystemClock clock;
  trace::SessionManifest manifest;
  manifest.created_realtime_ns = clock.now_ns(core::ClockId::realtime);
  manifest.id = core::make_session_id(manifest.created_realtime_ns, core::system_entropy());
  manifest.kind = std::move(kind);
  manifest.tag = std::move(tag);
  manifest.state = "incomplete";
  manifest.tool_version = services.tool_version;
  manifest.command = hardware::without_secrets(services.command_line);
  manifest.request = std::move(request);
  for (auto id : {core::ClockId::realtime, core::ClockId::boottime, core::ClockId::monotonic_raw})
    manifest.clocks.add(trace::read_clock_pair(clock, id));
  AACO_ASSIGN(auto writer, tracelake::BundleWriter::create(services.paths.sessions, manifest));
  return SessionDraft(std::move(manifest), std::move(writer), services);
}

core::Result<SessionOutcome> SessionDraft::finish(trace::Metrics metrics, bool interrupted) {
  const core::SystemClock clock;
  for (auto id : {core::ClockId::realtime, core::ClockId::boottime, core::ClockId::monotonic_raw})
    manifest_.clocks.add(trace::read_clock_pair(clock, id));
  // Without definitions nothing is derived, and all metrics are in the summary.
  const auto catalogue = analytics::metrics::MetricCatalogue::load(core::join_path(services_->paths.share, "data/metrics"))
                             .value_or(analytics::metrics::MetricCatalogue());
  AACO_TRY(writer_->write_json("metrics/inference_summary.json", summary_metrics(metrics, catalogue)));
  if (const Json derived = derived_metrics(metrics, catalogue); !derived["metrics"].members().empty())
    AACO_TRY(writer_->write_json("metrics/derived_metrics.json", derived));
  manifest_.state = interrupted ? "interrupted" : "complete";
  AACO_ASSIGN(std::string path, writer_->close(manifest_));
  AACO_ASSIGN(trace::SessionManifest stored, tracelake::read_manifest(path));
  return SessionOutcome{std::move(path), std::move(stored), std::move(metrics)};
}

core::Status SessionDraft::write_lockbox(std::vector<hardware::Fact> subject, const Json& libraries) {
  const hardware::Inventory inventory = hardware::take_inventory("/", services_->environment);
  std::vector<hardware::Fact> facts = machine_facts(inventory);
  facts.insert(facts.end(), std::make_move_iterator(subject.begin()), std::make_move_iterator(subject.end()));
  const hardware::Fingerprint fingerprint = make_fingerprint(std::move(facts));
  manifest_.fingerprint = fingerprint.hash;
  const auto command = hardware::clean_command(services_->command_line);
  Json document = to_json(inventory);
  if (const auto sync = hardware::read_time_sync())
    document.set("time_sync", Json::object({{"synchronised", sync->synchronised}, {"max_error_ns", sync->max_error_ns}}));
  document.set("libraries", libraries);
  document.set("command", Json::texts(command.words));
  document.set("command_values_removed", command.removed);
  document.set("tool_version", services_->tool_version);
  document.set("fingerprint", to_json(fingerprint));
  return writer_->write_json("env.json", document);
}

}  // namespace aaco::workflows

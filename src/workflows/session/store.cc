#include "workflows/store.h"

#include "core/clock.h"
#include "core/files.h"
#include "tracelake/bundle.h"
#include "tracelake/lake_mode.h"
#include "workflows/notes.h"
#include "workflows/session/metrics_files.h"
#include "workflows/session/traced_devices.h"

namespace aaco::workflows {
namespace {

std::string what_of(const trace::SessionManifest& manifest) {
  const trace::Outcome& outcome = manifest.outcome;
  std::string what(outcome.model);
  if (const auto backend = outcome.backend; !backend.empty()) what += ", " + backend;
  if (!outcome.requested_backend.empty()) what += " (requested: " + outcome.requested_backend + ")";
  if (const auto batch = outcome.batch) what += ", batch " + std::to_string(*batch);
  if (const auto threads = outcome.threads; threads && *threads > 0)
    what += ", " + std::to_string(*threads) + (*threads == 1 ? " thread" : " threads");
  return what.empty() ? described_files(outcome.files) : what;
}

std::string state_of(const tracelake::SessionEntry& entry) {
  if (entry.writer && entry.writer->alive) return "running";
  return entry.manifest.state;
}

}  // namespace

core::Result<std::vector<SessionLine>> list(const std::string& root) {
  AACO_ASSIGN(const auto entries, tracelake::list_session_heads(root));
  const auto notes = all_notes(root);
  std::vector<SessionLine> lines;
  for (const auto& entry : entries) {
    const auto& manifest = entry.manifest;
    lines.push_back({manifest.id.text, entry.path, core::iso8601_utc(manifest.created_realtime_ns), manifest.kind,
                     state_of(entry), manifest.tag, what_of(manifest), manifest.outcome.p50_ns});
    const auto noted = notes.find(manifest.id.text);
    if (noted == notes.end()) continue;
    lines.back().tags = noted->second.tags;
    lines.back().note = noted->second.text;
  }
  return lines;
}

core::Result<SessionOutcome> load_session(const std::string& name, const core::Paths& paths) {
  AACO_ASSIGN(std::string path, tracelake::find_session(paths.sessions, name));
  AACO_ASSIGN(trace::SessionManifest manifest, tracelake::read_manifest(path));
  AACO_ASSIGN(trace::Metrics metrics, read_metrics(path));
  return SessionOutcome{std::move(path), std::move(manifest), std::move(metrics)};
}

core::Status set_lake_mode(const std::string& mode, const core::Paths& paths) {
  if (mode != "private" && mode != "group")
    return core::fail(core::ErrorCode::invalid_argument, "invalid value '" + mode + "' for '--mode': expected private or group");
  return tracelake::set_lake_mode(paths.sessions, mode == "group" ? tracelake::LakeMode::group : tracelake::LakeMode::owner);
}

core::Result<std::vector<VerifyLine>> verify(const std::string& name, const core::Paths& paths) {
  AACO_ASSIGN(const std::string path, tracelake::find_session(paths.sessions, name));
  AACO_ASSIGN(const auto findings, tracelake::verify_session(path));
  std::vector<VerifyLine> lines;
  for (const auto& finding : findings) lines.push_back({finding.file, finding.problem});
  return lines;
}

core::Result<std::string> remove(const std::string& name, const core::Paths& paths) {
  AACO_ASSIGN(std::string path, tracelake::find_session(paths.sessions, name));
  AACO_TRY(tracelake::remove_session(path));
  remove_notes(core::base_name(path), paths.sessions);
  return path;
}

core::Result<std::string> pack(const std::string& name, const std::string& file, const core::Paths& paths) {
  AACO_ASSIGN(const std::string path, tracelake::find_session(paths.sessions, name));
  std::string target = file;
  if (target.empty()) {
    AACO_ASSIGN(const auto manifest, tracelake::read_manifest(path));
    target = manifest.id.text + ".aaco";
  }
  AACO_TRY(tracelake::pack_session(path, target));
  return core::absolute_path(target);
}

core::Result<std::string> unpack(const std::string& file, const core::Paths& paths) {
  return tracelake::unpack_session(file, paths.sessions);
}

core::Result<RetentionOutcome> collect_garbage(const RetentionRequest& request, const core::Paths& paths) {
  tracelake::RetentionPolicy policy;
  policy.max_age_ns = request.older_than_ns;
  policy.max_bytes = request.keep_bytes;
  policy.keep_tagged = request.keep_tagged;
  policy.dry_run = request.dry_run;
  AACO_ASSIGN(const auto actions,
              tracelake::apply_retention(paths.sessions, policy, core::SystemClock().now_ns(core::ClockId::realtime)));
  RetentionOutcome outcome;
  for (const auto& action : actions) {
    if (!action.problem.empty()) {
      outcome.problems.push_back(core::base_name(action.path) + ": " + action.problem);
      continue;
    }
    outcome.removed.push_back(core::base_name(action.path) + " (" + action.reason + ")");
    outcome.freed_bytes += action.bytes;
  }
  return outcome;
}

}  // namespace aaco::workflows

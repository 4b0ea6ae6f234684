#include "analytics/collectives.h"
#include "core/files.h"
#include "trace/names.h"
#include "trace/rows.h"
#include "tracelake/bundle.h"
#include "tracelake/lake.h"
#include "workflows/fleet.h"

namespace aaco::workflows {
namespace {

using analytics::fleet::RankCall;

// "gloo:all_reduce", "nccl:all_reduce" -> "all_reduce"; empty for calls that do not synchronise the ranks.
std::string_view operation_of(std::string_view name) {
  const auto colon = name.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view library = name.substr(0, colon);
  if (library != "gloo" && library != "nccl" && library != "rccl" && library != "mpi") return {};
  name.remove_prefix(colon + 1);
  if (name.starts_with("_")) name.remove_prefix(1);
  return analytics::collectives::synchronises(name) ? name : std::string_view{};
}

core::Result<std::vector<RankCall>> rank_calls(const std::string& path) {
  std::vector<RankCall> out;
  trace::NameTable names;
  AACO_TRY(
      tracelake::scan_table<trace::CollectiveRow>(path, names, [&](std::span<const trace::CollectiveRow> rows) -> core::Status {
        for (const trace::CollectiveRow& row : rows)
          if (const auto name = names.text(row.operation); analytics::collectives::synchronises(name))
            out.push_back({row.rank, std::string(name), row.start_ns, row.end_ns});
        return {};
      }));
  if (!out.empty()) return out;  // of devices; else what a library of the host did
  AACO_TRY(tracelake::scan_table<trace::ApiCallRow>(path, names, [&](std::span<const trace::ApiCallRow> rows) -> core::Status {
    for (const trace::ApiCallRow& row : rows)
      if (const auto name = operation_of(names.text(row.name)); !name.empty())
        out.push_back({row.rank, std::string(name), row.start_ns, row.end_ns});
    return {};
  }));
  return out;
}

// A file, folder or engine of telemetry is not a session.
bool may_be_session(const std::string& name) {
  if (name.find("://") != std::string::npos) return false;
  return !core::exists(name) || core::exists(core::join_path(name, "session.json"));
}

}  // namespace

core::Result<std::optional<SessionStraggler>> session_straggler(const std::string& name, const Services& services) {
  if (!may_be_session(name)) return std::optional<SessionStraggler>();
  const auto path = tracelake::find_session(services.paths.sessions, name);
  if (!path && (name.starts_with("tag:") || name == "latest")) return tl::unexpected<core::Error>(path.error());
  if (!path) return std::optional<SessionStraggler>();
  AACO_ASSIGN(const auto manifest, tracelake::read_manifest(*path));
  AACO_ASSIGN(const auto calls, rank_calls(*path));
  return std::optional(SessionStraggler{manifest.id.text, analytics::fleet::late_rank(calls)});
}

core::Json to_json(const SessionStraggler& straggler) {
  const auto& answer = straggler.answer;
  core::Json out = core::Json::object({{"schema_version", 1},
                                       {"session_id", straggler.session_id},
                                       {"verdict", answer.cannot_tell ? "cannot_tell"
                                                   : answer.rank      ? "straggler"
                                                                      : "none"},
                                       {"ranks", answer.ranks}});
  if (answer.cannot_tell) out.set("reason", answer.reason);
  if (!answer.rank) return out;
  return out.set("late_rank", *answer.rank)
      .set("operation", answer.operation)
      .set("last_count", answer.last_count)
      .set("count", answer.count)
      .set("late_ns", answer.late_ns)
      .set("late_ratio", answer.late_ratio)
      .set("method", "duration")
      .set("confidence", answer.confidence);
}

}  // namespace aaco::workflows

#include "core/files.h"
#include "workflows/fleet.h"

namespace aaco::workflows {
namespace {

core::Json tally_json(const laboratory::fleet::Tally& tally) {
  return core::Json::object({{"count", tally.count}, {"found", tally.found}, {"named", tally.named}});
}

core::Json tallies_json(const std::vector<std::pair<std::string, laboratory::fleet::Tally>>& tallies) {
  core::Json out = core::Json::object();
  for (const auto& [name, tally] : tallies) out.set(name, tally_json(tally));
  return out;
}

}  // namespace

core::Result<LabFleetOutcome> lab_fleet(const LabFleetRequest& request, const Services& services) {
  AACO_ASSIGN(const auto plan, laboratory::fleet::make_plan(request.fleet));
  AACO_ASSIGN(const auto writer, tracelake::FleetWriter::create(request.folder));
  std::int64_t next = 0;
  AACO_TRY(laboratory::fleet::simulate(plan, [&](const trace::FleetMinute& row) -> core::Status {
    if (services.stopping()) return core::fail(core::ErrorCode::cancelled, "stopped; partial results are in " + request.folder);
    if (writer->rows() >= next) {
      services.progress(std::to_string(writer->rows()) + " rows");
      next += 500'000;
    }
    return writer->add(row);
  }));
  AACO_TRY(writer->close());
  AACO_TRY(
      core::write_file_atomic(core::join_path(request.folder, "truth.json"), laboratory::fleet::truth_of(plan).dump() + "\n"));
  services.progress("");
  return LabFleetOutcome{request.folder, writer->rows(), static_cast<std::int64_t>(plan.faults.size())};
}

core::Result<laboratory::fleet::Score> lab_fleet_score(const std::string& folder, const Services& services) {
  AACO_ASSIGN(const auto truth, core::read_json_file(core::join_path(folder, "truth.json")));
  FleetRequest request;
  request.from = folder;
  AACO_ASSIGN(const auto report, analyse_fleet(request, services));
  return laboratory::fleet::judge(truth, report.findings, report.stragglers);
}

core::Json to_json(const laboratory::fleet::Score& score) {
  return core::Json::object({{"schema_version", 1},
                             {"faults", tally_json(score.strong)},
                             {"by_kind", tallies_json(score.by_kind)},
                             {"by_strength", tallies_json(score.by_strength)},
                             {"node_days", score.node_days},
                             {"false_alarms", score.false_alarms},
                             {"stragglers", tally_json(score.stragglers)},
                             {"victims", tally_json(score.victims)},
                             {"cannot_tell", tally_json(score.cannot_tell)},
                             {"missed", core::Json::texts(score.missed)},
                             {"false_alarm_list", core::Json::texts(score.false_list)}});
}

}  // namespace aaco::workflows

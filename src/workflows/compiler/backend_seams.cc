#include "workflows/compiler/backend_seams.h"

#include <set>
#include <string_view>

#include "analytics/provider_seams.h"
#include "core/files.h"
#include "core/strings.h"
#include "core/subprocess.h"
#include "workflows/run/run_again.h"
#include "workflows/session/loaded_session.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::int64_t kRunTimeoutNs = 600'000'000'000;

// ": " and what the program said. Builds of ONNX Runtime write lines of their own before.
std::string message_of(const std::string& error_output) {
  for (const std::string_view line : core::split_lines(error_output))
    if (line.starts_with("aaco: ")) return ": " + std::string(line.substr(6));
  return {};
}

// The path of a session of a profiled run.
core::Result<std::string> run_profiled(const CompilerRequest& request, const std::string& backend, const std::string& folder,
                                       const Services& services) {
  RunRequest run = request.run;
  run.backend = backend;
  run.ort_library.clear();
  core::Command command;
  command.arguments = {request.program.front(), "run"};
  const auto words = configuration_words(run);
  command.arguments.insert(command.arguments.end(), words.begin(), words.end());
  command.arguments.insert(command.arguments.end(),
                           {"--warmup", "3", "--iterations", "3", "--profile", "--no-report", "--json", "-o", folder});
  for (const auto& [name, value] : services.environment.all()) command.set_environment.emplace_back(name, value);
  command.timeout_ns = kRunTimeoutNs;
  services.progress("measuring the nodes on " + backend);
  AACO_ASSIGN(const core::CommandResult ran, core::run_command(command));
  if (ran.timed_out) return core::fail(core::ErrorCode::timed_out, "the model took longer than 10 minutes on " + backend);
  if (ran.exit_code != 0)
    return core::fail(core::ErrorCode::unsupported, backend + ": the profiled run ended with exit code " +
                                                        std::to_string(ran.exit_code) + message_of(ran.error_output));
  AACO_ASSIGN(const Json answer, Json::parse(ran.output));
  return std::string(answer["session"]["path"].text());
}

core::Result<analytics::compiler::ProviderSeams> seams_of(const std::string& session_path, const graph::Graph& before) {
  std::set<std::string_view> ours;
  for (const auto& node : before.nodes) ours.insert(node.name);
  LoadedSession session(session_path);
  AACO_ASSIGN(const auto rows, session.rows<trace::NodeExecutionRow>());
  std::vector<analytics::compiler::ProviderStep> steps;
  for (const auto& row : rows) {
    const std::string_view node = session.names().text(row.node_name);
    steps.push_back({row.iteration, std::string(node), std::string(session.names().text(row.provider)), row.start_ns,
                     row.start_ns + row.duration_ns,
                     analytics::compiler::converts_only(session.names().text(row.op_type)) && !ours.contains(node)});
  }
  return analytics::compiler::provider_seams(std::move(steps));
}

}  // namespace

core::Status set_backend_seams(Json& against, const graph::Graph& before, const CompilerRequest& request,
                               const std::string& backend, const std::string& folder, const Services& services) {
  AACO_ASSIGN(const auto sessions, core::TemporaryDirectory::make(folder, "sessions"));
  AACO_ASSIGN(const std::string path, run_profiled(request, backend, sessions.path(), services));
  AACO_ASSIGN(const auto measured, seams_of(path, before));
  Json seams = Json::array();
  for (const auto& one : measured.seams)
    seams.push(Json::object(
        {{"first", one.first}, {"second", one.second}, {"from", one.from}, {"to", one.to}, {"time_ns", one.time_ns}}));
  against.set("seams", std::move(seams))
      .set("seams_timed",
           Json::object({{"calls", measured.calls}, {"call_ns", measured.call_ns}, {"total_ns", measured.total_ns}})
               .set_if("usual_ns", measured.usual_ns));
  return {};
}

}  // namespace aaco::workflows

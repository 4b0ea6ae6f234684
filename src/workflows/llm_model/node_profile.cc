#include "workflows/llm_model/node_profile.h"

#include <algorithm>
#include <map>

#include "core/clock.h"
#include "core/files.h"
#include "stats/robust.h"
#include "workflows/llm_model/generate.h"
#include "workflows/run/profile_pass.h"

namespace aaco::workflows {
namespace {

using core::Json;
using runner::llm::Decoder;
using runner::llm::DecoderStep;

constexpr std::size_t kFewestProfiled = 3;  // generations

struct NodeTimes {
  trace::NameId op_type, provider;
  std::map<std::int64_t, double> ns_of_call;
  std::int64_t executions = 0;
};

ProfiledPhase phase_of(const std::string& name, const std::vector<const DecoderStep*>& steps,
                       const std::vector<std::int64_t>& calls, const trace::MemorySink& profile) {
  ProfiledPhase phase{.name = name, .calls = static_cast<std::int64_t>(calls.size())};
  std::vector<double> past;
  for (const DecoderStep* step : steps) past.push_back(static_cast<double>(step->past));
  phase.context_tokens = static_cast<std::int64_t>(stats::median(past));
  std::map<std::int64_t, bool> of_phase;
  for (const std::int64_t call : calls) of_phase[call] = true;
  std::vector<double> call_ns;
  for (const auto& run : profile.rows<trace::IterationRow>())
    if (of_phase.contains(run.iteration)) call_ns.push_back(static_cast<double>(run.duration_ns));
  if (!call_ns.empty()) phase.call_ns = stats::median(call_ns);
  std::map<std::uint32_t, NodeTimes> nodes;
  for (const auto& row : profile.rows<trace::NodeExecutionRow>()) {
    if (!of_phase.contains(row.iteration)) continue;
    NodeTimes& times = nodes[row.node_name.value];
    times.op_type = row.op_type;
    times.provider = row.provider;
    times.ns_of_call[row.iteration] += static_cast<double>(row.duration_ns);
    ++times.executions;
  }
  double all = 0;
  for (const auto& [id, times] : nodes) {
    std::vector<double> each;
    for (const auto& [call, ns] : times.ns_of_call) each.push_back(ns);
    each.resize(calls.size());  // calls without it, in a branch that was not taken
    const double ns = stats::median(each);
    all += ns;
    phase.nodes.push_back({std::string(profile.names().text(trace::NameId{id})), std::string(profile.names().text(times.op_type)),
                           std::string(profile.names().text(times.provider)), (times.executions + phase.calls / 2) / phase.calls,
                           ns, 0});
  }
  for (ProfiledNode& node : phase.nodes) node.share_ratio = all > 0 ? node.ns / all : 0;
  std::stable_sort(phase.nodes.begin(), phase.nodes.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  return phase;
}

const estimation::NodeEstimate* predicted_node(const std::optional<estimation::GraphEstimate>& estimate, std::string_view name) {
  const estimation::NodeEstimate* found = nullptr;
  if (!estimate) return found;
  for (const auto& node : estimate->nodes) {
    if (node.name.empty() || !name.starts_with(node.name)) continue;
    const bool whole = name.size() == node.name.size() || name[node.name.size()] == '/' || name[node.name.size()] == '_';
    if (whole && (found == nullptr || node.name.size() > found->name.size())) found = &node;
  }
  return found;
}

}  // namespace

std::vector<ProfiledPhase> phases_of(const std::vector<DecoderStep>& steps, const trace::MemorySink& profile) {
  std::vector<const DecoderStep*> fed[2];
  std::vector<std::int64_t> calls[2];
  for (const auto& run : profile.rows<trace::IterationRow>()) {
    const auto place = static_cast<std::size_t>(run.iteration);
    if (place >= steps.size()) continue;
    const std::size_t decode = steps[place].past > 0 ? 1 : 0;
    fed[decode].push_back(&steps[place]);
    calls[decode].push_back(run.iteration);
  }
  std::vector<ProfiledPhase> phases;
  if (!calls[0].empty()) phases.push_back(phase_of("prefill", fed[0], calls[0], profile));
  if (!calls[1].empty()) phases.push_back(phase_of("decode", fed[1], calls[1], profile));
  return phases;
}

core::Result<std::vector<ProfiledPhase>> profile_decoder(runner::ort::Runtime& runtime, const DecoderPlan& plan,
                                                         std::uint64_t seed, double budget_ns, SessionDraft& draft,
                                                         const Services& services) {
  const DecoderLevel& level = plan.levels.front();
  runner::BackendOptions options = plan.run.backend;
  options.profile = true;
  options.profile_prefix = core::join_path(draft.writer().path(), "ort_profile");
  AACO_ASSIGN(const auto backend, runtime.open_model(plan.run.model_path, options));
  Decoder decoder(*backend, plan.layout, {level.batch, level.cached(), plan.in_place, seed});
  const auto prompt = random_tokens(plan, level.batch * level.prompt, seed);
  // The first generation is warm-up. Of long answers the beginning, where the profiler has no room for all.
  const std::int64_t room = profiled_calls_at_most(plan.run.graph.nodes.size());
  const std::int64_t output = std::clamp<std::int64_t>(room / 3, 1, level.output);
  const std::int64_t begin = core::monotonic_ns();
  std::vector<DecoderStep> steps;
  Generation warmup;
  AACO_TRY(generate(decoder, prompt, output, warmup, services));
  for (std::int64_t calls = 2 * output; calls <= room && !services.stopping(); calls += output) {
    Generation generation;
    AACO_TRY(generate(decoder, prompt, output, generation, services));
    steps.insert(steps.end(), generation.steps.begin(), generation.steps.end());
    const bool spent = static_cast<double>(core::monotonic_ns() - begin) > budget_ns;
    if (spent && steps.size() >= kFewestProfiled * static_cast<std::size_t>(output)) break;
  }
  AACO_ASSIGN(const auto profile, backend->end_profile());
  draft.phase("profile", begin, core::monotonic_ns());
  trace::MemorySink rows;
  AACO_TRY(import_profile(profile, static_cast<std::int64_t>(warmup.steps.size()), rows, draft.manifest()));
  return phases_of(steps, rows);
}

Json profiled_nodes_json(const std::vector<ProfiledPhase>& phases, const DecoderLevel& level,
                         const std::optional<LevelPrediction>& predicted) {
  Json out = Json::array();
  for (const ProfiledPhase& phase : phases) {
    const bool decode = phase.name == "decode";
    const auto estimate = !predicted ? std::nullopt : decode ? predicted->decode : predicted->prefill;
    Json nodes = Json::array();
    for (const ProfiledNode& node : phase.nodes) {
      Json one = Json::object({{"name", node.name},
                               {"op_type", node.op_type},
                               {"provider", node.provider},
                               {"count", node.count},
                               {"ns", node.ns},
                               {"share_ratio", node.share_ratio}});
      if (const auto* like = predicted_node(estimate, node.name)) one.set("predicted_ns", like->seconds() * 1e9);
      nodes.push(std::move(one));
    }
    Json json = Json::object({{"phase", phase.name},
                              {"batch", level.batch},
                              {"calls", phase.calls},
                              {"context_tokens", phase.context_tokens},
                              {"new_tokens", decode ? 1 : level.prompt},
                              {"call_ns", phase.call_ns},
                              {"nodes", std::move(nodes)}});
    if (estimate) json.set("predicted_ns", estimate->latency.value);
    out.push(std::move(json));
  }
  return Json::object({{"schema_version", 1}, {"phases", std::move(out)}});
}

}  // namespace aaco::workflows

#include "workflows/calibrate/model_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "graph/batch.h"
#include "graph/load.h"
#include "runner/zoo.h"
#include "stats/robust.h"
#include "workflows/predict.h"

namespace aaco::workflows {
namespace {

using estimation::ModelTerms;

struct AnalysedModel {
  ModelTerms terms;
  estimation::ModelEstimate theoretical;
  std::optional<ModelTerms> memory;
  std::string family, group;
};

// One device's models; graphs are analysed once.
class Places {
 public:
  Places(const hardware::Device& device, const Services& services, std::vector<estimation::Transformer> transformers)
      : device_(device), facts_(estimation::facts_of(device)), services_(services), transformers_(std::move(transformers)) {}

  [[nodiscard]] const std::string& id() const { return facts_.id; }

  // Fails with not_found where nobody knows the model, with unsupported for ways of running that have no terms.
  core::Result<AnalysedModel> place(const ModelRun& run) const {
    if (!run.option.empty())
      return core::fail(core::ErrorCode::unsupported, "option '" + run.option + "' is not supported by the estimator");
    if (run.sequence > 0) return transformer(run);
    return network(run);
  }

 private:
  [[nodiscard]] core::Result<AnalysedModel> transformer(const ModelRun& run) const {
    const auto known = std::find_if(transformers_.begin(), transformers_.end(), [&](const estimation::Transformer& one) {
      return one.name == run.model || std::find(one.aliases.begin(), one.aliases.end(), run.model) != one.aliases.end();
    });
    if (known == transformers_.end())
      return core::fail(core::ErrorCode::not_found, "unknown model '" + run.model + "' (not in data/architectures)");
    const bool training = run.mode == "train" || run.mode == "training";
    AACO_ASSIGN(const ModelTerms terms, estimation::terms_of(*known, run.batch, run.sequence, training, run.type, facts_));
    return AnalysedModel{
        terms, by_usual(terms), {}, "transformer " + run.type, (training ? "training " : "inference ") + run.type};
  }

  [[nodiscard]] core::Result<AnalysedModel> network(const ModelRun& run) const {
    const auto entry = runner::zoo::find(run.model);
    if (!entry) return core::fail(core::ErrorCode::not_found, "unknown zoo model '" + run.model + "'");
    AACO_ASSIGN(auto blueprint, runner::zoo::build_graph(**entry, {}));
    graph::Bindings sizes;
    for (const std::string_view part : core::split(run.profile, ' ')) {
      const auto pair = core::split(part, '=');
      const auto size = pair.size() == 2 ? core::parse_i64(pair[1]) : std::nullopt;
      if (size) sizes[std::string(pair[0])] = *size;
    }
    (void)graph::bind_batch(blueprint.graph, run.batch, sizes);  // models of one item have no batch
    AACO_ASSIGN(const graph::Model model, graph::prepare(std::move(blueprint.graph), sizes));
    estimation::Conditions conditions;
    conditions.dtype = run.type;
    conditions.eager = run.runtime.empty();
    graph::Fusion fusion;
    if (!run.runtime.empty()) {
      AACO_ASSIGN(fusion, usual_fusion(model.graph, device_, services_.paths));
      conditions.fusion = &fusion;
    }
    AACO_ASSIGN(const auto estimate, estimation::analyze(model.graph, device_, conditions, nullptr));
    const std::string runtime = run.runtime.empty() ? "" : run.runtime + " ";
    const graph::GraphCost cost = graph::cost_of(model.graph);
    std::optional<ModelTerms> memory;
    if (run.memory_bytes)
      memory = estimation::memory_terms_of(cost, estimation::estimate_memory(model.graph), estimate.nodes.size());
    const auto terms = estimation::terms_of(estimate, cost, device_);
    return AnalysedModel{terms, in_seconds(estimate.latency), memory, runtime + "network " + run.type,
                         (*entry)->family + " " + run.type};
  }

  [[nodiscard]] estimation::ModelEstimate by_usual(const ModelTerms& terms) const {
    return estimate_model(estimation::untested_fit(estimation::usual_coefficients(facts_, true)), terms, facts_.id);
  }
  static estimation::ModelEstimate in_seconds(const estimation::Estimate& ns) {
    return {ns.value * 1e-9, ns.lower * 1e-9, ns.upper * 1e-9};
  }

  const hardware::Device& device_;
  estimation::DeviceFacts facts_;
  const Services& services_;
  std::vector<estimation::Transformer> transformers_;
};

// "resnet18" and "resnet50" are of one family, as "bert-base" and "distilbert": the name up to its first figure or dash.
std::string family_of(const std::string& model) {
  if (model.find("bert") != std::string::npos) return "bert";
  return model.substr(0, std::min(model.find_first_of("0123456789-_"), model.size()));
}

// Far beyond what TF32 in place of FP32 (16 times), fast convolutions and caches bring: a time in another unit.
constexpr double kFasterThanPossible = 50;

using Condition =
    std::tuple<std::string, std::string, std::string, std::string, std::string, std::string, std::int64_t, std::int64_t>;

}  // namespace

std::vector<std::string> PlacedRuns::notes() const {
  std::vector<std::string> out;
  if (merged > 0) out.push_back(fmt::format("{} duplicate rows were merged (median)", merged));
  if (impossible > 0)
    out.push_back(fmt::format("{} skipped: at least {:g} times faster than the device's peaks allow; first: {}",
                              rows_text(impossible), kFasterThanPossible, first_impossible));
  for (const auto& [reason, rows] : absent) out.push_back(fmt::format("{} rows without an estimate: {}", rows, reason));
  return out;
}

core::Result<PlacedRuns> place_models(const std::vector<ModelRun>& runs, const hardware::Device& device,
                                      const Services& services) {
  if (runs.empty()) return PlacedRuns();
  AACO_ASSIGN(auto transformers,
              estimation::load_transformers(core::join_path(services.paths.share, "data/architectures/transformers.yaml")));
  const Places places(device, services, std::move(transformers));
  std::map<Condition, std::vector<const ModelRun*>> conditions;
  for (const ModelRun& run : runs)
    conditions[{run.model, run.type, run.profile, run.mode, run.option, run.runtime, run.batch, run.sequence}].push_back(&run);
  PlacedRuns out;
  for (auto& [condition, rows] : conditions) {
    const auto found = places.place(*rows.front());
    if (!found) {
      out.absent[found.error().message] += static_cast<std::int64_t>(rows.size());
      for (const ModelRun* run : rows)
        out.without.push_back(
            {"", true, {run->model, places.id(), "not estimated " + run->type, {}, run->seconds}, {}, run->where});
      continue;
    }
    const double least = found->terms.roofline() / kFasterThanPossible;
    std::erase_if(rows, [&](const ModelRun* run) {
      if (run->seconds >= least) return false;
      if (out.impossible++ == 0) out.first_impossible = run->where;
      return true;
    });
    if (rows.empty()) continue;
    out.merged += static_cast<std::int64_t>(rows.size()) - 1;
    std::vector<double> times;
    for (const ModelRun* run : rows) times.push_back(run->seconds);
    const ModelRun& first = *rows.front();
    const bool eager = first.runtime.empty();
    out.runs.push_back(
        {found->family,
         eager,
         {eager ? first.model : family_of(first.model), places.id(), found->group, found->terms, stats::median(std::move(times))},
         found->theoretical,
         first.where});
    std::vector<double> peaks;
    for (const ModelRun* run : rows)
      if (run->memory_bytes) peaks.push_back(*run->memory_bytes);
    if (!found->memory || peaks.empty()) continue;
    PlacedRun memory = out.runs.back();
    memory.sample.terms = *found->memory;
    memory.sample.seconds = stats::median(std::move(peaks));
    out.memory.push_back(std::move(memory));
  }
  return out;
}

core::Result<std::vector<PlacedRun>> related_runs(const MeasurementFiles& files, const hardware::Device& device,
                                                  const hardware::DeviceRegistry& registry,
                                                  const std::vector<std::string>& lenders, Lent lent, const Services& services) {
  const std::string own = estimation::facts_of(device).id;
  std::vector<PlacedRun> out;
  for (const auto& [id, rows] : files.devices) {
    const bool lends = lenders.empty() || std::find(lenders.begin(), lenders.end(), id) != lenders.end();
    if (id == own || !lends || rows.models.empty()) continue;
    AACO_ASSIGN(const hardware::Device other, registry.find(id));
    if (other.kind != device.kind || other.vendor != device.vendor) continue;
    std::vector<ModelRun> runs;
    for (const ModelRun& run : rows.models)
      if (run.sequence > 0 || lent == Lent::all) runs.push_back(run);
    AACO_ASSIGN(PlacedRuns placed, place_models(runs, other, services));
    std::move(placed.runs.begin(), placed.runs.end(), std::back_inserter(out));
  }
  return out;
}

}  // namespace aaco::workflows

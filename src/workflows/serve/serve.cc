#include "workflows/serve.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/files.h"
#include "core/strings.h"
#include "estimation/decoder_graph.h"
#include "graph/load.h"
#include "workflows/calibration_registry.h"
#include "workflows/hardware.h"
#include "workflows/model_source.h"

namespace aaco::workflows {
namespace {

core::Result<estimation::DecoderFamilies> known_families(const Services& services) {
  return estimation::load_decoder_families(core::join_path(services.paths.share, "data/architectures/families.yaml"));
}

core::Result<estimation::DecoderArchitecture> read_configuration(const std::string& path, const Services& services) {
  AACO_ASSIGN(const auto families, known_families(services));
  AACO_ASSIGN(const core::Json config, core::read_json_file(path));
  // "NAME/config.json" is called NAME.
  const auto parts = core::split(path, '/');
  const bool usual = parts.back() == "config.json" && parts.size() > 1 && !parts[parts.size() - 2].empty();
  return estimation::read_decoder(config, families, std::string(usual ? parts[parts.size() - 2] : parts.back()));
}

// A decoder's sizes from its graph: sizes of one run do not matter.
core::Result<estimation::DecoderArchitecture> read_graph(const std::string& name, const Services& services) {
  ModelRequest request;
  request.name = name;
  AACO_ASSIGN(const graph::Model model, open_model(request, services));
  auto decoder = estimation::recognise_decoder(model.graph, std::string(core::split(name, '/').back()));
  if (!decoder)
    return core::fail(core::ErrorCode::unsupported,
                      name + " is not recognised as a decoder-only language model: " + decoder.error().message,
                      "pass its config.json; without --serve the graph is costed as written");
  if (decoder->model.weight_type == "fp32") decoder->model.weight_type = "bf16";  // no stack serves FP32 weights as such
  if (decoder->model.expert_type == "fp32") decoder->model.expert_type = "bf16";
  decoder->model.other = estimation::other_parameters(decoder->model, estimation::DecoderFamily(), {});
  return std::move(decoder->model);
}

core::Result<void> fill(ServedPoint& point, const ServeRequest& request, const estimation::ServingRules& rules,
                        const Services& services) {
  AACO_ASSIGN(const hardware::Device device, find_device(point.hardware, services));
  AACO_ASSIGN(const estimation::DecoderArchitecture model, find_served_model(point.model, services));
  AACO_ASSIGN(const estimation::CalibrationSet fits, load_calibrations_for(services.paths, device));
  if (!request.search) {
    AACO_ASSIGN(point.estimate, estimation::estimate_serving(model, device, request.serving, rules, &fits));
    return {};
  }
  const std::optional<double> concurrency =
      request.concurrency_given ? std::optional(request.serving.load.concurrency) : std::nullopt;
  AACO_ASSIGN(point.search,
              estimation::search_plans(model, device, request.serving, request.gpus, concurrency, request.limits, rules, &fits));
  if (!point.search->best)
    return core::fail(core::ErrorCode::not_found,
                      fmt::format("none of {} plans on up to {} GPUs meets the SLO", point.search->fitting, request.gpus),
                      "use more GPUs, or relax --slo");
  point.estimate = point.search->best;
  return {};
}

}  // namespace

core::Result<estimation::DecoderArchitecture> find_served_model(const std::string& name, const Services& services) {
  if (name.ends_with(".json")) return read_configuration(name, services);
  const std::string inside = core::join_path(name, "config.json");
  if (core::exists(inside)) return read_configuration(inside, services);
  AACO_ASSIGN(const auto decoders,
              estimation::load_decoders(core::join_path(services.paths.share, "data/architectures/decoders.yaml")));
  const std::string plain = name.starts_with("zoo:") ? name.substr(4) : name;  // with parameters it is another model
  if (auto found = estimation::find_published(decoders, plain)) {
    AACO_ASSIGN(const auto families, known_families(services));
    if (const auto* family = families.find(found->family)) found->other = estimation::other_parameters(*found, *family, {});
    return std::move(*found);
  }
  if (core::exists(graph::split_model_name(name).path)) return read_graph(name, services);
  if (auto built_in = read_graph(name, services); built_in || built_in.error().code == core::ErrorCode::unsupported)
    return built_in;
  std::vector<std::string_view> names;
  for (const auto& decoder : decoders) names.emplace_back(decoder.name);
  const std::string_view near = core::nearest(plain, names);
  return core::fail(core::ErrorCode::not_found, "unknown language model '" + name + "'",
                    (near.empty() ? std::string() : "did you mean " + std::string(near) + "? ") +
                        "pass the config.json of the model, or one of: " + core::join(names, ", "));
}

core::Result<std::vector<ServedPoint>> serve_estimates(const ServeRequest& request, const Services& services) {
  AACO_ASSIGN(const auto rules, estimation::load_serving_rules(core::join_path(services.paths.share, "data/rules/serving.yaml")));
  std::vector<ServedPoint> points;
  for (const std::string& model : request.models)
    for (const std::string& hardware : request.hardware) {
      ServedPoint point;
      point.model = model;
      point.hardware = hardware;
      if (const auto filled = fill(point, request, rules, services); !filled) point.error = filled.error();
      points.push_back(std::move(point));
    }
  if (points.empty()) return core::fail(core::ErrorCode::invalid_argument, "missing model or device");
  if (std::all_of(points.begin(), points.end(), [](const ServedPoint& point) { return point.error.has_value(); }))
    return tl::unexpected<core::Error>(*points.front().error);
  std::stable_sort(points.begin(), points.end(), [](const ServedPoint& a, const ServedPoint& b) {
    if (a.error.has_value() != b.error.has_value()) return b.error.has_value();
    return a.estimate && b.estimate && a.estimate->tokens_per_gpu_s.value > b.estimate->tokens_per_gpu_s.value;
  });
  return points;
}

}  // namespace aaco::workflows

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/predict_options.h"
#include "cli/options/run_options.h"
#include "cli/options/serve_options.h"
#include "core/numbers.h"
#include "workflows/compare_models.h"
#include "workflows/paper_page.h"

namespace aaco::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> models, hardware, batch, batches, dtypes, caps, devices;
  std::optional<std::string> rank;
  std::string format = "text", html;
};

core::Result<std::vector<double>> numbers(const std::vector<std::string>& texts, std::string_view option, bool whole) {
  std::vector<double> values;
  AACO_ASSIGN(const std::vector<std::string> list, split_list(texts, std::string(option)));
  for (const std::string& text : list) {
    const auto integer = core::parse_i64(text);
    const auto value = whole ? (integer ? std::optional(static_cast<double>(*integer)) : std::nullopt) : core::parse_f64(text);
    if (!value || !(*value > 0) || *value > 1e9)
      return core::fail(core::ErrorCode::invalid_argument, "invalid value '" + text + "' for '" + std::string(option) +
                                                               "': expected positive numbers such as 1,2,4");
    values.push_back(*value);
  }
  return values;
}

core::Result<std::vector<std::int64_t>> counts(const std::vector<std::string>& texts, std::string_view option) {
  AACO_ASSIGN(const std::vector<double> values, numbers(texts, option, true));
  return std::vector<std::int64_t>(values.begin(), values.end());
}

// One value for all points and a list of what-ifs for the same condition: one of them would be ignored.
core::Result<void> refuse_both(std::string_view option, std::string_view several, bool one, bool list) {
  if (!one || !list) return {};
  return core::fail(core::ErrorCode::invalid_argument, fmt::format("--{} and --{} cannot be used together", option, several),
                    fmt::format("list all values in --{}", several));
}

core::Result<workflows::CompareModelsRequest> resolve(const PredictOptions& predict, const CompareOptions& options) {
  if (options.models.empty())
    return core::fail(core::ErrorCode::invalid_argument, "missing models",
                      "for example: aaco compare resnet50 --hardware MI300X,H100");
  workflows::CompareModelsRequest request;
  AACO_ASSIGN(request.base, predict.resolve());
  request.base.model.batch = {};
  AACO_ASSIGN(const auto batch, counts(options.batch, "--batch"));
  AACO_TRY(refuse_both("batch", "batches", !batch.empty(), !options.batches.empty()));
  if (batch.size() == 1) request.base.model.batch = batch.front();
  request.models = options.models;
  AACO_ASSIGN(request.hardware, split_list(options.hardware, "--hardware"));
  AACO_ASSIGN(request.batches, counts(options.batches, "--batches"));
  if (batch.size() > 1) request.batches = batch;
  AACO_ASSIGN(request.device_counts, counts(options.devices, "--devices"));
  AACO_ASSIGN(request.power_caps, numbers(options.caps, "--power-caps", false));
  AACO_ASSIGN(request.dtypes, split_list(options.dtypes, "--dtypes"));
  AACO_TRY(refuse_both("dtype", "dtypes", !request.base.conditions.dtype.empty(), !request.dtypes.empty()));
  AACO_TRY(
      refuse_both("power-cap", "power-caps", request.base.conditions.power_cap_watts.has_value(), !request.power_caps.empty()));
  using Rank = workflows::CompareModelsRequest::Rank;
  const std::string rank = options.rank.value_or("latency");
  request.rank = rank == "throughput" ? Rank::throughput
                 : rank == "energy"   ? Rank::energy
                 : rank == "memory"   ? Rank::memory
                                      : Rank::latency;
  return request;
}

core::Result<workflows::ServeRequest> resolve_serve(const PredictOptions& predict, const ServeOptions& serve,
                                                    const CompareOptions& options) {
  AACO_TRY(serve.refuse_with_serve());
  AACO_ASSIGN(const auto request, resolve(predict, options));
  if (!request.batches.empty())
    return core::fail(core::ErrorCode::invalid_argument, "--serve compares one --batch across devices",
                      "run once for each value");
  AACO_ASSIGN(auto served,
              serve.resolve(request.models, request.hardware, request.base.model.batch, request.base.conditions.dtype));
  using Rank = workflows::ServeRequest::Rank;
  // Without --rank: the usual question to a server is how much it does.
  served.rank = !options.rank                ? Rank::throughput
                : *options.rank == "energy"  ? Rank::energy
                : *options.rank == "memory"  ? Rank::memory
                : *options.rank == "latency" ? Rank::latency
                                             : Rank::throughput;
  return served;
}

void run_serve(Context& context, const PredictOptions& predict, const ServeOptions& serve, const CompareOptions& options) {
  const auto request = resolve_serve(predict, serve, options);
  if (!request) return context.fail(request.error());
  const auto points = workflows::serve_estimates(*request, make_services(context));
  if (!points) return context.fail(points.error());
  for (const auto& point : *points)
    if (point.error) context.exit_code = kEnvironment;
  if (!options.html.empty())
    if (const auto written = workflows::write_paper(serving_paper(*points, *request), options.html, context.paths); !written)
      return context.fail(written.error());
  context.print(serving_text(*points, *request, options.format, context.width));
}

void run(Context& context, const PredictOptions& predict, const ServeOptions& serve, const CompareOptions& options) {
  if (serve.asked()) return run_serve(context, predict, serve, options);
  if (const auto refused = serve.refuse_without_serve(); !refused) return context.fail(refused.error());
  const auto request = resolve(predict, options);
  if (!request) return context.fail(request.error());
  const auto points = workflows::compare_models(*request, make_services(context));
  context.progress("");
  if (!points) return context.fail(points.error());
  for (const auto& point : *points)
    if (!point.prediction) context.exit_code = kEnvironment;
  const report::Paper paper = workflows::comparison_paper(*points, *request);
  if (!options.html.empty())
    if (const auto written = workflows::write_paper(paper, options.html, context.paths); !written)
      return context.fail(written.error());
  if (options.format == "json") return context.print_json(workflows::comparison_json(*points, *request));
  if (options.format == "csv") return context.print(report::table_csv(workflows::comparison_table(*points)));
  if (options.format == "md") return context.print(report::paper_markdown(paper));
  if (options.format == "html") return context.print(report::paper_html(paper));
  context.print(report::paper_text(paper, context.width));
}

}  // namespace

void add_compare(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand(
      "compare", "Predict and rank models on devices: what-if analysis of batch, data type, device count and power");
  auto options = std::make_shared<CompareOptions>();
  verb->add_option("models", options->models, "Models: files, names from configs/models.yaml, or zoo:NAME");
  verb->add_option("--hardware", options->hardware, "Devices, comma-separated or repeated")->required();
  auto predict = std::make_shared<PredictOptions>(*verb);
  verb->remove_option(verb->get_option("--batch"));
  auto serve = std::make_shared<ServeOptions>(*verb);
  verb->add_option("--batch", options->batch, "Batch size; several (1,8,32) as with --batches")->type_name("LIST");
  verb->add_option("--model", options->models, "Same as the positional arguments")->allow_extra_args(false);
  verb->add_option("--batches", options->batches, "Batch sizes to try, e.g. 1,8,32")->type_name("LIST");
  verb->add_option("--dtypes", options->dtypes, "Data types to try, e.g. fp32,fp16")->type_name("LIST");
  verb->add_option("--power-caps", options->caps, "Power caps to try, in watts")->type_name("LIST");
  verb->add_option("--devices", options->devices, "Device counts to split the batch across, e.g. 1,2,8")->type_name("LIST");
  verb->add_option("--rank", options->rank,
                   "Ranking criterion (default: latency; with --serve, throughput per GPU); energy is per item or output token, "
                   "latency with --serve TPOT")
      ->check(CLI::IsMember({"latency", "throughput", "energy", "memory"}));
  verb->add_option("-f,--format", options->format, "Output format")
      ->check(CLI::IsMember({"text", "json", "csv", "md", "html"}))
      ->capture_default_str();
  verb->add_option("--html", options->html, "Write a styled page to this file as well")->type_name("FILE");
  verb->add_flag_callback(
      "--json", [options] { options->format = "json"; }, "Same as --format json");
  verb->footer(
      "The exit code is 3 if a combination has no prediction; the others are still ranked.\n\n"
      "Examples:\n  aaco compare resnet50 vit-b-16 --hardware MI300X,H100,A100 --batch 8 --dtype fp16\n  aaco compare llama2-7b "
      "--hardware MI300X --batches 1,8,64 --power-caps 400,550,750 --rank energy\n  aaco compare llama3-70b --hardware "
      "H100,H200,MI300X --serve --gpus 8 --tp 8 "
      "--concurrency 64 --dtype fp8");
  verb->callback([&context, predict, serve, options] { run(context, *predict, *serve, *options); });
}

}  // namespace aaco::cli

#include "workflows/sweep.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "workflows/paper_page.h"

namespace aaco::cli {
namespace {

struct SweepOptions {
  std::string batches, threads, backends;
  std::vector<std::string> dimensions;
  std::string html;
  bool json = false;
};

core::Result<std::vector<std::int64_t>> numbers(std::string_view text, std::string_view option) {
  std::vector<std::int64_t> values;
  if (text.empty()) return values;
  for (std::string_view part : core::split(text, ',')) {
    const auto value = core::parse_i64(part);
    if (!value || *value <= 0)
      return core::fail(core::ErrorCode::invalid_argument, "invalid value '" + std::string(text) + "' for '" +
                                                               std::string(option) +
                                                               "': expected positive integers such as 1,2,4");
    values.push_back(*value);
  }
  return values;
}

core::Result<workflows::SweepRequest> resolve(const RunOptions& run, const SweepOptions& options) {
  workflows::SweepRequest request;
  AACO_ASSIGN(request.base, run.resolve());
  AACO_ASSIGN(request.batches, numbers(options.batches, "--batch"));
  AACO_ASSIGN(request.threads, numbers(options.threads, "--threads"));
  if (!options.backends.empty())
    for (std::string_view name : core::split(options.backends, ',')) request.backends.emplace_back(core::trim(name));
  for (const auto& text : options.dimensions) {
    const auto equals = text.find('=');
    if (equals == std::string::npos)
      return core::fail(core::ErrorCode::invalid_argument, "invalid value '" + text + "' for '--dims': expected NAME=1,2,4");
    AACO_ASSIGN(auto sizes, numbers(std::string_view(text).substr(equals + 1), "--dims"));
    request.dimensions.emplace_back(text.substr(0, equals), std::move(sizes));
  }
  return request;
}

core::Json point_json(const workflows::SweepPoint& point) {
  core::Json out = core::Json::object(
      {{"batch", point.request.batch}, {"threads", point.request.threads}, {"backend", point.request.backend}});
  core::Json dimensions = core::Json::object();
  for (const auto& [name, size] : point.request.dimensions) dimensions.set(name, size);
  if (!dimensions.members().empty()) out.set("dimensions", std::move(dimensions));
  if (!point.error.empty()) return out.set("error", point.error);
  return out.set("session", point.session_id).set("path", point.session_path).set("metrics", to_json(point.metrics));
}

std::string cell(const workflows::SweepPoint& point, std::string_view id, std::string (*format)(double)) {
  const auto* metric = trace::find_metric(point.metrics, id);
  return metric ? format(metric->value) : "-";
}

// Three digits, so that a slow model's are not rounded to 0.
std::string items_a_second(double value) { return value < 100 ? fmt::format("{:.3g}", value) : core::format_count(value); }

// A column for each dimension that was swept, so that no two rows look the same.
void print_curves(const Context& context, const workflows::SweepRequest& request, const workflows::SweepOutcome& outcome) {
  std::vector<std::pair<std::string, std::size_t>> columns;
  for (const auto& dimension : request.dimensions)
    columns.emplace_back(dimension.first, std::max<std::size_t>(dimension.first.size(), 6));
  std::string head;
  for (const auto& [name, width] : columns) head += fmt::format(" {:>{}}", name, width);
  context.print(fmt::format("{:<10} {:>6} {:>8}{} {:>11} {:>11} {:>14}  {}\n", "BACKEND", "BATCH", "THREADS", head, "MEDIAN",
                            "P90", "ITEMS/S", "SESSION"));
  for (const auto& point : outcome.points) {
    const auto number = [](auto value) { return value ? std::to_string(*value) : std::string("-"); };
    std::string sizes;
    for (const auto& [name, width] : columns) sizes += fmt::format(" {:>{}}", point.request.dimensions.at(name), width);
    context.print(fmt::format(
        "{:<10} {:>6} {:>8}{} {:>11} {:>11} {:>14}  {}\n", point.request.backend, number(point.request.batch),
        number(point.request.threads), sizes, cell(point, "latency.p50_ns", core::format_duration),
        cell(point, "latency.p90_ns", core::format_duration), cell(point, "throughput.items_per_second", items_a_second),
        point.error.empty() ? point.session_id : point.error));
  }
}

void run_sweep(Context& context, const RunOptions& run, const SweepOptions& options) {
  const auto request = resolve(run, options);
  if (!request) return context.fail(request.error());
  const auto outcome = workflows::sweep(*request, make_services(context));
  if (!outcome) return context.fail(outcome.error());
  context.progress("");
  for (const auto& point : outcome->points)
    if (!point.error.empty()) context.exit_code = kEnvironment;
  if (!options.html.empty())
    if (const auto written = workflows::write_paper(workflows::sweep_paper(*outcome), options.html, context.paths); !written)
      return context.fail(written.error());
  if (!options.json) {
    if (context.quiet) return context.print(outcome->id + "\n");
    print_curves(context, *request, *outcome);
    if (outcome->interrupted)
      context.note(fmt::format("\nstopped early: {} of {} points started", outcome->points.size(), outcome->asked));
    return context.note("\nsummary  " + outcome->summary_path);
  }
  core::Json points = core::Json::array();
  for (const auto& point : outcome->points) points.push(point_json(point));
  context.print_json(core::Json::object({{"schema_version", 1},
                                         {"session", core::Json::object({{"id", outcome->id}, {"path", outcome->summary_path}})},
                                         {"asked_points", outcome->asked},
                                         {"interrupted", outcome->interrupted},
                                         {"points", std::move(points)}}));
}

}  // namespace

void add_sweep(CLI::App& app, Context& context) {
  CLI::App* verb =
      app.add_subcommand("sweep", "Run a model across batch sizes, thread counts, backends or dimensions: scaling curves");
  auto options = std::make_shared<SweepOptions>();
  auto run = std::make_shared<RunOptions>(*verb);
  for (const char* single : {"--batch", "--threads", "--backend"}) verb->remove_option(verb->get_option(single));
  verb->add_option("--batch", options->batches, "Batch sizes, e.g. 1,2,4,8")->type_name("LIST");
  verb->add_option("--threads", options->threads, "Intra-op thread counts, e.g. 1,2")->type_name("LIST");
  verb->add_option("-b,--backend", options->backends, "Backends, e.g. cpu,migraphx")->type_name("LIST");
  verb->add_option("--dims", options->dimensions, "Sizes of a symbolic dimension, NAME=64,128 (repeatable)")
      ->type_name("NAME=LIST")
      ->allow_extra_args(false);
  verb->add_option("-o,--out", context.paths.sessions, "Root folder for sessions (same as --sessions)");
  verb->add_option("--html", options->html, "Write a page with the latency-throughput curve and its knee to this file")
      ->type_name("FILE");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->callback([&context, run, options] { run_sweep(context, *run, *options); });
}

}  // namespace aaco::cli

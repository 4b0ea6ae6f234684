#include "workflows/analyze.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/predict_options.h"
#include "cli/options/run_options.h"
#include "cli/options/serve_options.h"
#include "cli/options/whole_number.h"
#include "core/files.h"
#include "workflows/paper_page.h"

namespace aaco::cli {
namespace {

struct AnalyzeOptions {
  std::string model, hardware = "this", fallback, provider, format = "text", output, html;
  std::size_t nodes = 15;
};

void write(Context& context, const std::string& text, const std::string& output) {
  if (output.empty()) return context.print(text);
  if (const auto written = core::write_file_atomic(output, text); !written) return context.fail(written.error());
  context.note("wrote " + output);
}

// A file has no terminal.
int width_of(const Context& context, const AnalyzeOptions& options) {
  return options.output.empty() ? context.width : report::kTextWidth;
}

// Of --html; false where it failed.
bool write_page(Context& context, const report::Paper& paper, const std::string& file) {
  if (file.empty()) return true;
  const auto written = workflows::write_paper(paper, file, context.paths);
  if (!written) context.fail(written.error());
  return written.has_value();
}

void run_serve(Context& context, const workflows::AnalyzeRequest& predict, const ServeOptions& serve,
               const AnalyzeOptions& options) {
  if (const auto refused = serve.refuse_with_serve(); !refused) return context.fail(refused.error());
  const auto request = serve.resolve({options.model}, {options.hardware}, predict.model.batch, predict.conditions.dtype);
  if (!request) return context.fail(request.error());
  const auto points = workflows::serve_estimates(*request, make_services(context));
  if (!points) return context.fail(points.error());
  if (!write_page(context, workflows::serving_paper(*points, *request), options.html)) return;
  write(context, serving_text(*points, *request, options.format, width_of(context, options)), options.output);
}

void run(Context& context, const PredictOptions& predict, const ServeOptions& serve, const AnalyzeOptions& options) {
  auto request = predict.resolve();
  if (!request) return context.fail(request.error());
  if (options.model.empty())
    return context.fail(
        {core::ErrorCode::invalid_argument, "missing model", "for example: aaco analyze resnet50 --hardware MI300X", {}});
  // A configuration without weights or a graph has no other estimate.
  if (serve.asked() || options.model.ends_with(".json")) return run_serve(context, *request, serve, options);
  if (const auto refused = serve.refuse_without_serve(); !refused) return context.fail(refused.error());
  request->model.name = options.model;
  request->hardware = options.hardware;
  request->fallback = options.fallback;
  request->provider = options.provider;
  const auto report = workflows::analyze(*request, make_services(context));
  if (!report) return context.fail(report.error());
  if (!options.html.empty() && !write_page(context, workflows::analysis_page(*report, options.nodes), options.html)) return;
  write(context, render_analysis(*report, *workflows::analysis_format(options.format), options.nodes, width_of(context, options)),
        options.output);
}

}  // namespace

void add_analyze(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("analyze", "Predict a model's time, memory and energy on a device without running it");
  auto options = std::make_shared<AnalyzeOptions>();
  verb->add_option("model,--model", options->model,
                   "Model: a file (.onnx, .pt2, .tflite; FILE#NAME selects one of several models or signatures), a name from "
                   "configs/models.yaml, or zoo:NAME; with --serve a language model's name or its config.json");
  verb->add_option("--hardware", options->hardware, "Device: id, alias, ID@STATE, or 'this' (see 'aaco hardware ls')")
      ->capture_default_str();
  verb->add_option("--fallback", options->fallback, "Device for operators that --hardware does not support, usually the host")
      ->type_name("ID");
  verb->add_option("--provider", options->provider,
                   "With --fallback: provider whose list of supported operators applies (edgetpu, hailo, tensorrt, migraphx; "
                   "default: the device's)");
  auto predict = std::make_shared<PredictOptions>(*verb);
  auto serve = std::make_shared<ServeOptions>(*verb);
  verb->add_option("-f,--format", options->format, "Output format; csv contains every node")
      ->check(CLI::IsMember({"text", "json", "csv", "md", "html"}))
      ->capture_default_str();
  verb->add_flag_callback(
      "--json", [options] { options->format = "json"; }, "Same as --format json");
  verb->add_option("--html", options->html, "Write a styled page to this file as well")->type_name("FILE");
  verb->add_option("-o,--output", options->output, "Output file (default: standard output)");
  verb->add_option("--nodes", options->nodes,
                   "Number of slowest node groups to list (similar nodes share a line); 0 lists every node in order")
      ->check(whole_number(0, kMaxCount))
      ->capture_default_str();
  verb->footer(
      "Every estimate has a 90 % interval and states how it was derived: CALIBRATED (fitted to measurements of this device),\n"
      "INTERPOLATED (from related devices) or THEORETICAL (specifications only). For language models, tokens/s and energy\n"
      "per token are included. With --serve, no estimate is below what the device's peak rates allow (floor).\n\n"
      "Examples:\n  aaco analyze resnet50 --hardware MI300X --batch 8 --dtype fp16\n  aaco analyze llama2-7b --hardware H100 "
      "--dim sequence_length=512,past_sequence_length=0 --power-cap 500\n  aaco analyze net.onnx --hardware this --format html "
      "-o net.html\n  aaco analyze mobilenetv3-large --hardware Coral --dtype int8 --fallback i7-12700K\n  aaco analyze "
      "llama3-70b "
      "--hardware H100 --serve --gpus 8 --tp 8 --isl 2048 --osl 256 --concurrency 64 --dtype fp8\n  aaco analyze config.json "
      "--hardware MI300X --serve --gpus 8 --slo ttft=1s,tpot=30ms");
  verb->callback([&context, predict, serve, options] { run(context, *predict, *serve, *options); });
}

}  // namespace aaco::cli

#include "workflows/inspect.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/dimension_list.h"
#include "cli/options/run_options.h"
#include "cli/options/whole_number.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "report/terminal.h"

namespace aaco::cli {
namespace {

using core::Json;

constexpr int kNodeColumns = 40;
constexpr int kOperatorColumns = 34;

// Names come from the file: nothing in them may steer the terminal.
std::string name_of(const Json& text) { return report::printable(text.text()); }
std::string column(const Json& text, int width) { return report::fit_left(name_of(text), width); }

struct Options {
  std::string model;
  std::vector<std::string> dimensions;
  workflows::InspectRequest request;
  bool json = false;
};

// "8.18 G", for FLOPs and the like.
std::string scaled(const Json& number) {
  double value = number.as_f64().value_or(0);
  for (const char* unit : {"", "k", "M", "G", "T"}) {
    if (value < 1000) return fmt::format("{:.3g} {}", value, unit);
    value /= 1000;
  }
  return fmt::format("{:.3g} P", value);
}

std::string bytes(const Json& number) { return core::format_bytes(number.as_f64().value_or(0)); }

std::string shape_text(const Json& shape) {
  if (shape.is_null()) return " of unknown shape";
  std::vector<std::string> sizes;
  for (const Json& size : shape.items()) sizes.push_back(size.is_string() ? name_of(size) : size.dump(-1));
  for (std::string& size : sizes)
    if (size.empty()) size = "?";
  return "[" + core::join(sizes, ", ") + "]";
}

void print_tensors(const Context& context, std::string_view title, const Json& tensors) {
  constexpr std::size_t kShown = 6;
  for (std::size_t number = 0; number < std::min(kShown, tensors.items().size()); ++number) {
    const Json& tensor = tensors.items()[number];
    context.print(fmt::format("{:<11} {} {}{}\n", number == 0 ? title : "", name_of(tensor["name"]), tensor["type"].text(),
                              shape_text(tensor["shape"])));
  }
  if (tensors.items().size() > kShown)
    context.print(fmt::format("{:<11} and {} more (--json lists them)\n", "", tensors.items().size() - kShown));
}

std::string opsets_text(const Json& opsets) {
  std::vector<std::string> parts;
  for (const auto& [domain, version] : opsets.members()) parts.push_back(report::printable(domain) + " " + version.dump(-1));
  return core::join(parts, ", ");
}

void print_head(const Context& context, const Json& document) {
  const std::string opsets = opsets_text(document["opsets"]);
  context.print(fmt::format("{:<11} {}{}{}\n", "model", name_of(document["model"]),
                            document["producer"].text().empty() ? "" : ", by ", name_of(document["producer"])));
  context.print(fmt::format("{:<11} {}{}{}\n", "format", document["format"].text(), opsets.empty() ? "" : ", opsets: ", opsets));
  print_tensors(context, "inputs", document["inputs"]);
  print_tensors(context, "outputs", document["outputs"]);
  std::vector<std::string> sizes;
  for (const auto& [name, size] : document["dimensions"].members())
    sizes.push_back(report::printable(name) + "=" + size.dump(-1));
  if (!sizes.empty()) context.print(fmt::format("{:<11} {}\n", "dimensions", core::join(sizes, ", ")));
  for (const Json& text : document["assumptions"].items()) context.print(fmt::format("{:<11} {}\n", "assumed", name_of(text)));
}

void print_work(const Context& context, const Json& document) {
  const Json& parameters = document["parameters"];
  context.print(fmt::format("\n{:<11} {} ({})\n", "parameters", core::format_count(parameters["count"].as_f64().value_or(0)),
                            bytes(parameters["bytes"])));
  // Nodes without a model or without shapes are in no sum.
  const bool partial = !document["unmodelled"].items().empty();
  if (partial && document["flops"].as_f64().value_or(0) <= 0)
    context.print(fmt::format("{:<11} unknown: no operator with work is modelled and has known shapes (see below)\n", "work"));
  else
    context.print(fmt::format("{:<11} {}{}FLOP, including {}MAC (2 FLOP each) in matrix products, convolutions and attention\n",
                              "work", partial ? "at least " : "", scaled(document["flops"]), scaled(document["macs"])));
  context.print(fmt::format("{:<11} {} read and {} written per call\n", "traffic", bytes(document["bytes_read"]),
                            bytes(document["bytes_written"])));
  if (const auto intensity = document["flops_per_byte"].as_f64())
    context.print(fmt::format("{:<11} {:.3g} FLOP/byte\n", "intensity", *intensity));
  const Json& memory = document["memory"];
  context.print(fmt::format("{:<11} {} peak: weights {}, activations {}{}{}\n", "memory", bytes(memory["peak_bytes"]),
                            bytes(memory["weight_bytes"]), bytes(memory["activation_bytes"]),
                            memory.contains("peak_node") ? ", at " : "", name_of(memory["peak_node"])));
}

void print_operators(const Context& context, const Json& document) {
  constexpr std::size_t kShown = 20;
  const Json::Array& rows = document["operators"].items();
  context.print(fmt::format("\n{:<34} {:<14} {:>6} {:>11} {:>7} {:>11} {:>11}\n", "OPERATOR", "CLASS", "NODES", "FLOP", "SHARE",
                            "READ", "WRITTEN"));
  for (std::size_t number = 0; number < std::min(kShown, rows.size()); ++number) {
    const Json& row = rows[number];
    const bool known = row["modelled"].as_bool().value_or(false);
    context.print(fmt::format("{} {:<14} {:>6} {:>11} {:>7} {:>11} {:>11}\n", column(row["op_type"], kOperatorColumns),
                              row["class"].text(), row["nodes"].dump(-1), known ? scaled(row["flops"]) : "?",
                              known ? core::format_percent(row["flops_ratio"].as_f64().value_or(0)) : "?",
                              known ? bytes(row["bytes_read"]) : "?", known ? bytes(row["bytes_written"]) : "?"));
  }
  if (rows.size() > kShown) context.print(fmt::format("and {} more operators (--json lists them)\n", rows.size() - kShown));
}

void print_doubts(const Context& context, const Json& document) {
  if (document.contains("newer_versions"))
    context.print(fmt::format("\nOperators newer than this version of AACO supports; confidence in the figures above is {}:\n",
                              core::format_confidence(document["confidence_ratio"].as_f64().value_or(0))));
  for (const Json& row : document["newer_versions"].items()) context.print(fmt::format("  {}\n", name_of(row["text"])));
  if (!document["unmodelled"].items().empty())
    context.print(fmt::format("\nNot modelled; confidence in the figures above is {}:\n",
                              core::format_confidence(document["confidence_ratio"].as_f64().value_or(0))));
  for (const Json& row : document["unmodelled"].items())
    context.print(fmt::format("  {} ({} of {} nodes, about {} of all activation bytes): {}\n", name_of(row["op_type"]),
                              row["nodes"].dump(-1), document["node_count"].dump(-1),
                              core::format_percent(row["activation_ratio"].as_f64().value_or(0)), name_of(row["reason"])));
  for (const Json& text : document["shapes"]["problems"].items()) context.print(fmt::format("  {}\n", name_of(text)));
}

void print_nodes(const Context& context, const Json& document) {
  context.print(
      fmt::format("\n{:<40} {:<22} {:>11} {:>11} {:>11}  {}\n", "NODE", "OPERATOR", "FLOP", "READ", "WRITTEN", "OUTPUT"));
  for (const Json& node : document["nodes"].items()) {
    const bool known = node.contains("flops");
    const Json::Array& outputs = node["outputs"].items();
    context.print(fmt::format("{} {} {:>11} {:>11} {:>11}  {}\n", column(node["name"], kNodeColumns), column(node["op_type"], 22),
                              known ? scaled(node["flops"]) : "?", known ? bytes(node["bytes_read"]) : "?",
                              known ? bytes(node["bytes_written"]) : "?",
                              outputs.empty() ? "" : shape_text(outputs[0]["shape"])));
  }
}

void print_plan(const Context& context, const Json& plan) {
  const Json& fusion = plan["fusion"];
  context.print(fmt::format("\nOn {} ({}):\n", plan["backend"].text(), plan["source"].text()));
  context.print(
      fmt::format("  {} kernels; fusion saves {} of traffic\n", fusion["kernels"].dump(-1), bytes(fusion["saved_bytes"])));
  for (const Json& row : fusion["patterns"].items())
    context.print(fmt::format("  {:>6} x {:<18} {}\n", row["kernels"].dump(-1), row["pattern"].text(), name_of(row["example"])));
  constexpr std::size_t kShown = 5;
  const Json::Array& apart = fusion["not_fused"].items();
  for (std::size_t number = 0; number < std::min(kShown, apart.size()); ++number)
    context.print(fmt::format("  not fused: {} at {}: {}\n", apart[number]["pattern"].text(), name_of(apart[number]["node"]),
                              name_of(apart[number]["reason"])));
  if (apart.size() > kShown) context.print(fmt::format("  and {} more (--json lists them)\n", apart.size() - kShown));
  const Json& partition = plan["partition"];
  context.print(fmt::format("  {} partition{}, {} copies between them ({})\n", partition["parts"].items().size(),
                            partition["parts"].items().size() == 1 ? "" : "s", partition["transfers"].items().size(),
                            bytes(partition["transfer_bytes"])));
  for (const Json& row : partition["refusals"].items())
    context.print(fmt::format("  {} leaves {} {} nodes on the host: {}\n", row["target"].text(), row["nodes"].dump(-1),
                              name_of(row["op_type"]), name_of(row["reason"])));
  const Json& at_once = plan["concurrency"];
  context.print(fmt::format("  critical path: {} nodes, {}FLOP; average parallelism at most {:.2f} nodes\n",
                            at_once["longest_chain_nodes"].dump(-1), scaled(at_once["longest_chain_flops"]),
                            at_once["flops_at_once_ratio"].as_f64().value_or(1)));
}

void show(Context& context, Options& options) {
  auto dimensions = parse_dimensions(options.dimensions);
  if (!dimensions) return context.fail(dimensions.error());
  options.request.model.dimensions = std::move(*dimensions);
  const auto document = workflows::inspect(options.request, make_services(context));
  if (!document) return context.fail(document.error());
  if (options.json) return context.print_json(*document);
  print_head(context, *document);
  print_work(context, *document);
  print_operators(context, *document);
  print_doubts(context, *document);
  if (options.request.nodes) print_nodes(context, *document);
  if (document->contains("plan")) print_plan(context, (*document)["plan"]);
}

}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  CLI::App* verb =
      app.add_subcommand("inspect", "Show a model's structure and work: operators, parameters, FLOPs, bytes, shapes");
  auto options = std::make_shared<Options>();
  workflows::InspectRequest& request = options->request;
  verb->add_option("model", request.model.name,
                   "Model: a file (.onnx, .pt2, .tflite; FILE#NAME selects one of several models or signatures), a name from "
                   "configs/models.yaml, or zoo:NAME (the model is not run, weights are not read)")
      ->required();
  verb->add_option("--batch", request.model.batch, "Batch size")->check(positive_count());
  verb->add_option("--dim", options->dimensions, "Sizes of symbolic dimensions, NAME=SIZE[,NAME=SIZE...] (repeatable)")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false);
  verb->add_option("--loop-trips", request.model.shapes.loop_trips,
                   "Iterations assumed for loops whose trip count is not in the model")
      ->check(positive_count())
      ->capture_default_str();
  verb->add_flag("--strict", request.strict, "Fail if a dimension has no size, instead of assuming a typical one");
  verb->add_flag("--nodes", request.nodes, "List every node with shape and work");
  verb->add_option(
      "--plan", request.plan.backend,
      "Show how a backend executes the graph: kernels after fusion, partitions, copies, concurrency (onnxruntime_cpu, migraphx)");
  verb->add_option("--on-host", request.plan.on_host, "With --plan: operator to leave on the host (repeatable)")
      ->allow_extra_args(false);
  verb->add_flag("--json", options->json, "Print JSON");
  verb->footer(
      "Examples:\n  aaco inspect resnet50                                   8.2 GFLOP, 25.6 M parameters\n  aaco inspect "
      "model.onnx --dim batch=8,sequence_length=512\n  aaco inspect zoo:llama2-7b --dim "
      "past_sequence_length=2047,sequence_length=1");
  verb->callback([&context, options] { show(context, *options); });
}

}  // namespace aaco::cli

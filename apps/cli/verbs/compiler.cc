#include "workflows/compiler.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>

#include "cli/context.h"
#include "cli/options/run_options.h"
#include "core/environment.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "report/terminal.h"

namespace aaco::cli {
namespace {

using core::Json;

constexpr std::size_t kMaxShown = 20;

std::string shown(const Json& text) { return report::printable(text.text()); }

std::int64_t whole(const Json& number) { return number.as_i64().value_or(0); }

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "level basic", "ONNX Runtime 1.20.1".
std::string side_name(const Json& against, std::string_view side) {
  return (against["kind"].text() == "level" ? "level " : "") + shown(against[side]);
}

void print_levels(const Context& context, const Json& document) {
  context.print(fmt::format("{:<9} {}, opset {}\n{:<9} ONNX Runtime {}, {}\n\n", shown(document["model"]),
                            counted(static_cast<std::size_t>(whole(document["nodes"])), "node"),
                            document["opset"].is_null() ? "unknown" : document["opset"].dump(-1), "runtime",
                            document["runtime"]["version"].text(), document["runtime"]["provider"].text()));
  if (const auto asked = document["runtime"]["requested_provider"].text(); !asked.empty())
    context.print(fmt::format("{:<9} of {}; the graph that {} compiles cannot be written, what it takes is listed at the end\n\n",
                              "shown", document["runtime"]["provider"].text(), asked));
  if (const auto call = document["timed"]["call_ns"].as_f64())
    context.print(fmt::format("{:<9} {} with the profiler on, median of {} calls\n\n", "call", core::format_duration(*call),
                              whole(document["timed"]["calls"])));
  context.print(fmt::format("{:<10}{:>8}{:>8}{:>11}{:>8}{:>8}{:>9}{:>10}\n", "LEVEL", "KERNELS", "KEPT", "REWRITTEN", "FUSED",
                            "FOLDED", "REMOVED", "INSERTED"));
  for (const Json& level : document["levels"].items())
    context.print(fmt::format("{:<10}{:>8}{:>8}{:>11}{:>8}{:>8}{:>9}{:>10}\n", level["level"].text(), whole(level["kernels"]),
                              whole(level["kept"]), whole(level["rewritten"]), whole(level["fused"]), whole(level["folded"]),
                              whole(level["removed"]), whole(level["inserted"])));
}

// Counted rows, most first: "  33  FusedConv <- Conv+Relu".
void print_counted(const Context& context, std::string_view title, const std::map<std::string, std::int64_t>& rows) {
  if (rows.empty()) return;
  std::vector<std::pair<std::string, std::int64_t>> sorted(rows.begin(), rows.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  context.print(fmt::format("\n{}\n", title));
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxShown); ++i)
    context.print(fmt::format("{:>5}  {}\n", sorted[i].second, sorted[i].first));
  if (sorted.size() > kMaxShown) context.print(fmt::format("       {} more (--json lists them)\n", sorted.size() - kMaxShown));
}

// "  33   1.2 ms  FusedConv <- Conv+Relu"; times where they were measured.
void print_counted(const Context& context, std::string_view title, const Json& list,
                   const std::function<std::string(const Json&)>& label) {
  std::map<std::string, std::int64_t> rows;
  std::map<std::string, double> times, changes;
  for (const Json& one : list.items()) {
    ++rows[label(one)];
    if (const auto time = one["time_ns"].as_f64()) times[label(one)] += *time;
    if (const auto change = one["change_ns"].as_f64()) changes[label(one)] += *change;
  }
  std::map<std::string, std::int64_t> said;
  for (const auto& [text, count] : rows) {
    std::string line = text;
    if (times.contains(text)) line += ", " + core::format_duration(times[text]);
    if (changes.contains(text))
      line += fmt::format(" ({} against the same nodes on the other side)", core::format_signed_duration(changes[text]));
    said[line] = count;
  }
  print_counted(context, title, said);
}

void print_fused(const Context& context, std::string_view title, const Json& fused) {
  print_counted(context, title, fused, [](const Json& one) { return shown(one["op_type"]) + " <- " + shown(one["pattern"]); });
}

std::string place_of(const Json& one, std::string_view key) {
  return shown(one[key]) + (one["within"].text().empty() ? "" : " (" + shown(one["within"]) + ")");
}

// Per reason and pattern, most first, every place with what was found; what has no reason comes last.
void print_missed(const Context& context, const Json& missed) {
  if (missed.items().empty()) return;
  std::map<std::pair<std::string, std::string>, std::vector<const Json*>> rows;
  for (const Json& one : missed.items())
    rows[{std::string(one["reason"].text()), std::string(one["pattern"].text())}].push_back(&one);
  std::vector<std::vector<const Json*>> sorted;
  for (const auto& [key, row] : rows) sorted.push_back(row);
  const auto key = [](const auto& row) {
    return std::pair((*row.front())["reason"].text() == "unexplained", -static_cast<std::int64_t>(row.size()));
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  context.print("\nNot fused\n");
  for (const auto& row : sorted) {
    for (std::size_t i = 0; i < std::min(row.size(), kMaxShown); ++i) {
      const Json& one = *row[i];
      const std::string pair = place_of(one, "first") + " and " + place_of(one, "second");
      context.print(i == 0 ? fmt::format("{:>5}  {:<21} {}: {}\n", row.size(), one["reason"].text(), one["pattern"].text(), pair)
                           : fmt::format("       {}\n", pair));
      if (const auto both = one["both_ns"].as_f64())
        context.print(fmt::format("       both take {} together\n", core::format_duration(*both)));
      if (!one["condition"].text().empty()) context.print(fmt::format("         {}\n", shown(one["condition"])));
    }
    if (row.size() > kMaxShown) context.print(fmt::format("       {} more (--json lists them)\n", row.size() - kMaxShown));
  }
}

// "    3  Identity: a, b, c".
void print_gone(const Context& context, std::string_view title, const Json& nodes, std::string_view fate) {
  std::map<std::string, std::vector<std::string>> rows;
  for (const Json& one : nodes.items())
    if (one["fate"].text() == fate) rows[shown(one["op_type"])].push_back(place_of(one, "node"));
  if (rows.empty()) return;
  context.print(fmt::format("\n{}\n", title));
  for (auto& [op_type, names] : rows) {
    const std::size_t count = names.size();
    if (count > kMaxShown) names.resize(kMaxShown);
    context.print(fmt::format("{:>5}  {}: {}{}\n", count, op_type, core::join(names, ", "),
                              count > kMaxShown ? fmt::format(" and {} more", count - kMaxShown) : ""));
  }
}

void print_refused(const Context& context, const Json& refused) {
  for (std::size_t i = 0; i < std::min(refused.items().size(), kMaxShown); ++i) {
    const Json& one = refused.items()[i];
    context.print(fmt::format("  {:<20} {} ({}): {}\n", one["reason"].text(), shown(one["node"]), shown(one["op_type"]),
                              shown(one["condition"])));
    if (const Json& splits = one["splits"]; splits.is_object())
      context.print(
          fmt::format("  {:<20} breaks the partition between {} and {}\n", "", shown(splits["before"]), shown(splits["behind"])));
  }
  if (refused.items().size() > kMaxShown)
    context.print(fmt::format("  {} more (--json lists them)\n", refused.items().size() - kMaxShown));
}

void print_source(const Context& context, const Json& against) {
  if (!against["source"].text().empty()) context.print(fmt::format("  by {}\n", shown(against["source"])));
}

void print_provider(const Context& context, const Json& against) {
  context.print(fmt::format("\n{}: {}, {} not supported, {} copied between parts\n", against["there"].text(),
                            counted(against["parts"].items().size(), "part"), counted(against["refused"].items().size(), "node"),
                            counted(against["seams"].items().size(), "tensor")));
  print_source(context, against);
  print_refused(context, against["refused"]);
  for (std::size_t i = 0; i < std::min(against["seams"].items().size(), kMaxShown); ++i) {
    const Json& one = against["seams"].items()[i];
    const auto least = one["least_ns"].as_f64();
    context.print(fmt::format("  seam: {} -> {}, {} ({} to {}{})\n", shown(one["first"]), shown(one["second"]),
                              one["bytes"].is_null() ? "size unknown" : core::format_bytes(one["bytes"].as_f64().value_or(0)),
                              one["from"].text(), one["to"].text(), least ? ", at least " + core::format_duration(*least) : ""));
  }
  if (against["seams"].items().size() > 0 && against["link"].is_object())
    context.print(fmt::format("  times of seams are estimates, at the rate of {}; the start of each copy comes on top\n",
                              shown(against["link"]["name"])));
}

// Changes of provider, the costliest first.
void print_seams(const Context& context, const Json& seams, const Json& timed) {
  const auto total = timed["total_ns"].as_f64(), call = timed["call_ns"].as_f64(), usual = timed["usual_ns"].as_f64();
  if (!total || !call) return;
  context.print(fmt::format("  {} between providers, {} per call of {} (profiled{})\n", counted(seams.items().size(), "change"),
                            *total > 0 ? core::format_duration(*total) : std::string("no measurable cost"),
                            core::format_duration(*call),
                            usual ? "; the usual " + core::format_duration(*usual) + " between two nodes not counted" : ""));
  std::vector<const Json*> costly;
  for (const Json& one : seams.items())
    if (one["time_ns"].as_f64().value_or(0) > 0) costly.push_back(&one);
  std::stable_sort(costly.begin(), costly.end(),
                   [](const Json* a, const Json* b) { return (*a)["time_ns"].as_f64() > (*b)["time_ns"].as_f64(); });
  for (std::size_t i = 0; *total > 0 && i < std::min(costly.size(), kMaxShown); ++i) {
    const Json& one = *costly[i];
    context.print(fmt::format("  seam: {} -> {}, {} ({} to {})\n", shown(one["first"]), shown(one["second"]),
                              core::format_duration(one["time_ns"].as_f64().value_or(0)), one["from"].text(), one["to"].text()));
  }
}

void print_backend(const Context& context, const Json& against) {
  context.print(fmt::format("\n{}: ONNX Runtime {}\n", against["there"].text(), shown(against["version"])));
  for (const auto& [provider, nodes] : against["nodes_by_provider"].members())
    context.print(fmt::format("{:>5}  nodes on {}\n", whole(nodes), provider));
  if (!against["refused"].items().empty()) print_source(context, against);
  print_refused(context, against["refused"]);
  print_seams(context, against["seams"], against["seams_timed"]);
}

void print_compiler(const Context& context, const Json& document) {
  print_levels(context, document);
  print_fused(context, fmt::format("Fused at level {}", document["level"].text()), document["fused"]);
  print_counted(context, "Inserted", document["inserted"],
                [](const Json& one) { return shown(one["op_type"]) + " (" + std::string(one["kind"].text()) + ")"; });
  print_gone(context, "Removed", document["compiler_nodes"], "removed");
  print_gone(context, "Folded", document["compiler_nodes"], "folded");
  print_missed(context, document["not_fused"]);
  const Json& against = document["against"];
  if (against.is_null()) return;
  if (against["kind"].text() == "backend") return print_backend(context, against);
  if (against["kind"].text() == "provider") return print_provider(context, against);
  if (against["call_here_ns"].as_f64() && against["call_there_ns"].as_f64())
    context.print(fmt::format("\nCall with the profiler on: {} with {}, {} with {}\n",
                              core::format_duration(*against["call_here_ns"].as_f64()), side_name(against, "here"),
                              core::format_duration(*against["call_there_ns"].as_f64()), side_name(against, "there")));
  print_fused(context, "Fused only with " + side_name(against, "here"), against["only_here"]);
  print_fused(context, "Fused only with " + side_name(against, "there"), against["only_there"]);
  if (against["only_here"].items().empty() && against["only_there"].items().empty())
    context.print(fmt::format("\n{} and {} fuse the same nodes\n", side_name(against, "here"), side_name(against, "there")));
}

}  // namespace

void add_compiler(CLI::App& app, Context& context) {
  struct Options {
    workflows::CompilerRequest request;
    bool this_level = false, json = false, no_store = false;
  };
  CLI::App* verb =
      app.add_subcommand("compiler", "Show what ONNX Runtime's graph optimiser does to a model, and what it does not fuse");
  auto options = std::make_shared<Options>();
  auto run = std::make_shared<RunOptions>(*verb);
  for (const char* other :
       {"--warmup", "--iterations", "--duration", "--precision", "--isolate", "--isolate-set", "--drop-disturbed", "--telemetry",
        "--ebpf", "--telemetry-period", "--profile", "--profile-domains", "--counters"})
    if (CLI::Option* found = verb->get_option_no_throw(other)) verb->remove_option(found);
  verb->add_option(
          "--against", options->request.against,
          "Compare with another level, another libonnxruntime.so or fetched build (1.20.1), or a provider such as migraphx")
      ->type_name("LEVEL|LIB|PROVIDER");
  verb->add_flag("--time", options->request.timed, "Also run the model with the profiler on: time per kernel");
  verb->add_flag("--this-level", options->this_level, "Optimise at --graph-level only");
  verb->add_option("-o,--out", options->request.folder,
                   "Folder for compiler.json, compiler_nodes.parquet and the optimised graphs")
      ->type_name("DIR");
  verb->add_flag("--no-store", options->no_store, "Do not store a session");
  verb->add_flag("--json", options->json, "Print JSON");
  verb->footer(
      "Examples:\n"
      "  aaco compiler resnet50\n"
      "  aaco compiler net.onnx --against basic\n"
      "  aaco compiler net.onnx --against libonnxruntime.so.1.17.3\n"
      "  aaco compiler net.onnx --against migraphx --json\n"
      "  aaco compiler net.onnx --time --against 1.20.1\n\n"
      "The model is loaded, and run only with --time. A fusion is reported as missed only if ONNX Runtime did leave the two "
      "nodes apart; the\n"
      "reason is an id in data/rules/compiler.yaml.");
  verb->callback([&context, run, options] {
    auto request = run->resolve();
    if (!request) return context.fail(request.error());
    options->request.run = *request;
    if (const auto entered = enter_build(options->request.run, context); !entered) return context.fail(entered.error());
    options->request.every_level = !options->this_level;
    options->request.program = {core::executable_path(), "compiler"};
    const auto document = workflows::inspect_compiler(options->request, make_services(context));
    context.progress("");
    if (!document) return context.fail(document.error());
    options->json ? context.print_json(*document) : print_compiler(context, *document);
    if (options->no_store) return;
    const auto session = workflows::store_compiler(*document, options->request, make_services(context));
    if (!session) return context.note("warning: no session: " + session.error().message);
    context.note("session  " + session->path);
    if (!options->json) context.note("hint: 'aaco report latest --html compiler.html' draws the graph before and after");
  });
}

}  // namespace aaco::cli

#include "workflows/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/lab.h"
#include "cli/run_options.h"
#include "core/numbers.h"
#include "report/quantity.h"

namespace aaco::cli {
namespace {

using core::Json;

constexpr std::size_t kShown = 12;

// What is not known is not 0 %.
std::string gain(double ratio) { return ratio > 0 ? core::format_percent(ratio) : "-"; }

void print_bottleneck(const Context& context, const Json& bottleneck) {
  if (bottleneck.is_null()) return context.print("Nothing was measured that tells what limits this session.\n");
  if (bottleneck["bottleneck_class"].text() == "inconclusive")
    context.print(fmt::format("Not decided: {} So far it looks most like {}, by:\n", bottleneck["meaning"].text(),
                              bottleneck["ranking"].items().front()["title"].text()));
  else
    context.print(fmt::format("Limited by {} (confidence {}). {}\n", bottleneck["title"].text(),
                              report::format_estimate(bottleneck["confidence"].as_f64().value_or(0)),
                              bottleneck["meaning"].text()));
  for (const Json& one : bottleneck["top_evidence"].items())
    context.print(fmt::format("  {:<34} {:>12.4g}   weight {:+.2f}\n", one["signal"].text(), one["value"].as_f64().value_or(0),
                              one["weight"].as_f64().value_or(0)));
  const auto& advice = bottleneck["recommendations"].items();
  if (!advice.empty()) context.print("\nWhat to do, by expected gain x confidence / effort\n");
  for (const Json& one : advice)
    context.print(fmt::format("  {:>6}  {} ({})\n", gain(one["gain_ratio"].as_f64().value_or(0)), one["title"].text(),
                              one["basis"].text()));
}

void print_explanation(const Context& context, const workflows::Explanation& explanation) {
  print_bottleneck(context, explanation.bottleneck);
  context.print(fmt::format("\nWhat does not fit the rest: {}\n",
                            explanation.anomalies.empty() ? "nothing found" : std::to_string(explanation.anomalies.size())));
  std::size_t shown = 0;
  for (const auto& one : explanation.anomalies)
    if (shown++ < kShown) context.print(fmt::format("  {:<12} {}\n", to_string(one.kind), one.text));
  if (shown > kShown) context.print(fmt::format("  and {} more; --json lists all\n", shown - kShown));
  context.print(fmt::format("Compared with {} earlier session{} of the same fingerprint.\n", explanation.compared_with,
                            explanation.compared_with == 1 ? "" : "s"));
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("explain", "Why a session is as fast as it is, and what in it does not fit the rest");
  auto session = std::make_shared<std::string>("latest");
  auto json = std::make_shared<bool>(false);
  verb->add_option("session", *session, "Session: id, path, latest or tag:NAME")->capture_default_str();
  verb->add_flag("--json", *json, "As JSON");
  verb->footer(
      "Judges anew with the rules and models of this version; metrics/bottleneck.json of the session stays as it was.\n"
      "Why two sessions differ: 'aaco diff A B'.");
  verb->callback([&context, session, json] {
    const auto explanation = workflows::explain(*session, make_services(context));
    if (!explanation) return context.fail(explanation.error());
    if (*json) return context.print_json(to_json(*explanation));
    print_explanation(context, *explanation);
  });
}

}  // namespace aaco::cli

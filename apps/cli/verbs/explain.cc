#include "workflows/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "cli/context.h"
#include "cli/options/on_fleet.h"
#include "core/numbers.h"
#include "report/quantity.h"
#include "report/time_shares.h"

namespace aaco::cli {
namespace {

using core::Json;

constexpr std::size_t kShown = 12;
constexpr int kLongestName = 60;

// What is not known is not 0 %.
std::string gain(double ratio) { return ratio > 0 ? core::format_percent(ratio) : "-"; }

std::string signal_value(std::string_view signal, double value) {
  return signal.ends_with("_ratio") ? report::format_quantity(value, "ratio") : fmt::format("{:.4g}", value);
}

// Recordings are judged by thresholds, which have none.
std::string confidence(const Json& ratio) {
  const auto value = ratio.as_f64();
  return value ? fmt::format(" (confidence {})", report::format_estimate(*value)) : "";
}

// A trace without a timeline has no ranking.
std::string likely(const Json& bottleneck) {
  const auto& ranking = bottleneck["ranking"].items();
  return ranking.empty() ? "" : fmt::format(" Most likely: {}. Evidence:", ranking.front()["title"].text());
}

void print_cause(const Context& context, std::string_view class_id, const Json& cause) {
  const auto share = cause["span_share_ratio"].as_f64();
  if (!share) return;
  const std::string remedy(cause["remedy"].text());
  context.print(fmt::format("{}: {} ({} of {}).{}\n", workflows::cause_label(class_id, cause), cause["title"].text(),
                            core::format_percent(*share), workflows::share_of(cause),
                            remedy.empty() ? "" : " Remedy: " + remedy));
}

void print_bottleneck(const Context& context, const Json& bottleneck) {
  if (bottleneck.is_null()) return context.print("Bottleneck unknown: this session has no measurements to classify.\n");
  if (bottleneck["bottleneck_class"].text() == "inconclusive")
    context.print(fmt::format("Bottleneck inconclusive. {}{}\n", bottleneck["meaning"].text(), likely(bottleneck)));
  else
    context.print(fmt::format("Bottleneck: {}{}. {}\n", bottleneck["title"].text(), confidence(bottleneck["confidence"]),
                              bottleneck["meaning"].text()));
  print_cause(context, bottleneck["bottleneck_class"].text(), bottleneck["cause"]);
  for (const Json& one : bottleneck["top_evidence"].items())
    context.print(fmt::format("  {:<34} {:>12}   weight {:>4.0f} %{}\n", one["signal"].text(),
                              signal_value(one["signal"].text(), one["value"].as_f64().value_or(0)),
                              100 * one["weight"].as_f64().value_or(0),
                              one["supports"].as_bool().value_or(true) ? "" : " (against)"));
  for (const Json& one : bottleneck["statements"].items()) context.print(fmt::format("  {}\n", one.text()));
  const auto& advice = bottleneck["recommendations"].items();
  if (!advice.empty()) context.print("\nRecommendations, ranked by expected gain\n");
  for (const Json& one : advice) {
    context.print(fmt::format("  {:>6}  {} ({})\n",
                              gain(one["expected_gain_ratio"].as_f64().value_or(one["gain_ratio"].as_f64().value_or(0))),
                              one["title"].text(), one["basis"].text()));
    if (const auto command = one["command"].text(); !command.empty()) context.print(fmt::format("          try: {}\n", command));
    if (const Json& measured = one["measured"]; measured.is_object())
      context.print(fmt::format("          measured here: {} {} ({}, session {})\n", measured["configuration"].text(),
                                core::format_signed_percent(measured["change_ratio"].as_f64().value_or(0)),
                                measured["verdict"].text(), measured["session"].text()));
  }
}

// Executions of one name together, where the first of them stood; others alone.
using Anomalies = std::vector<analytics::anomaly::Anomaly>;
std::vector<Anomalies> groups_of(const Anomalies& all) {
  std::vector<Anomalies> groups;
  std::map<std::string, std::size_t> place;
  for (const auto& one : all) {
    if (one.kind == analytics::anomaly::Kind::execution) {
      const auto [at, fresh] = place.try_emplace(one.subject, groups.size());
      if (!fresh) {
        groups[at->second].push_back(one);
        continue;
      }
    }
    groups.push_back({one});
  }
  return groups;
}

std::string sentence_of(const Anomalies& group) {
  const auto& first = group.front();
  if (first.kind != analytics::anomaly::Kind::execution) return first.text;
  const std::string name = report::names_for({first.subject}, kLongestName).front();
  if (group.size() == 1) {
    std::string text = first.text;
    const auto place = text.find(first.subject);
    return place == std::string::npos ? text : text.replace(place, first.subject.size(), name);
  }
  const auto [least, most] =
      std::minmax_element(group.begin(), group.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  const std::string took = core::format_duration(least->value);
  return fmt::format("{}: {} executions took {} to {} instead of {}", name, group.size(), took,
                     core::format_duration(most->value), core::format_duration(first.expected));
}

// The summary of a load may say the cause of a level ("concurrency 4: the server paused ...") itself.
bool told_by(std::string_view summary, std::string_view cause) {
  const auto begin = cause.find(": ");
  return summary.find(begin == std::string_view::npos ? cause : cause.substr(begin + 2)) != std::string_view::npos;
}

void print_load(const Context& context, const workflows::Explanation& explanation) {
  context.print("Load: " + explanation.load + ".\n");
  for (const std::string& cause : explanation.causes)
    if (!told_by(explanation.load, cause)) context.print("  " + cause + "\n");
  if (explanation.causes.empty())
    context.print(explanation.slow_tokens.empty()
                      ? "  nothing that was recorded beside the load stands out\n"
                      : "  nothing stands out for the load as a whole; what single tokens waited for follows\n");
  if (!explanation.observed.empty()) context.print("Joined with " + explanation.observed + "\n");
  if (!explanation.slow_tokens.empty()) context.print("Slow tokens\n");
  for (const std::string& level : explanation.slow_tokens) context.print("  " + level + "\n");
  if (!explanation.remedies.empty()) context.print("What to do\n");
  for (const std::string& remedy : explanation.remedies) context.print("  " + remedy + "\n");
}

void print_explanation(const Context& context, const workflows::Explanation& explanation) {
  if (explanation.load.empty())
    print_bottleneck(context, explanation.bottleneck);
  else
    print_load(context, explanation);
  context.print(fmt::format("\nAnomalies: {}\n",
                            explanation.anomalies.empty() ? "none found" : std::to_string(explanation.anomalies.size())));
  std::size_t shown = 0;
  for (const Anomalies& group : groups_of(explanation.anomalies))
    if (shown++ < kShown) context.print(fmt::format("  {:<12} {}\n", to_string(group.front().kind), sentence_of(group)));
  if (shown > kShown) context.print(fmt::format("  and {} more (--json lists all)\n", shown - kShown));
  context.print(explanation.compared_with == 0
                    ? "No earlier session has this fingerprint: nothing to compare with.\n"
                    : fmt::format("Compared with {} earlier session{} with the same fingerprint.\n", explanation.compared_with,
                                  explanation.compared_with == 1 ? "" : "s"));
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("explain", "Explain a session's performance: bottleneck, recommendations, anomalies");
  auto session = std::make_shared<std::string>("latest");
  auto observe = std::make_shared<std::string>();
  auto on = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  verb->add_option("session", *session, "Session: id, path, latest or tag:NAME")->capture_default_str();
  verb->add_option("--observe", *observe,
                   "With a session of 'aaco llm': recording of the server's machine during the load, to find what slow tokens "
                   "waited for")
      ->type_name("SESSION");
  add_on_fleet(*verb, *on);
  verb->add_flag("--json", *json, "Print JSON");
  verb->footer(
      "Uses the rules and models of this version; metrics/bottleneck.json in the session is not changed.\n"
      "To see why two sessions differ, use 'aaco diff A B'.");
  verb->callback([&context, session, observe, on, json] {
    workflows::FleetChoice choice{.names = {*session}, .history = true};
    if (!observe->empty()) choice.names.push_back(*observe);
    const auto services = services_on(*on, choice, context);
    if (!services) return context.fail(services.error());
    const auto explanation = workflows::explain(*session, *services, *observe);
    if (!explanation) return context.fail(explanation.error());
    if (*json) return context.print_json(to_json(*explanation));
    print_explanation(context, *explanation);
  });
}

}  // namespace aaco::cli

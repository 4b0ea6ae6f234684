#include "workflows/session_report/report_insight.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "analytics/advice.h"
#include "analytics/bottleneck.h"
#include "analytics/signals.h"
#include "core/files.h"
#include "core/numbers.h"
#include "trace/metric.h"
#include "workflows/explain.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr double kSecondClass = 0.15;  // probability or share from which the next class is named too

// Shares of a GPU's span, which are no signals of the rules.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kGpuShares = {
    {{"gpu.compute_kernels_ratio", "share of the span in kernels limited by the peak rate"},
     {"gpu.memory_kernels_ratio", "share of the span in kernels limited by memory bandwidth"},
     {"gpu.unknown_kernels_ratio", "share of the span in kernels whose limit is unknown"},
     {"gpu.communication_ratio", "share of the span in exposed collectives"},
     {"gpu.copy_ratio", "share of the span in exposed copies"},
     {"gpu.launch_ratio", "share of the span during which the device was idle due to late launches"},
     {"gpu.waiting_ratio", "share of the span during which the device was idle for other reasons"},
     {"gpu.held_ratio", "share of the span during which launched work was held back on the device"},
     {"gpu.warmup_ratio", "share of the span during which the device was idle while code was loaded or compiled"}}};

// A class in words; documents of older versions have its id only.
std::string_view title_of(const Json& ranked) { return ranked[ranked.contains("title") ? "title" : "class"].text(); }

// "caller.wait_ratio 34 %: share of the call in which its thread waited for a CPU (+2.5)"
// `of_steps`: its shares are of the steps, not of the device's span.
std::string sentence(const Json& evidence, bool of_steps) {
  const std::string_view id = evidence["signal"].text();
  const double value = evidence["value"].as_f64().value_or(0);
  std::string_view unit, meaning;
  for (const auto& one : analytics::signals::definitions())
    if (one.id == id) unit = one.unit, meaning = one.meaning;
  for (const auto& [known, words] : kGpuShares)
    if (known == id) meaning = words;
  const bool ratio = id.ends_with("_ratio");
  std::string text = ratio          ? fmt::format("{} {}", id, core::format_percent(value))
                     : unit == "ns" ? fmt::format("{} {}", id, core::format_duration(value))
                                    : fmt::format("{} {:.3g} {}", id, value, unit);
  constexpr std::string_view kOfSpan = "share of the span";
  if (meaning.empty()) return text;
  if (of_steps && meaning.starts_with(kOfSpan))
    return text + ": share of the steps" + std::string(meaning.substr(kOfSpan.size()));
  return text + fmt::format(": {}", meaning);
}

// Sessions of older versions state the largest gain only.
void fill_gain(const Json& recommendation, report::Statement& advice) {
  const auto most = recommendation["gain_ratio"].as_f64();
  if (!most || *most <= 0) return;
  const double least =
      recommendation["gain_interval"].items().empty() ? 0 : recommendation["gain_interval"].items().front().as_f64().value_or(0);
  advice.gain_ratio = recommendation["expected_gain_ratio"].as_f64().value_or(
      analytics::advice::expected_gain(least, *most, recommendation["confidence"].as_f64().value_or(1)));
  advice.gain_interval = trace::Interval{least, *most};
}

// Whole words only.
void replace_word(std::string& text, std::string_view word, std::string_view name) {
  const auto in_word = [&text](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    const bool whole = !(at > 0 && in_word(at - 1)) && !in_word(at + word.size());
    if (whole) text.replace(at, word.size(), name);
    at += whole ? name.size() : word.size();
  }
}

// A command to paste: with this session's id, and its model where the name needs no quotes.
std::string with_names(std::string command, const report::ReportModel& model) {
  const std::string& name = model.session.outcome.model;
  const auto plain = [](char one) {
    return std::isalnum(static_cast<unsigned char>(one)) != 0 || std::string_view("._-/").find(one) != std::string_view::npos;
  };
  if (model.session.kind == "run" && !name.empty() && name.front() != '-' && std::ranges::all_of(name, plain))
    replace_word(command, "MODEL", name);
  replace_word(command, "SESSION", model.session.id.text);
  return command;
}

}  // namespace

std::string_view cause_label(std::string_view class_id, const Json& cause) {
  if (class_id == analytics::bottleneck::kDeviceBusy && cause.contains("idle_ns")) return "Largest avoidable part";
  return cause["id"].text() == "unknown" ? "Cause unknown" : "Cause";
}

std::string_view share_of(const Json& cause) { return cause["share_of"].text() == "steps" ? "the steps" : "the trace"; }

core::Status fill_insight(report::ReportModel& model, const std::string& session_path) {
  const std::string path = core::join_path(session_path, "metrics/bottleneck.json");
  if (!core::exists(path)) return {};
  AACO_ASSIGN(const Json document, core::read_json_file(path));
  report::Statement why;
  why.id = document["bottleneck_class"].text();
  const bool decided = why.id != analytics::bottleneck::kInconclusive;
  why.title = decided ? "Limited by " + std::string(document["title"].text()) : "Bottleneck not determined";
  why.text = document["meaning"].text();
  if (decided) why.confidence_ratio = document["confidence"].as_f64();
  if (const Json& cause = document["cause"]; const auto share = cause["span_share_ratio"].as_f64()) {
    const std::string named = fmt::format("{} ({} of {})", cause["title"].text(), core::format_percent(*share), share_of(cause));
    why.text += fmt::format(" {}: {}.", cause_label(why.id, cause), named);
    if (decided && cause["id"].text() != "unknown")
      model.why_cause = cause_label(why.id, cause) == "Cause" ? ": " + named : "; largest avoidable part: " + named;
  }
  const bool of_steps = document["cause"]["share_of"].text() == "steps";
  for (const Json& one : document["top_evidence"].items()) why.evidence.push_back(sentence(one, of_steps));
  const auto& ranking = document["ranking"].items();
  const bool guess = !ranking.empty() && ranking[0]["class"].text() != analytics::bottleneck::kUnknownKernels;
  if (!decided && guess) why.text += fmt::format(" Most likely: {}.", title_of(ranking[0]));
  if (decided && ranking.size() > 1) {
    const Json& second = ranking[1];
    const bool shares = second.contains("share_ratio");
    const double weight = second[shares ? "share_ratio" : "probability_ratio"].as_f64().value_or(0);
    if (weight >= kSecondClass)
      why.text += shares ? fmt::format(" Next: {} ({} of the time).", title_of(second), core::format_percent(weight))
                         : fmt::format(" It may also be {} ({}).", title_of(second), core::format_percent(weight));
  }
  if (!why.id.empty()) model.why.push_back(std::move(why));
  for (const Json& one : document["recommendations"].items()) {
    report::Statement advice;
    advice.id = one["id"].text();
    advice.title = one["title"].text();
    advice.text = one["text"].text();
    fill_gain(one, advice);
    if (const auto whole = one["gain_of"].text(); advice.gain_ratio && whole != "the latency") advice.gain_of = whole;
    advice.confidence_ratio = one["confidence"].as_f64();
    advice.evidence.emplace_back(one["basis"].text());
    if (const auto command = one["command"].text(); !command.empty())
      advice.evidence.push_back("try: " + with_names(std::string(command), model));
    model.advice.push_back(std::move(advice));
  }
  return {};
}

}  // namespace aaco::workflows

#include "governance/gate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/markup.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "governance/amount.h"

namespace aaco::governance {
namespace {

using core::Json;

// Text in a table of Markdown: no cell is ended and no tag or mention begun.
std::string cell(std::string text) {
  for (const auto& [from, to] :
       {std::pair("&", "&amp;"), {"<", "&lt;"}, {">", "&gt;"}, {"|", "\\|"}, {"\n", " "}, {"@", "&#64;"}})
    text = core::replace_all(std::move(text), from, to);
  return text;
}

// XML has no control characters; their place is a blank.
std::string xml(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return core::escape_markup(text);
}

std::string headline(const GateReport& report) {
  std::string text = report.verdict == "regression"       ? "Regression"
                     : report.verdict == "improvement"    ? "Improvement"
                     : report.verdict == "equivalent"     ? "No change beyond the budget"
                     : report.verdict == "not-comparable" ? "Not comparable"
                                                          : "Undecided";
  if (report.severity != "none") text += ", " + report.severity;
  return text;
}

std::string interval_text(const GateRow& row) {
  if (!row.interval) return "";
  return core::format_signed_percent(row.interval->low) + " to " + core::format_signed_percent(row.interval->high);
}

// Bounds of the candidate's value: those of the change, from the baseline's value on.
std::optional<stats::Interval> value_bounds(const GateRow& row) {
  if (!row.interval || !row.baseline) return std::nullopt;
  return stats::Interval{*row.baseline * (1 + row.interval->low), *row.baseline * (1 + row.interval->high)};
}

// What rounds to certainty and is not certain is not called so.
std::string certainty(double confidence) {
  return confidence >= 0.995 && confidence < 1 ? "> 99 %" : core::format_percent(confidence);
}

}  // namespace

std::string gate_markdown(const GateReport& report) {
  std::string text = fmt::format("### {}: {}\n\n", cell(headline(report)), cell(report.name));
  if (!report.rows.empty()) {
    text +=
        "| metric | baseline | now | change | interval | budget | detectable | verdict "
        "|\n|---|---:|---:|---:|---|---:|---:|---|\n";
    for (const GateRow& row : report.rows)
      text +=
          fmt::format("| {}{} | {} | {} | {} | {} | {} | {} | {} |\n", cell(row.metric), row.decides ? " (decides)" : "",
                      row.baseline ? amount(*row.baseline, row.unit) : "", row.candidate ? amount(*row.candidate, row.unit) : "",
                      row.delta_ratio ? core::format_signed_percent(*row.delta_ratio) : "", interval_text(row),
                      core::format_percent(row.budget_ratio), row.detectable ? to_text(*row.detectable) : "", row.verdict);
    text += "\n";
  }
  if (!report.suspected_cause.empty()) text += "**Suspected cause:** " + cell(report.suspected_cause) + "\n\n";
  if (!report.recommendation.empty()) text += "**Next:** " + cell(report.recommendation) + "\n\n";
  for (const auto& difference : report.differences) text += "- differs: " + cell(difference) + "\n";
  for (const GateRow& row : report.rows)
    if (!row.delta_ratio && !row.explanation.empty()) text += "- " + cell(row.metric + ": " + row.explanation) + "\n";
  for (const auto& note : report.notes) text += "- " + cell(note) + "\n";
  text += fmt::format("\n<sub>confidence {}; {} baseline and {} new sessions: {}</sub>\n", certainty(report.confidence),
                      report.baseline_sessions.size(), report.candidate_sessions.size(),
                      cell(core::join(report.candidate_sessions, ", ")));
  return text;
}

std::string gate_junit(const GateReport& report) {
  int failures = 0, errors = 0, skipped = 0;
  std::string cases;
  for (const GateRow& row : report.rows) {
    cases += fmt::format("    <testcase classname=\"aaco.gate.{}\" name=\"{}\">", xml(report.name), xml(row.metric));
    if (row.verdict == "regression") {
      ++failures;
      cases += fmt::format("<failure type=\"regression\" message=\"{}\"/>", xml(row.explanation));
    } else if (row.verdict == "inconclusive" && row.decides) {
      ++errors;
      cases += fmt::format("<error type=\"inconclusive\" message=\"{}\"/>", xml(row.explanation));
    } else if (row.verdict == "inconclusive") {
      ++skipped;
      cases += fmt::format("<skipped message=\"{}\"/>", xml(row.explanation));
    }
    cases += "</testcase>\n";
  }
  if (report.rows.empty()) {
    ++errors;
    cases += fmt::format(
        "    <testcase classname=\"aaco.gate.{}\" name=\"comparable\"><error type=\"{}\" message=\"{}\"/></testcase>\n",
        xml(report.name), xml(report.verdict), xml(report.recommendation));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"aaco gate {}\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
      xml(report.name), std::max<std::size_t>(1, report.rows.size()), failures, errors, skipped, cases);
}

Json gate_bencher(const GateReport& report) {
  Json measures = Json::object();
  for (const GateRow& row : report.rows) {
    if (!row.candidate) continue;
    Json one = Json::object({{"value", *row.candidate}});
    if (const auto bounds = value_bounds(row)) one.set("lower_value", bounds->low).set("upper_value", bounds->high);
    measures.set(row.metric, std::move(one));
  }
  Json out = Json::object();
  out.set(report.name, std::move(measures));
  return out;
}

Json gate_github_benchmark(const GateReport& report, bool lower_is_better) {
  Json out = Json::array();
  for (const GateRow& row : report.rows) {
    if (!row.candidate || row.lower_is_better != lower_is_better) continue;
    Json one = Json::object({{"name", report.name + " " + row.metric}, {"unit", row.unit}, {"value", *row.candidate}});
    if (const auto bounds = value_bounds(row)) one.set("range", fmt::format("± {:.4g}", (bounds->high - bounds->low) / 2));
    out.push(one.set("extra", row.explanation.starts_with(row.verdict) ? row.explanation : row.verdict + ": " + row.explanation));
  }
  return out;
}

}  // namespace aaco::governance

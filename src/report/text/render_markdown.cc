#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/numbers.h"
#include "core/strings.h"
#include "report/quantity.h"
#include "report/render.h"
#include "report/terminal.h"
#include "report/text/markdown.h"
#include "report/time_shares.h"

namespace aaco::report {
namespace {

constexpr std::size_t kRows = 10;
constexpr int kLongestName = 120;

// A name as code, with a fence longer than any run of backticks inside; '|' would end the table cell even there.
std::string code(std::string_view text) {
  std::string name = core::replace_all(fit(printable(text), kLongestName), "|", "\u00A6");
  if (core::trim(name).empty()) return "(no name)";
  std::size_t longest = 0, run = 0;
  for (const char c : name) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(longest + 1, '`');
  const std::string pad = longest > 0 ? " " : "";
  return fence + pad + name + pad + fence;
}

std::string quantity(double value, std::string_view unit) { return markdown_text(typographic(format_quantity(value, unit))); }
std::string interval(const trace::Interval& ends, std::string_view unit) {
  return markdown_text(typographic(format_interval(ends, unit)));
}

struct Page {
  std::string out;
  void heading(std::string_view title) {
    while (out.ends_with("\n\n")) out.pop_back();
    out.append("\n### ").append(title).append("\n\n");
  }
  void row(const std::vector<std::string>& cells) { out.append("| ").append(core::join(cells, " | ")).append(" |\n"); }
  void paragraph(std::string_view text) { out.append(text).append("\n\n"); }
  void item(std::string_view mark, std::string_view text) { out.append(mark).append(text).append("\n"); }
};

void head(Page& page, const ReportModel& model) {
  page.out += "## " + markdown_text(report_title(model)) + "\n\n";
  if (!model.verdict.empty()) page.paragraph("**" + markdown_text(model.verdict) + "**");
  if (!model.verdict_confidence.empty()) page.paragraph("Confidence " + markdown_text(model.verdict_confidence));
  bool first = true;
  const auto device = model.headline_of ? std::optional(model.headline_of->device) : std::nullopt;
  for (const std::string& id : model.headline_metrics)
    if (const auto* metric = trace::find_metric(model.metrics, id, device)) {
      if (first)
        page.out += "|" + (model.headline_of ? " " + markdown_text(model.headline_of->name) : std::string()) +
                    " | value | 95 % interval |\n|---|---:|---:|\n";
      first = false;
      page.row({markdown_text(metric_title(model, id)),
                "**" + quantity(metric->value, unit_of_metric(metric->id, metric->unit)) + "**",
                metric->ci95 ? interval(*metric->ci95, unit_of_metric(metric->id, metric->unit)) : "not known"});
    }
  const bool ended_early = !model.session.state.empty() && model.session.state != "complete";
  if (model.session.warnings.empty() && !ended_early) return;
  page.heading("Missing or distorted");
  if (ended_early)
    page.item("- ", "The session is " + markdown_text(model.session.state) + ": it ended early, and what came after is missing.");
  for (const trace::Warning& warning : model.session.warnings)
    page.item("- ", markdown_text(warning.message) + (warning.remedy.empty() ? "" : " *" + markdown_text(warning.remedy) + "*"));
}

void shares(Page& page, std::string_view what, const std::vector<TimeShare>& list) {
  if (list.empty()) return;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kRows, list.size()); ++i) names.push_back(list[i].name);
  names = names_for(names, kLongestName);
  page.out += "| " + std::string(what) + " | share | time | runs |\n|---|---:|---:|---:|\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    page.row({code(names[i]), quantity(list[i].share_ratio, "ratio"), quantity(list[i].total_ns, "ns"),
              list[i].count > 0 ? core::format_count(static_cast<double>(list[i].count)) : ""});
  if (list.size() > kRows)
    page.out += "\n" + core::format_count(static_cast<double>(list.size() - kRows)) + " more in the report.\n";
  page.out += "\n";
}

void statements(Page& page, std::string_view title, const std::vector<Statement>& list) {
  if (list.empty()) return;
  page.heading(title);
  int number = 0;
  for (const Statement& one : list) {
    std::string facts;
    if (one.gain_ratio) facts += ", expected gain " + format_estimate(*one.gain_ratio);
    if (one.confidence_ratio) facts += ", confidence " + format_estimate(*one.confidence_ratio);
    page.item(std::to_string(++number) + ". ",
              "**" + markdown_text(one.title) + "**" + facts + (one.text.empty() ? "" : ". " + markdown_text(one.text)));
    for (const std::string& evidence : one.evidence) page.item("   - ", markdown_text(evidence));
  }
}

void roofs(Page& page, const std::vector<Roof>& list) {
  if (list.empty()) return;
  page.out += "| roof | at most | source |\n|---|---:|---|\n";
  for (const Roof& roof : list)
    page.row({markdown_text(roof.name), quantity(roof.per_second, roof.kind == Roof::Kind::compute ? "flop/s" : "bytes/s"),
              markdown_text(roof.source)});
  page.out += "\n";
}

void scaling(Page& page, const ReportModel& model) {
  const auto& points = model.extra["scaling"]["points"].items();
  if (points.empty()) return;
  page.heading("How it scales");
  page.out += "| point | throughput | over the first | median |\n|---|---:|---:|---:|\n";
  const auto cell = [](const core::Json& value, std::string_view unit) {
    return value.as_f64() ? quantity(*value.as_f64(), unit) : std::string("not measured");
  };
  for (const core::Json& point : points)
    page.row({code(point["label"].text()), cell(point["items_per_second"], "items/s"),
              point["relative_ratio"].as_f64()
                  ? markdown_text(fmt::format("{:.2f}", *point["relative_ratio"].as_f64())) + " \u00D7"
                  : "",
              point.contains("error") ? markdown_text(point["error"].text()) : cell(point["median_ns"], "ns")});
}

void sources(Page& page, const ReportModel& model) {
  if (model.session.accounts.empty()) return;
  page.heading("Sources");
  page.out += "| source | state | read | kept | dropped |\n|---|---|---:|---:|---:|\n";
  for (const trace::Account& account : model.session.accounts)
    page.row({code(account.source),
              std::string(trace::to_string(account.state)) + (account.reason.empty() ? "" : ": " + markdown_text(account.reason)),
              core::format_count(static_cast<double>(account.read)), core::format_count(static_cast<double>(account.kept)),
              core::format_count(static_cast<double>(account.dropped_total()))});
}

void metrics(Page& page, const ReportModel& model) {
  if (model.metrics.empty()) return;
  page.out += "\n\n<details><summary>All metrics</summary>\n\n| metric | value | 95 % interval |\n|---|---:|---:|\n";
  for (const trace::MetricValue& metric : model.metrics)
    page.row({code(metric.device ? metric.id + " [" + std::to_string(*metric.device) + "]" : metric.id),
              quantity(metric.value, unit_of_metric(metric.id, metric.unit)),
              metric.ci95 ? interval(*metric.ci95, unit_of_metric(metric.id, metric.unit)) : ""});
  page.out += "\n</details>\n";
}

}  // namespace

std::string render_markdown(const ReportModel& model) {
  Page page;
  head(page, model);
  scaling(page, model);
  if (!model.parts.empty() || !model.operators.empty() || !model.kernels.empty() || !model.nodes.empty())
    page.heading("Where the time went");
  shares(page, "part", model.parts);
  shares(page, "operator type", merged_by_name(model.operators));
  shares(page, "node", merged_by_name(model.nodes));
  shares(page, "kernel", merged_by_name(model.kernels));
  statements(page, "Why", model.why);
  statements(page, "What to do", model.advice);
  if (model.roofline) {
    page.heading("How far from the hardware");
    page.paragraph(markdown_text(model.roofline->text));
    roofs(page, model.roofline->roofs);
  }
  sources(page, model);
  metrics(page, model);
  page.out += "\nSession " + code(model.session.id.text) +
              (model.session.command.empty() ? "" : ", made by " + code(core::join(model.session.command, " "))) + "\n";
  return std::move(page.out);
}

}  // namespace aaco::report

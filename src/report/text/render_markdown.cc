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
#include "report/text/markdown_page.h"
#include "report/time_shares.h"

namespace aaco::report {
namespace {

constexpr std::size_t kRows = 10;

void head(MarkdownPage& page, const ReportModel& model) {
  page.out += "## " + markdown_text(report_title(model)) + "\n\n";
  if (!model.verdict.empty()) page.paragraph("**" + markdown_text(model.verdict) + "**");
  if (!model.verdict_confidence.empty()) page.paragraph("Confidence " + markdown_text(model.verdict_confidence));
  bool first = true;
  const auto device = model.headline_of ? std::optional(model.headline_of->device) : std::nullopt;
  for (const std::string& id : model.headline_metrics)
    if (const auto* metric = trace::find_metric(model.metrics, id, device)) {
      if (first)
        page.out += "|" + (model.headline_of ? " " + markdown_text(model.headline_of->name) : std::string()) +
                    " | value | 95 % CI |\n|---|---:|---:|\n";
      first = false;
      page.row({markdown_text(metric_title(model, id)),
                "**" + markdown_quantity(metric->value, unit_of_metric(metric->id, metric->unit)) + "**" +
                    typographic(half_width_text(*metric)),
                metric->ci95 ? markdown_interval(*metric->ci95, unit_of_metric(metric->id, metric->unit)) : "no CI"});
    }
  const bool ended_early = !model.session.state.empty() && model.session.state != "complete";
  if (model.session.warnings.empty() && !ended_early) return;
  page.heading("Warnings");
  if (ended_early) page.item("- ", "The session is " + markdown_text(model.session.state) + ": stopped early; partial results.");
  for (const trace::Warning& warning : model.session.warnings)
    page.item("- ", markdown_text(warning.message) + (warning.remedy.empty() ? "" : " *" + markdown_text(warning.remedy) + "*"));
}

void shares(MarkdownPage& page, std::string_view what, const std::vector<TimeShare>& list) {
  if (list.empty()) return;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kRows, list.size()); ++i) names.push_back(list[i].name);
  names = names_for(names, kLongestCode);
  page.out += "| " + std::string(what) + " | share | time | runs |\n|---|---:|---:|---:|\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    page.row({markdown_code(names[i]), markdown_quantity(list[i].share_ratio, "ratio"), markdown_quantity(list[i].total_ns, "ns"),
              list[i].count > 0 ? core::format_count(static_cast<double>(list[i].count)) : ""});
  if (list.size() > kRows)
    page.out += "\n" + core::format_count(static_cast<double>(list.size() - kRows)) + " more in the full report.\n";
  page.out += "\n";
}

void statements(MarkdownPage& page, std::string_view title, const std::vector<Statement>& list) {
  if (list.empty()) return;
  page.heading(title);
  int number = 0;
  for (const Statement& one : list) {
    std::string facts;
    if (one.gain_ratio) facts += ", expected gain " + gain_text(*one.gain_ratio, one.gain_of, one.gain_interval);
    if (one.confidence_ratio) facts += ", confidence " + format_estimate(*one.confidence_ratio);
    page.item(std::to_string(++number) + ". ",
              "**" + markdown_text(one.title) + "**" + facts + (one.text.empty() ? "" : ". " + markdown_text(one.text)));
    for (const std::string& evidence : one.evidence) page.item("   - ", markdown_text(evidence));
  }
}

void roofs(MarkdownPage& page, const std::vector<Roof>& list) {
  if (list.empty()) return;
  page.out += "| roof | limit | source |\n|---|---:|---|\n";
  for (const Roof& roof : list)
    page.row({markdown_text(roof.name),
              markdown_quantity(roof.per_second, roof.kind == Roof::Kind::compute ? "flop/s" : "bytes/s"),
              markdown_text(roof.source)});
  page.out += "\n";
}

void sources(MarkdownPage& page, const ReportModel& model) {
  if (model.session.accounts.empty()) return;
  page.heading("Sources");
  page.out += "| source | state | read | kept | dropped |\n|---|---|---:|---:|---:|\n";
  for (const trace::Account& account : model.session.accounts)
    page.row({markdown_code(account.source),
              std::string(trace::to_string(account.state)) + (account.reason.empty() ? "" : ": " + markdown_text(account.reason)),
              core::format_count(static_cast<double>(account.read)), core::format_count(static_cast<double>(account.kept)),
              core::format_count(static_cast<double>(account.dropped_total()))});
}

void metrics(MarkdownPage& page, const ReportModel& model) {
  if (model.metrics.empty()) return;
  page.out += "\n\n<details><summary>All metrics</summary>\n\n| metric | value | 95 % CI |\n|---|---:|---:|\n";
  for (const trace::MetricValue& metric : model.metrics)
    page.row({markdown_code(metric.device ? metric.id + " [" + std::to_string(*metric.device) + "]" : metric.id),
              markdown_quantity(metric.value, unit_of_metric(metric.id, metric.unit)),
              metric.ci95 ? markdown_interval(*metric.ci95, unit_of_metric(metric.id, metric.unit)) : ""});
  page.out += "\n</details>\n";
}

}  // namespace

std::string render_markdown(const ReportModel& model) {
  MarkdownPage page;
  head(page, model);
  for_each_section(model.sections, [&](const auto&, const auto& section) {
    if constexpr (requires { write_markdown(page, section); }) write_markdown(page, section);
  });
  if (!model.parts.empty() || !model.operators.empty() || !model.kernels.empty() || !model.nodes.empty())
    page.heading("Where the time went");
  shares(page, "part", model.parts);
  shares(page, "operator type", merged_by_name(model.operators));
  shares(page, "node", merged_by_name(model.nodes));
  shares(page, "kernel", merged_by_name(model.kernels));
  statements(page, "Why", model.why);
  statements(page, "What to do", model.advice);
  if (model.roofline) {
    page.heading("Hardware efficiency");
    page.paragraph(markdown_text(model.roofline->text));
    roofs(page, model.roofline->roofs);
  }
  sources(page, model);
  metrics(page, model);
  page.out += "\nSession " + markdown_code(model.session.id.text) +
              (model.session.command.empty() ? "" : ", created by " + markdown_code(core::join(model.session.command, " "))) +
              "\n";
  return std::move(page.out);
}

}  // namespace aaco::report

#include <algorithm>
#include <string>
#include <vector>

#include "report/quantity.h"
#include "report/text/sections.h"

namespace aaco::report {
namespace {

// The numbers side by side where they fit, else one below the other.
void write_headline(TextPage& page, const ReportModel& model) {
  struct Tile {
    std::string title, value, interval;
  };
  const std::string missing = model.session.kind == "import" ? "no CI (one trace)" : "no CI";
  std::vector<Tile> tiles;
  const auto device = model.headline_of ? std::optional(model.headline_of->device) : std::nullopt;
  const auto signs = [&](const std::string& text) { return page.ascii() ? text : typographic(text); };
  const std::string whose = model.headline_of ? "Values for " + page.clean(model.headline_of->name) + ". " : "";
  for (const std::string& id : model.headline_metrics)
    if (const auto* metric = trace::find_metric(model.metrics, id, device))
      tiles.push_back({page.clean(metric_title(model, id)), page.value(*metric) + signs(half_width_text(*metric)),
                       metric->ci95 ? page.interval(*metric) : missing});
  if (tiles.empty()) return;
  page.line();
  const int room = (page.width() - 2) / static_cast<int>(tiles.size());
  const bool fits =
      std::all_of(tiles.begin(), tiles.end(), [&](const Tile& tile) { return display_width(tile.value) <= room - 2; });
  if (room >= 20 && fits) {
    std::string titles = "  ", values = "  ", intervals = "  ";
    for (const Tile& tile : tiles) {
      titles += page.styled(fit_left(tile.title, room - 2, page.ascii()), Style::dim) + "  ";
      values += page.styled(fit_left(tile.value, room - 2, page.ascii()), Style::bold) + "  ";
      intervals += page.styled(fit_left(tile.interval, room - 2, page.ascii()), Style::dim) + "  ";
    }
    page.line(titles);
    page.line(values);
    page.line(intervals);
    const bool any = std::any_of(tiles.begin(), tiles.end(), [&](const Tile& tile) { return tile.interval != missing; });
    const std::string note = "Below each number: its 95 % CI; " + signs("+/-") + " is half its width, relative to the value.";
    page.paragraph(whose + (any ? note : ""), 2, Style::dim);
    return;
  }
  if (!whose.empty()) page.line("  " + page.styled(fit(whose, page.width() - 2, page.ascii()), Style::dim));
  for (const Tile& tile : tiles) {
    page.line("  " + page.styled(fit(tile.title, page.width() - 2, page.ascii()), Style::dim));
    page.line("  " + page.styled(fit(tile.value, page.width() - 2, page.ascii()), Style::bold));
    page.line("  " + page.styled(fit("95 %: " + tile.interval, page.width() - 2, page.ascii()), Style::dim));
  }
}

void write_warnings(TextPage& page, const ReportModel& model) {
  const auto& warnings = model.session.warnings;
  if (model.session.state != "complete" && !model.session.state.empty()) {
    page.line();
    page.paragraph("The session is " + model.session.state + ": stopped early; partial results.", 4, Style::warning, "  ! ");
  }
  if (warnings.empty()) return;
  page.line();
  page.line(page.styled("  Warnings (" + std::to_string(warnings.size()) + ")", Style::warning));
  for (const trace::Warning& warning : warnings) {
    page.paragraph(warning.message, 4, Style::plain, "  ! ");
    if (!warning.remedy.empty()) page.paragraph(warning.remedy, 6, Style::dim, page.ascii() ? "    > " : "    \u2192 ");
  }
}

}  // namespace

void write_head(TextPage& page, const ReportModel& model) {
  page.line();
  const std::string title = fit(page.clean(report_title(model)), page.width(), page.ascii());
  const std::string id = page.clean(model.session.id.text);
  const int room = page.width() - display_width(title) - display_width(id);
  if (room >= 2)
    page.line(page.styled(title, Style::bold) + std::string(static_cast<std::size_t>(room), ' ') + page.styled(id, Style::dim));
  else
    page.line(page.styled(title, Style::bold));
  page.rule();
  if (!model.verdict.empty()) page.paragraph(model.verdict, 2, Style::bold);
  if (!model.verdict_confidence.empty()) page.paragraph("Confidence " + model.verdict_confidence, 2, Style::dim);
  write_headline(page, model);
  write_warnings(page, model);
}

}  // namespace aaco::report

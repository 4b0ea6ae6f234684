#include <fmt/format.h>

#include <algorithm>

#include "core/numbers.h"
#include "report/text/markdown.h"
#include "report/text/markdown_page.h"
#include "report/text/sections.h"

namespace aaco::report {
namespace {

constexpr std::size_t kMaxShownTrials = 20;

std::string change_cell(const Search::Trial& trial) {
  if (trial.outcome == "baseline") return "";
  return trial.change_ratio ? core::format_signed_percent(*trial.change_ratio) : trial.outcome;
}

std::string out_of(const Search& section) {
  return fmt::format("{} of {} configurations tried, {} failed, {} out of tolerance", section.tried, section.configurations,
                     section.failed, section.out_of_tolerance);
}

std::string memory_cell(const Search::Trial& trial) {
  return trial.rss_peak_bytes ? core::format_bytes(static_cast<double>(*trial.rss_peak_bytes)) : "-";
}

}  // namespace

// Label, change in the search, median, memory; the reason below what is out.
void write_text(TextPage& page, const Search& section, const ReportModel&) {
  if (section.trials.empty()) return;
  page.heading("Search", page.width() >= 60 ? "change in the search, median latency, peak memory; * Pareto-optimal" : "");
  const int name_room = std::max(8, page.width() - 2 - 11 - 11 - 11 - 2);
  for (std::size_t i = 0; i < std::min(section.trials.size(), kMaxShownTrials); ++i) {
    const Search::Trial& trial = section.trials[i];
    page.line("  " + fit_left(page.clean(trial.label), name_room, page.ascii()) +
              fit_right(change_cell(trial), 11, page.ascii()) +
              fit_right(trial.median_ns ? page.quantity(*trial.median_ns, "ns") : "-", 11, page.ascii()) +
              fit_right(memory_cell(trial), 11, page.ascii()) + (trial.pareto ? " *" : ""));
    if (!trial.reason.empty()) page.paragraph(page.clean(trial.reason), 4, Style::dim);
  }
  if (section.trials.size() > kMaxShownTrials)
    page.line(page.styled(fmt::format("  {} more on the page and in trials.parquet", section.trials.size() - kMaxShownTrials),
                          Style::dim));
  for (const Search::Part& part : section.parts)
    page.line(fmt::format("  without {}: {} {}", page.clean(part.change), core::format_signed_percent(part.without_ratio),
                          section.objective == "memory"   ? "peak memory"
                          : section.objective == "energy" ? "energy per item"
                                                          : "time per item"));
  page.paragraph(out_of(section) + "; " + page.clean(section.inputs), 2, Style::dim);
}

void write_markdown(MarkdownPage& page, const Search& section) {
  if (section.trials.empty()) return;
  page.heading("Search");
  page.out += "| configuration | change | median latency | peak memory |\n|---|---:|---:|---:|\n";
  for (std::size_t i = 0; i < std::min(section.trials.size(), kMaxShownTrials); ++i) {
    const Search::Trial& trial = section.trials[i];
    page.row({markdown_code(trial.label), markdown_text(change_cell(trial)),
              trial.median_ns ? markdown_quantity(*trial.median_ns, "ns") : "", markdown_text(memory_cell(trial))});
  }
}

}  // namespace aaco::report

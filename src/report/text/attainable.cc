#include <algorithm>

#include "core/numbers.h"
#include "report/quantity.h"
#include "report/text/sections.h"

namespace aaco::report {
namespace {

constexpr std::size_t kShown = 12;

std::string range_text(std::string_view value, std::string_view lower, std::string_view upper, std::string_view confidence) {
  return std::string(value) + " (" + std::string(lower) + " to " + std::string(upper) + ", " + std::string(confidence) + ")";
}

std::string duration_text(const Prediction& predicted) {
  return range_text(core::format_duration(predicted.value), core::format_duration(predicted.lower),
                    core::format_duration(predicted.upper), predicted.confidence);
}

// "model measured 42.1 ms, predicted 40.3 ms (36.2 to 44.9 ms, CALIBRATED)"
void write_whole(TextPage& page, const Attainable::Whole& whole) {
  const bool surprise = whole.surprise.value_or(false);
  page.paragraph((surprise ? "SURPRISE: model: " : "model: ") +
                     (whole.measured_ns ? "measured " + core::format_duration(*whole.measured_ns) + ", " : "") + "predicted " +
                     duration_text(whole.predicted),
                 2, surprise ? Style::warning : Style::plain);
}

// "energy per iteration measured 1.20 J (1.18 to 1.22 J), predicted 1.00 J (0.50 to 2.00 J, THEORETICAL); 9.38 mJ per token (128
// tokens)"
void write_energy(TextPage& page, const Attainable::Energy& energy) {
  const auto joules = [](double value) { return format_quantity(value, "J"); };
  const auto measured = energy.measured_joules;
  const bool surprise = energy.surprise.value_or(false);
  std::string text = surprise ? "SURPRISE: energy per iteration: " : "energy per iteration: ";
  if (measured)
    text += "measured " + joules(*measured) + " (" + joules(energy.measured_lower_joules.value_or(*measured)) + " to " +
            joules(energy.measured_upper_joules.value_or(*measured)) + "), predicted ";
  else
    text += "predicted ";
  text += range_text(joules(energy.predicted.value), joules(energy.predicted.lower), joules(energy.predicted.upper),
                     energy.predicted.confidence);
  if (const auto tokens = static_cast<double>(energy.tokens.value_or(0)); tokens > 0)
    text += "; " + joules(measured.value_or(energy.predicted.value) / tokens) + " per token (" + core::format_count(tokens) +
            " tokens)";
  page.paragraph(text, 2, surprise ? Style::warning : Style::plain);
}

// "; predicted 41.0 us (32.0 us to 52.0 us, CALIBRATED)"
std::string predicted_text(const Attainable::Node& row) {
  if (!row.predicted_ns) return {};
  return "; predicted " +
         duration_text(
             {*row.predicted_ns, row.predicted_lower_ns.value_or(0), row.predicted_upper_ns.value_or(0), {}, row.confidence, {}});
}

}  // namespace

// The widest gaps first: what could be won there.
void write_text(TextPage& page, const Attainable& section, const ReportModel&) {
  std::vector<const Attainable::Node*> rows;
  for (const Attainable::Node& row : section.nodes) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->gap_ns() > b->gap_ns(); });
  if (rows.empty())
    page.heading("Measured vs. predicted", "");
  else
    page.heading(section.title.value_or("Attainable time per node"), page.width() >= 70 ? "measured, attainable, gap" : "");
  if (section.whole) write_whole(page, *section.whole);
  if (section.energy) write_energy(page, *section.energy);
  if (section.note) page.paragraph(*section.note, 2, Style::dim);
  const int column = page.width() < 60 ? 9 : 11, room = std::max(8, page.width() - 2 - 3 * column);
  for (std::size_t i = 0; i < rows.size() && i < kShown; ++i) {
    const Attainable::Node& row = *rows[i];
    std::string times;
    for (const double ns : {row.measured_ns, row.attainable_ns, row.gap_ns()})
      times += fit_right(page.quantity(ns, "ns"), column, page.ascii());
    page.named(row.name, room, times);
    page.paragraph((row.surprise ? "SURPRISE: " : "") + row.reason + predicted_text(row), 4,
                   row.surprise ? Style::warning : Style::dim);
  }
  if (rows.size() > kShown)
    page.line(page.styled("  and " + std::to_string(rows.size() - kShown) + " more (see --json)", Style::dim));
  const auto unmatched = section.unmatched_nodes.value_or(0);
  if (unmatched > 0)
    page.paragraph(std::to_string(unmatched) + (unmatched == 1 ? " node" : " nodes") +
                       " inserted by the runtime (layout changes etc.), not in the model's graph: " +
                       core::format_duration(section.unmatched_ns.value_or(0)) + ".",
                   2, Style::dim);
}

}  // namespace aaco::report

#include <algorithm>

#include "core/numbers.h"
#include "report/quantity.h"
#include "report/text/sections.h"

namespace aaco::report {
namespace {

constexpr std::size_t kShown = 12;

double number(const core::Json& json, std::string_view key) { return json[key].as_f64().value_or(0); }

// "  the model: measured 42.1 ms, predicted 40.3 ms (36.2 to 44.9 ms, CALIBRATED)"
void write_whole(TextPage& page, const core::Json& section) {
  const core::Json& predicted = section["whole"]["predicted"];
  if (!predicted.is_object()) return;
  const auto measured = section["whole"]["measured_ns"].as_f64();
  const bool surprise = section["whole"]["surprise"].as_bool().value_or(false);
  const std::string text =
      (surprise ? "SURPRISE: the whole model " : "the whole model ") +
      (measured ? "took " + core::format_duration(*measured) + ", " : "is ") + "predicted " +
      core::format_duration(number(predicted, "value")) + " (" + core::format_duration(number(predicted, "lower")) + " to " +
      core::format_duration(number(predicted, "upper")) + ", " + std::string(predicted["confidence"].text()) + ")";
  page.paragraph(text, 2, surprise ? Style::warning : Style::plain);
}

// "an iteration took 1.20 J (1.18 - 1.22 J), predicted 1.00 J (0.50 J to 2.00 J, THEORETICAL); of 128 tokens each 9.38 mJ"
void write_energy(TextPage& page, const core::Json& energy) {
  const core::Json& predicted = energy["predicted"];
  if (!predicted.is_object()) return;
  const auto joules = [](double value) { return format_quantity(value, "J"); };
  const auto measured = energy["measured_joules"].as_f64();
  const bool surprise = energy["surprise"].as_bool().value_or(false);
  std::string text = surprise ? "SURPRISE: an iteration " : "an iteration ";
  if (measured)
    text += "took " + joules(*measured) + " (" + joules(number(energy, "measured_lower_joules")) + " to " +
            joules(number(energy, "measured_upper_joules")) + "), predicted ";
  else
    text += "is predicted to take ";
  text += joules(number(predicted, "value")) + " (" + joules(number(predicted, "lower")) + " to " +
          joules(number(predicted, "upper")) + ", " + std::string(predicted["confidence"].text()) + ")";
  if (const double tokens = number(energy, "tokens"); tokens > 0)
    text += "; each of its " + core::format_count(tokens) + " tokens " +
            joules(measured.value_or(number(predicted, "value")) / tokens);
  page.paragraph(text, 2, surprise ? Style::warning : Style::plain);
}

// "; predicted 41.0 us (32.0 us to 52.0 us, CALIBRATED)"
std::string predicted_text(const core::Json& row) {
  if (!row["predicted_ns"].as_f64()) return {};
  return "; predicted " + core::format_duration(number(row, "predicted_ns")) + " (" +
         core::format_duration(number(row, "predicted_lower_ns")) + " to " +
         core::format_duration(number(row, "predicted_upper_ns")) + ", " + std::string(row["confidence"].text()) + ")";
}

}  // namespace

// The widest gaps first: what could be won there.
void write_attainable(TextPage& page, const ReportModel& model) {
  const core::Json& section = model.extra["attainable"];
  if (!section.is_object()) return;
  std::vector<const core::Json*> rows;
  for (const core::Json& row : section["nodes"].items()) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto* a, const auto* b) { return number(*a, "gap_ns") > number(*b, "gap_ns"); });
  if (rows.empty())
    page.heading("Measured and predicted", "");
  else
    page.heading(section.contains("title") ? std::string(section["title"].text()) : "Each node and the hardware",
                 page.width() >= 70 ? "measured, attainable, gap" : "");
  write_whole(page, section);
  write_energy(page, section["energy"]);
  if (section.contains("note")) page.paragraph(std::string(section["note"].text()), 2, Style::dim);
  const int column = page.width() < 60 ? 9 : 11, room = std::max(8, page.width() - 2 - 3 * column);
  for (std::size_t i = 0; i < rows.size() && i < kShown; ++i) {
    const core::Json& row = *rows[i];
    const bool surprise = row["surprise"].as_bool().value_or(false);
    std::string times;
    for (const char* key : {"measured_ns", "attainable_ns", "gap_ns"})
      times += fit_right(page.quantity(number(row, key), "ns"), column, page.ascii());
    page.named(row["name"].text(), room, times);
    page.paragraph((surprise ? "SURPRISE: " : "") + std::string(row["reason"].text()) + predicted_text(row), 4,
                   surprise ? Style::warning : Style::dim);
  }
  if (rows.size() > kShown)
    page.line(page.styled("  and " + std::to_string(rows.size() - kShown) + " more with --json", Style::dim));
  const auto unmatched = section["unmatched_nodes"].as_i64().value_or(0);
  if (unmatched > 0)
    page.paragraph(std::to_string(unmatched) + (unmatched == 1 ? " node" : " nodes") +
                       " that the runtime made (changes of layout and the like) took " +
                       core::format_duration(number(section, "unmatched_ns")) + " and " + (unmatched == 1 ? "has" : "have") +
                       " no counterpart in the graph.",
                   2, Style::dim);
}

}  // namespace aaco::report

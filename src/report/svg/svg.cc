#include "report/svg/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/markup.h"
#include "report/terminal.h"

namespace aaco::report {
namespace {

constexpr double kLetter = 0.6;  // width of a letter over the font's size, on average, on the safe side

constexpr std::array<std::string_view, Svg::kSlots> kColours = {"#2f65ad", "#e3a03a", "#17806c", "#a3478f",
                                                                "#86c0e6", "#c0532f", "#b9ad3f", "#b4b8bf"};
constexpr std::array<bool, Svg::kSlots> kDark = {true, false, true, true, false, true, false, false};
constexpr std::array<std::string_view, Svg::kSlots> kMarks = {
    "", "M-1 1l2-2M0 6l6-6M5 7l2-2", "M1.5 1.5h.01M4.5 4.5h.01", "M0 3h6", "M-1 5l2 2M0 0l6 6M5-1l2 2", "M3 0v6", "M0 3h6M3 0v6",
    ""};

std::string escape(std::string_view text) { return core::escape_markup(printable(text)); }

std::size_t slot_index(int slot) { return static_cast<std::size_t>(std::clamp(slot, 0, Svg::kSlots - 1)); }

}  // namespace

std::string svg_number(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string fit_pixels(std::string_view text, double pixels, double size) {
  return fit(printable(text), std::max(0, static_cast<int>(pixels / (size * kLetter))));
}

Svg::Svg(double width, double height, std::string_view title, std::string_view description) {
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif\" "
      "font-size=\"12\">\n<title>{2}</title>\n<desc>{3}</desc>\n<defs>\n",
      svg_number(width), svg_number(height), escape(title), escape(description));
  for (std::size_t slot = 0; slot < kColours.size(); ++slot) {
    if (kMarks[slot].empty()) continue;
    out_ += fmt::format(
        "<pattern id=\"fill{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect width=\"6\" height=\"6\" "
        "fill=\"{}\"/>"
        "<path d=\"{}\" fill=\"none\" stroke=\"#ffffff\" stroke-opacity=\"0.4\" stroke-width=\"{}\" "
        "stroke-linecap=\"round\"/></pattern>\n",
        slot, kColours[slot], kMarks[slot], slot == 2 ? "1.9" : "1.2");
  }
  out_ +=
      "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"M-1 1l2-2M0 6l6-6M5 7l2-2\" "
      "fill=\"none\" stroke=\"#5a606b\" stroke-opacity=\"0.35\" stroke-width=\"0.9\"/></pattern>\n</defs>\n";
  rect(0, 0, width, height, kPaper);
}

std::string_view Svg::slot_colour(int slot) { return kColours[slot_index(slot)]; }
std::string Svg::slot_fill(int slot) {
  return kMarks[slot_index(slot)].empty() ? std::string(slot_colour(slot)) : fmt::format("url(#fill{})", slot_index(slot));
}
std::string_view Svg::ink_on_slot(int slot) { return kDark[slot_index(slot)] ? "#ffffff" : kInk; }

void Svg::rect(double x, double y, double width, double height, std::string_view fill, std::string_view tip) {
  out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"", svg_number(x), svg_number(y),
                      svg_number(std::max(0.0, width)), svg_number(std::max(0.0, height)), fill);
  out_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escape(tip));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view stroke, double width, std::string_view dashes) {
  path(fmt::format("M{} {}L{} {}", svg_number(x1), svg_number(y1), svg_number(x2), svg_number(y2)), "none", stroke, width,
       dashes);
}

void Svg::path(std::string_view data, std::string_view fill, std::string_view stroke, double width, std::string_view dashes) {
  if (data.empty()) return;
  out_ += fmt::format("<path d=\"{}\" fill=\"{}\"", data, fill);
  if (stroke != "none")
    out_ += fmt::format(" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"", stroke, svg_number(width));
  if (!dashes.empty()) out_ += fmt::format(" stroke-dasharray=\"{}\"", dashes);
  out_ += "/>\n";
}

void Svg::circle(double x, double y, double radius, std::string_view fill, std::string_view tip) {
  out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"", svg_number(x),
                      svg_number(y), svg_number(radius), fill, kPaper);
  out_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></circle>\n", escape(tip));
}

void Svg::text(double x, double y, std::string_view words, const TextStyle& style) {
  out_ += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\"", svg_number(x), svg_number(y), style.fill);
  if (style.size != 12) out_ += fmt::format(" font-size=\"{}\"", svg_number(style.size));
  if (style.anchor != "start") out_ += fmt::format(" text-anchor=\"{}\"", style.anchor);
  if (style.bold) out_ += " font-weight=\"600\"";
  if (style.turn != 0)
    out_ += fmt::format(" transform=\"rotate({} {} {})\"", svg_number(style.turn), svg_number(x), svg_number(y));
  out_ += fmt::format(">{}</text>\n", escape(words));
}

void Svg::script(std::string_view code) { out_ += fmt::format("<script><![CDATA[{}]]></script>\n", code); }

std::string Svg::finish() {
  out_ += "</svg>\n";
  return std::move(out_);
}

}  // namespace aaco::report

#pragma once

#include <string>
#include <string_view>

#include "report/render.h"
#include "report/terminal.h"

namespace aaco::report {

enum class Style { plain, bold, dim, accent, warning, part0, part1, part2, part3, part4, part5 };

// A terminal page that grows line by line, never wider than its width. All text from data goes through clean() first.
class TextPage {
 public:
  explicit TextPage(const TextOptions& options);

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] bool ascii() const { return ascii_; }
  // Safe for a terminal; in Unicode a range is written with an en dash and micro as the sign.
  [[nodiscard]] std::string clean(std::string_view text) const;
  [[nodiscard]] std::string quantity(double value, std::string_view unit) const;
  [[nodiscard]] std::string interval(const trace::Interval& interval, std::string_view unit) const;
  [[nodiscard]] std::string value(const trace::MetricValue& metric) const;
  // The 95 % interval, or empty where it is not known.
  [[nodiscard]] std::string interval(const trace::MetricValue& metric) const;
  // The text in a style where colour is on, else as it is. The text must be clean.
  [[nodiscard]] std::string styled(std::string_view text, Style style) const;

  void line(std::string_view finished = {});
  void rule();
  // A section's title with an empty line above, and an aside at the right end where there is room.
  void heading(std::string_view title, std::string_view aside = {});
  // Words wrapped between `indent` and the page's width; `first` stands before the first line instead of blanks.
  void paragraph(std::string_view text, int indent = 2, Style style = Style::plain, std::string_view first = {});

  // "  name  rest": the name in `room` columns, or on a line of its own where it is wider, so that it is not cut. `rest` is
  // finished.
  void named(std::string_view name, int room, std::string_view rest, Style style = Style::plain);

  std::string take() { return std::move(out_); }

 private:
  int width_;
  bool colour_;
  bool ascii_;
  std::string out_;
};

}  // namespace aaco::report

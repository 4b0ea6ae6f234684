#pragma once

#include <string>
#include <string_view>

namespace aaco::report {

inline constexpr std::string_view kInk = "#17191e", kInkSoft = "#5a606b", kGridLine = "#e2e2df", kPaper = "#ffffff",
                                  kAccent = "#2f65ad", kAlarm = "#c0532f";

// A stand-alone SVG drawing in pixels, origin top left. Colours of data come from eight slots, each with a pattern of its own, so
// that prints and colour-blind eyes tell them apart; the last slot is grey. Texts may hold anything: they are made safe here.
class Svg {
 public:
  Svg(double width, double height, std::string_view title, std::string_view description);

  static constexpr int kSlots = 8;
  static std::string_view slot_colour(int slot);  // flat, for lines and thin things
  static std::string slot_fill(int slot);         // with its pattern, for areas
  static std::string_view ink_on_slot(int slot);  // a colour of text that can be read on it

  struct TextStyle {
    double size = 12;
    std::string_view fill = kInk;
    std::string_view anchor = "start";  // start, middle, end
    bool bold = false;
    double turn = 0;  // degrees around its own place
  };

  void rect(double x, double y, double width, double height, std::string_view fill, std::string_view tip = {});
  void line(double x1, double y1, double x2, double y2, std::string_view stroke, double width = 1, std::string_view dashes = {});
  void path(std::string_view data, std::string_view fill, std::string_view stroke, double width = 1,
            std::string_view dashes = {});
  void circle(double x, double y, double radius, std::string_view fill, std::string_view tip = {});
  void text(double x, double y, std::string_view words, const TextStyle& style);
  void text(double x, double y, std::string_view words) { text(x, y, words, TextStyle()); }

  // `code` must not have "]]>".
  void script(std::string_view code);

  std::string finish();

 private:
  std::string out_;
};

// At most `pixels` wide when set in `size`, by the average width of a letter; what is too long loses its middle.
std::string fit_pixels(std::string_view text, double pixels, double size = 12);
// A number for an attribute: two decimals at most.
std::string svg_number(double value);

}  // namespace aaco::report

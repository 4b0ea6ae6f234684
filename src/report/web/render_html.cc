#include <string>
#include <string_view>

#include "core/markup.h"
#include "report/render.h"
#include "report/thin.h"

namespace aaco::report {
namespace {

constexpr std::string_view kDataPlace = "__AACO_REPORT_DATA__";
constexpr std::string_view kTextPlace = "__AACO_REPORT_TEXT__";

// JSON that cannot end the element it stands in: '<', '>' and '&' as escapes, and the two line ends that JavaScript once refused.
std::string escape_for_script(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else if (json.compare(i, 3, "\xE2\x80\xA8") == 0)
      out += "\\u2028", i += 2;
    else if (json.compare(i, 3, "\xE2\x80\xA9") == 0)
      out += "\\u2029", i += 2;
    else
      out += c;
  }
  return out;
}

// Where `mark` is, if it is there exactly once.
core::Result<std::size_t> only_place(std::string_view page, std::string_view mark) {
  const auto at = page.find(mark);
  if (at == std::string_view::npos || page.find(mark, at + mark.size()) != std::string_view::npos)
    return core::fail(core::ErrorCode::invalid_input, "invalid report page template: expected exactly one " + std::string(mark),
                      "rebuild the page: npm run build in web/");
  return at;
}

}  // namespace

core::Result<std::string> render_html(const ReportModel& model, std::string_view page) {
  core::Json document = render_json(thinned_for_page(model));
  if (core::Json counts = counts_before_thinning(model); !counts.is_null()) document.set("thinned", std::move(counts));
  // Browsers without script show the terminal's report.
  return fill_page(page, document, render_text(model, {.width = 100, .colour = false, .unicode = true}));
}

core::Result<std::string> fill_page(std::string_view page, const core::Json& document, std::string_view plain_text) {
  AACO_ASSIGN(const std::size_t data_at, only_place(page, kDataPlace));
  AACO_ASSIGN(const std::size_t text_at, only_place(page, kTextPlace));
  const std::string data = escape_for_script(document.dump(-1));
  const std::string text = core::escape_markup(plain_text);
  const bool data_first = data_at < text_at;
  const std::size_t first = data_first ? data_at : text_at, second = data_first ? text_at : data_at;
  std::string out;
  out.reserve(page.size() + data.size() + text.size());
  out.append(page.substr(0, first)).append(data_first ? data : text);
  out.append(page.substr(first + (data_first ? kDataPlace : kTextPlace).size(),
                         second - first - (data_first ? kDataPlace : kTextPlace).size()));
  out.append(data_first ? text : data).append(page.substr(second + (data_first ? kTextPlace : kDataPlace).size()));
  return out;
}

}  // namespace aaco::report

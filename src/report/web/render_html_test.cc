#include <gtest/gtest.h>

#include "report/render.h"

namespace aaco::report {
namespace {

constexpr std::string_view kPage =
    "<html><noscript><pre>__AACO_REPORT_TEXT__</pre></noscript><script id=\"aaco-data\">__AACO_REPORT_DATA__</script></html>";

ReportModel with_verdict(std::string text) {
  ReportModel model;
  model.verdict = std::move(text);
  return model;
}

// What stands between the data element's tags.
std::string data_of(const std::string& html) {
  const auto from = html.find("aaco-data\">") + 11;
  return html.substr(from, html.find("</script>", from) - from);
}

TEST(RenderHtml, DataReadsBack) {
  const auto html = render_html(with_verdict("fast"), kPage);
  ASSERT_TRUE(html);
  EXPECT_EQ((*core::Json::parse(data_of(*html)))["verdict"]["text"].text(), "fast");
}
TEST(RenderHtml, DataCannotEndItsElement) {
  const std::string verdict = "</script><script>alert(1)</script><!--";
  const auto html = render_html(with_verdict(verdict), kPage);
  ASSERT_TRUE(html);
  EXPECT_EQ((*core::Json::parse(data_of(*html)))["verdict"]["text"].text(), verdict);
  EXPECT_EQ(html->find("<script>alert"), std::string::npos);
}
TEST(RenderHtml, LineSeparatorsAreEscaped) {
  const auto html = render_html(with_verdict("a\u2028b\u2029c"), kPage);
  ASSERT_TRUE(html);
  EXPECT_NE(data_of(*html).find("a\\u2028b\\u2029c"), std::string::npos);
}
TEST(RenderHtml, DataThatLooksLikeAPlaceIsData) {
  const auto html = render_html(with_verdict("__AACO_REPORT_TEXT__ __AACO_REPORT_DATA__"), kPage);
  ASSERT_TRUE(html);
  EXPECT_EQ((*core::Json::parse(data_of(*html)))["verdict"]["text"].text(), "__AACO_REPORT_TEXT__ __AACO_REPORT_DATA__");
}
TEST(RenderHtml, TextForBrowsersWithoutScriptIsEscaped) {
  const auto html = render_html(with_verdict("a<b>&c"), kPage);
  ASSERT_TRUE(html);
  EXPECT_NE(html->find("a&lt;b&gt;&amp;c"), std::string::npos);
}
TEST(RenderHtml, PlacesInEitherOrder) { EXPECT_TRUE(render_html({}, "__AACO_REPORT_DATA__ __AACO_REPORT_TEXT__")); }
TEST(RenderHtml, SaysWhatWasThinned) {
  ReportModel model;
  model.iterations.assign(30'000, {"measure", 0, 0, 1, false, ""});
  const auto html = render_html(model, kPage);
  ASSERT_TRUE(html);
  EXPECT_EQ((*core::Json::parse(data_of(*html)))["thinned"]["iterations"].as_i64(), 30'000);
}
TEST(RenderHtml, RefusesAnEmptyPage) { EXPECT_EQ(render_html({}, "").error().code, core::ErrorCode::invalid_input); }
TEST(RenderHtml, RefusesAPageWithTwoPlaces) {
  EXPECT_FALSE(render_html({}, "__AACO_REPORT_DATA____AACO_REPORT_DATA____AACO_REPORT_TEXT__"));
}
TEST(RenderHtml, RefusesAPageWithoutTextPlace) { EXPECT_FALSE(render_html({}, "__AACO_REPORT_DATA__")); }

}  // namespace
}  // namespace aaco::report

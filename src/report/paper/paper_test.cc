#include "report/paper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/analysis.h"
#include "report/terminal.h"

namespace aaco::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Paper paper() {
  PaperSection section{
      "Part", {{"name", "va|lue"}}, {{"NODE", "TIME"}, {false, true}, {{"a<b>\x1b[31m", "1"}, {"c,\"d\"", "200"}}}, {"one"}};
  return {"Title & more", {section}};
}

TEST(Paper, TextAlignsAndCannotSteerATerminal) {
  const std::string text = paper_text(paper());
  EXPECT_THAT(text, HasSubstr("TIME\n"));
  EXPECT_THAT(text, HasSubstr("   1\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Paper, WideTablesContinueBelowWithTheirFirstColumn) {
  PaperTable table;
  for (int column = 0; column < 12; ++column) table.header.push_back("COLUMN " + std::to_string(column) + std::string(20, '-'));
  table.rows.push_back({"first", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "last"});
  const std::string text = paper_text({"T", {{"", {}, table, {}}}}, 168);
  std::size_t firsts = 0;
  for (std::size_t at = text.find("first"); at != std::string::npos; at = text.find("first", at + 1)) ++firsts;
  EXPECT_EQ(firsts, 3U);
  EXPECT_THAT(text, HasSubstr("last\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 168U);
}

TEST(Paper, NoLineIsWiderThanAskedFor) {
  PaperTable table{{}, {}, {{}}};
  for (int column = 0; column < 9; ++column) {
    table.header.push_back("COLUMN " + std::to_string(column));
    table.rows[0].push_back("/model/layers." + std::to_string(column) + "/self_attn/q_proj/MatMul_with_a_long_name");
  }
  const std::string words =
      "a sentence of many words that goes on and on until it is wider than any terminal would be, and then some";
  PaperSection section{words, {{"fact", words}, {"", words + " " + std::string(130, 'x')}}, table, {words}};
  for (const int width : {40, 60, 100, 160}) {
    std::istringstream lines(paper_text({words, {section}}, width));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
  }
  const std::string text = paper_text({words, {section}});
  EXPECT_THAT(text, HasSubstr("\nfact  a sentence"));
  EXPECT_THAT(text, HasSubstr("\n      "));  // below its text, not its name
  EXPECT_THAT(text, HasSubstr("…"));
}

TEST(Paper, PartsOfALatencyAddUp) {
  AnalysisReport report;
  auto& e = report.estimate;
  e.latency.value = 22.4e6;
  e.device_seconds = 11.1e-3;
  e.host_exposed_seconds = 40e-6;
  const auto text = [&] { return paper_text(analysis_paper(report, 1)); };
  EXPECT_THAT(text(), HasSubstr("11.1 ms on the device, 40.0 µs waiting for the host, 11.3 ms more in runs of whole models"));
  e.latency.value = 11.14e6;
  EXPECT_THAT(text(), HasSubstr("waiting for the host\n"));
  e.latency.value = 8e6;
  EXPECT_THAT(text(), HasSubstr("waiting for the host; runs of whole models take 3.14 ms less"));
}

TEST(Paper, MarkdownKeepsBarsInTheirCells) {
  EXPECT_THAT(paper_markdown(paper()), HasSubstr("va\\|lue"));
  EXPECT_THAT(paper_markdown(paper()), HasSubstr("|---|---:|"));
}

TEST(Paper, MarkdownHasNoMarkupOfTheModelsOwn) {
  Paper named = paper();
  named.title = "<script>x</script> of nvidia_h100";
  named.sections[0].lines = {"node *a* _b_ `c` [d](e)\r\x1b[31m\xff"};
  const std::string text = paper_markdown(named);
  EXPECT_THAT(text, HasSubstr("# &lt;script&gt;x&lt;/script&gt; of nvidia_h100\n"));
  EXPECT_THAT(text, HasSubstr("- node \\*a\\* \\_b\\_ \\`c\\` \\[d\\](e)  \\[31m\xEF\xBF\xBD\n"));
  EXPECT_THAT(text, HasSubstr("| a&lt;b&gt; \\[31m | 1 |"));
}

TEST(Paper, PagesAndTablesAreValidUtf8) {
  Paper named = paper();
  named.sections[0].table.rows[0][0] = "bad\xff\xfeutf\x1b";
  EXPECT_THAT(paper_html(named), HasSubstr(">bad\xEF\xBF\xBD\xEF\xBF\xBDutf <"));
  EXPECT_THAT(table_csv(named.sections[0].table), HasSubstr("bad\xEF\xBF\xBD\xEF\xBF\xBDutf\x1b,1\n"));
}

TEST(Paper, HtmlIsOneWholePageWithNothingOfTheModelsOwn) {
  const std::string page = paper_html(paper());
  EXPECT_THAT(page, HasSubstr("Title &amp; more"));
  EXPECT_THAT(page, HasSubstr("a&lt;b&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, HasSubstr("</html>"));
}

TEST(Paper, OnPaperNoColumnIsBehindAScrollBar) { EXPECT_THAT(paper_html(paper()), HasSubstr("@media print{")); }

TEST(Paper, OnlyLongCellsBreakTheirLines) {
  Paper named = paper();
  named.sections[0].table.rows[0][0] = std::string(5000, 'k');
  const std::string page = paper_html(named);
  EXPECT_THAT(page, HasSubstr("<td class=\"long\">kkk"));
  EXPECT_THAT(page, HasSubstr("<td class=\"n\">1</td>"));
  EXPECT_THAT(page, HasSubstr(".long{white-space:normal"));
}

TEST(Paper, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(table_csv(paper().sections[0].table), "NODE,TIME\na<b>\x1b[31m,1\n\"c,\"\"d\"\"\",200\n");
}

TEST(Paper, AnEmptyOneIsItsTitle) { EXPECT_EQ(paper_text({"x", {}}), "x\n"); }

TEST(Paper, JsonHasSectionsTablesAndCurves) {
  Paper sweep = paper();
  sweep.curves = {{"cpu", {{"batch 1", 100, 1e7, 9e6, 1.1e7, 2e7}, {"batch 2", 150, 1.3e7, {}, {}, {}}}, 1}};
  const core::Json json = paper_json(sweep);
  EXPECT_EQ(json["schema"].text(), "aaco.paper");
  const core::Json& section = json["sections"].items()[0];
  EXPECT_EQ(section["facts"].items()[0].items()[1].text(), "va|lue");
  EXPECT_EQ(section["table"]["rows"].items()[1].items()[0].text(), "c,\"d\"");
  EXPECT_THAT(std::string(section["table"]["rows"].items()[0].items()[0].text()), Not(HasSubstr("\x1b")));
  const core::Json& curve = json["curves"].items()[0];
  EXPECT_EQ(curve["knee"].as_i64(), 1);
  EXPECT_EQ(curve["points"].items()[0]["ci95"].items().size(), 2U);
  EXPECT_FALSE(curve["points"].items()[1].contains("tail_ns"));
}

TEST(Paper, JsonOfAnEmptyOneHasNoTableAndNoCurve) {
  const core::Json json = paper_json({"t", {{}}});
  EXPECT_FALSE(json["sections"].items()[0].contains("table"));
  EXPECT_TRUE(json["curves"].items().empty());
}

}  // namespace
}  // namespace aaco::report

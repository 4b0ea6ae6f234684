#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/files.h"
#include "core/strings.h"
#include "report/render.h"
#include "report/render_svg.h"
#include "report/terminal.h"
#include "support/sample_reports.h"
#include "tests/support/source_dir.h"

namespace aaco {
namespace {

// The text must equal tests/golden/report/NAME; with AACO_REBASELINE=1 it is written there instead.
void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(AACO_SOURCE_DIR "/tests/golden/report/") + name;
  if (std::getenv("AACO_REBASELINE")) {
    ASSERT_TRUE(core::make_directories(core::parent_path(path)));
    ASSERT_TRUE(core::write_file_atomic(path, text));
    return;
  }
  const auto golden = core::read_file(path);
  ASSERT_TRUE(golden) << golden.error().text();
  EXPECT_TRUE(*golden == text)
      << name << " differs from what is printed now; scripts/rebaseline.sh report renews it, then read the difference";
}

std::string text_of(const report::ReportModel& model, int width, bool unicode = true) {
  return render_text(model, {.width = width, .colour = false, .unicode = unicode});
}

TEST(ReportGolden, CpuText80) { expect_golden("cpu_80.txt", text_of(sample::cpu_run(), 80)); }
TEST(ReportGolden, CpuText120) { expect_golden("cpu_120.txt", text_of(sample::cpu_run(), 120)); }
TEST(ReportGolden, CpuText40) { expect_golden("cpu_40.txt", text_of(sample::cpu_run(), 40)); }
TEST(ReportGolden, GpuText100) { expect_golden("gpu_100.txt", text_of(sample::gpu_run(), 100)); }
TEST(ReportGolden, GpuTextAscii) { expect_golden("gpu_80_ascii.txt", text_of(sample::gpu_run(), 80, false)); }
TEST(ReportGolden, EmptyText) { expect_golden("empty_80.txt", text_of(sample::empty(), 80)); }
TEST(ReportGolden, CpuTextColour) {
  expect_golden("cpu_80_colour.txt", render_text(sample::cpu_run(), {.width = 80, .colour = true, .unicode = true}));
}
TEST(ReportGolden, CpuMarkdown) { expect_golden("cpu.md", render_markdown(sample::cpu_run())); }
TEST(ReportGolden, GpuMarkdown) { expect_golden("gpu.md", render_markdown(sample::gpu_run())); }
TEST(ReportGolden, HostileMarkdown) { expect_golden("hostile.md", render_markdown(sample::hostile())); }
TEST(ReportGolden, OperatorsCsv) { expect_golden("cpu_operators.csv", *render_csv(sample::cpu_run(), "operators")); }
TEST(ReportGolden, MetricsCsv) { expect_golden("cpu_metrics.csv", *render_csv(sample::cpu_run(), "metrics")); }
TEST(ReportGolden, HostileCsv) { expect_golden("hostile_operators.csv", *render_csv(sample::hostile(), "operators")); }
TEST(ReportGolden, OperatorsSvg) { expect_golden("cpu_operators.svg", *render_svg(sample::cpu_run(), "operators")); }
TEST(ReportGolden, DistributionSvg) { expect_golden("cpu_distribution.svg", *render_svg(sample::cpu_run(), "distribution")); }
TEST(ReportGolden, LatencySvg) { expect_golden("gpu_latency.svg", *render_svg(sample::gpu_run(), "latency")); }
TEST(ReportGolden, FlameSvg) { expect_golden("cpu_flame.svg", *render_svg(sample::cpu_run(), "flame")); }
TEST(ReportGolden, RooflineSvg) { expect_golden("gpu_roofline.svg", *render_svg(sample::gpu_run(), "roofline")); }

// No line is wider than the page, whatever the names.
void expect_within(const report::ReportModel& model, int width, bool unicode) {
  const std::string text = text_of(model, width, unicode);
  for (const auto line : core::split_lines(text)) EXPECT_LE(report::display_width(line), width) << width << ": " << line;
}
TEST(ReportText, KeepsItsWidth) {
  for (const int width : {40, 52, 64, 80, 100, 120, 132})
    for (const bool unicode : {true, false}) {
      expect_within(sample::cpu_run(), width, unicode);
      expect_within(sample::gpu_run(), width, unicode);
      expect_within(sample::hostile(), width, unicode);
    }
}
TEST(ReportText, NarrowerThanPossibleIsForty) { EXPECT_EQ(text_of(sample::cpu_run(), 1), text_of(sample::cpu_run(), 40)); }
TEST(ReportText, AsciiIsAscii) {
  for (const char c : text_of(sample::hostile(), 80, false)) ASSERT_GE(c, 0);
}
TEST(ReportText, HostileNamesCannotSteerTheTerminal) {
  for (const char c : text_of(sample::hostile(), 80)) ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
}
TEST(ReportText, NoColourMeansNoEscapes) { EXPECT_EQ(text_of(sample::cpu_run(), 80).find('\x1b'), std::string::npos); }
TEST(ReportText, ColourChangesNothingElse) {
  std::string coloured = render_text(sample::cpu_run(), {.width = 80, .colour = true, .unicode = true});
  for (auto at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b'))
    coloured.erase(at, coloured.find('m', at) - at + 1);
  std::string plain;
  for (auto line : core::split_lines(coloured)) {
    while (line.ends_with(' ')) line.remove_suffix(1);
    plain.append(line) += '\n';
  }
  EXPECT_EQ(plain, text_of(sample::cpu_run(), 80));
}

// The text without its code spans: what stands in them is shown as it is.
std::string outside_code(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto from = text.find('`');
    const bool escaped = from != std::string_view::npos && from > 0 && text[from - 1] == '\\';
    out += text.substr(0, escaped ? from + 1 : from);
    if (from == std::string_view::npos) break;
    text.remove_prefix(from + (escaped ? 1 : 0));
    if (escaped) continue;
    const std::string fence(std::min(text.find_first_not_of('`'), text.size()), '`');
    const auto to = text.find(fence, fence.size());
    text.remove_prefix(to == std::string_view::npos ? fence.size() : to + fence.size());
  }
  return out;
}

TEST(ReportMarkdown, HostileNamesAreNoMarkup) {
  const std::string text = outside_code(render_markdown(sample::hostile()));
  EXPECT_EQ(text.find("<script>"), std::string::npos);
  EXPECT_EQ(text.find("<img"), std::string::npos);
  EXPECT_EQ(text.find("link](x)"), std::string::npos);
}
TEST(ReportSvg, EveryPlotOfHostileNamesIsClosed) {
  for (const auto plot : report::kSvgPlots) {
    const auto svg = render_svg(sample::hostile(), plot);
    if (!svg) continue;
    EXPECT_TRUE(svg->ends_with("</svg>\n")) << plot;
    const bool searched = plot == "flame" || plot == "waits";  // have one script, their own
    EXPECT_EQ(svg->find("<script") != std::string::npos, searched) << plot;
    EXPECT_EQ(svg->rfind("<script"), svg->find("<script")) << plot;
    EXPECT_EQ(svg->find("<img"), std::string::npos) << plot;
  }
}
TEST(ReportHtml, LargeModelStaysSmall) {
  const auto html = render_html(sample::large(5'000, 100'000), "__AACO_REPORT_DATA__ __AACO_REPORT_TEXT__");
  ASSERT_TRUE(html);
  EXPECT_LT(html->size(), 4U << 20);
}

}  // namespace
}  // namespace aaco

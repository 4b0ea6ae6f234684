#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

// A small document of lines and tables, written once and rendered as text, Markdown or a page of its own.
namespace aaco::report {

struct PaperTable {
  std::vector<std::string> header;
  std::vector<bool> numeric;  // one a column: set to the right
  std::vector<std::vector<std::string>> rows;
};

struct PaperSection {
  std::string title;                                       // may be empty
  std::vector<std::pair<std::string, std::string>> facts;  // name and text
  PaperTable table;                                        // empty header: none
  std::vector<std::string> lines;
};

// Latency over throughput, for the page: one line of points, such as the batch sizes of a sweep.
struct PaperCurve {
  struct Point {
    std::string label;  // "batch 8"
    double items_per_second = 0, latency_ns = 0;
    std::optional<double> low_ns, high_ns;  // 95 % interval of the latency
    std::optional<double> tail_ns;          // P90
  };
  std::string name;  // what tells it from the others; may be empty
  std::vector<Point> points;
  std::optional<std::size_t> knee;  // the point with the best throughput per latency
};

struct Paper {
  std::string title;
  std::vector<PaperSection> sections;
  std::vector<PaperCurve> curves = {};
};

// Lines of at most `width` columns, for pipes and files 100: texts wrap, long names lose their middle, and tables that are wider
// continue below with their first column.
inline constexpr int kTextWidth = 100;
std::string paper_text(const Paper& paper, int width = kTextWidth);
std::string paper_markdown(const Paper& paper);
// One self-contained page that opens without a network, in dark and light.
std::string paper_html(const Paper& paper);
// The document of the styled page (web/src/paper): docs/formats/paper.md.
core::Json paper_json(const Paper& paper);
// RFC 4180, in UTF-8 (what is none becomes U+FFFD, so that any reader takes the table); nothing else of a cell is changed.
std::string table_csv(const PaperTable& table);

}  // namespace aaco::report

#pragma once

#include <string>
#include <vector>

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

struct Paper {
  std::string title;
  std::vector<PaperSection> sections;
};

std::string paper_text(const Paper& paper);
std::string paper_markdown(const Paper& paper);
// One self-contained page that opens without a network, in dark and light.
std::string paper_html(const Paper& paper);
// RFC 4180, in UTF-8 (what is none becomes U+FFFD, so that any reader takes the table); nothing else of a cell is changed.
std::string table_csv(const PaperTable& table);

}  // namespace aaco::report

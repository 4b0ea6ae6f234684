#include "report/paper.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/csv_cell.h"
#include "core/markup.h"
#include "report/quantity.h"
#include "report/terminal.h"
#include "report/text/markdown.h"

namespace aaco::report {
namespace {

// Safe for a terminal, with the sign of micro.
std::string shown(std::string_view text) { return with_micro_signs(printable(text)); }

constexpr int kWidestCell = 44;   // names of nodes can be pages long
constexpr int kMinWidth = 40;     // a narrower terminal breaks the lines itself
constexpr int kCellsPerLine = 3;  // of the widest
constexpr int kIndent = 2;        // of a line's continuation

std::size_t width_of(const std::string& text) { return static_cast<std::size_t>(display_width(text)); }

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width > width_of(text) ? width - width_of(text) : 0, ' ');
  return right ? space + text : text + space;
}

bool is_right(const PaperTable& table, std::size_t column) { return column < table.numeric.size() && table.numeric[column]; }

// Lines of at most `width` columns, all after the first below `indent` spaces.
std::string wrapped(const std::string& text, int width, int indent) {
  if (display_width(text) <= width) return text + "\n";
  std::string out;
  for (const std::string& line : wrap(text, std::max(kMinWidth / 2, width)))
    out += (out.empty() ? std::string() : std::string(static_cast<std::size_t>(indent), ' ')) + line + "\n";
  return out;
}

std::string line_text(const std::string& text, int width) {
  return display_width(text) <= width ? text + "\n" : wrapped(text, width - kIndent, kIndent);
}

std::string text_table(const PaperTable& given, int width) {
  PaperTable table = given;
  const int widest = std::min(kWidestCell, width / kCellsPerLine);
  for (auto& row : table.rows)
    for (std::string& cell : row) cell = fit(shown(cell), std::min(widest, display_width(shown(cell))));
  std::vector<std::size_t> widths;
  for (const std::string& name : table.header) widths.push_back(width_of(name));
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  const auto line = [&](const std::vector<std::string>& cells, std::size_t from, std::size_t to) {
    std::string out = from > 0 && !cells.empty() ? padded(cells[0], widths[0], is_right(table, 0)) : std::string();
    for (std::size_t i = from; i < std::min(cells.size(), to); ++i)
      out += (i > 0 ? "  " : "") + padded(cells[i], widths[i], is_right(table, i));
    while (out.ends_with(' ')) out.pop_back();
    return out + "\n";
  };
  std::string out;
  for (std::size_t from = 0, to = 0; from < widths.size(); from = to) {
    for (std::size_t used = from > 0 ? widths[0] : 0; to < widths.size(); ++to) {
      used += widths[to] + (to > 0 ? 2 : 0);
      if (to > from && used > static_cast<std::size_t>(width)) break;
    }
    if (from > 0) out += "\n";
    out += line(table.header, from, to);
    for (const auto& row : table.rows) out += line(row, from, to);
  }
  return out;
}

std::string markdown_table(const PaperTable& table) {
  std::string out = "|";
  for (const std::string& name : table.header) out += " " + markdown_text(name) + " |";
  out += "\n|";
  for (std::size_t i = 0; i < table.header.size(); ++i) out += is_right(table, i) ? "---:|" : "---|";
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (const std::string& cell : row) out += " " + markdown_text(cell) + " |";
    out += "\n";
  }
  return out;
}

std::string html(const std::string& text) { return core::escape_markup(shown(text)); }

std::string html_table(const PaperTable& table) {
  const auto row = [&](const std::vector<std::string>& cells, const char* tag) {
    std::string out = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool is_long = display_width(cells[i]) > kWidestCell;
      const char* const kind = is_long ? " class=\"long\"" : is_right(table, i) ? " class=\"n\"" : "";
      out += fmt::format("<{}{}>{}</{}>", tag, kind, html(cells[i]), tag);
    }
    return out + "</tr>\n";
  };
  std::string out = "<div class=\"wide\"><table>\n<thead>" + row(table.header, "th") + "</thead>\n<tbody>\n";
  for (const auto& cells : table.rows) out += row(cells, "td");
  return out + "</tbody></table></div>\n";
}

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 "
    "1rem;overflow-wrap:anywhere}"
    "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}dl{display:grid;grid-template-columns:fit-content(40%) "
    "minmax(0,1fr);gap:.2rem "
    "1rem}"
    "dt{font-weight:600}dd{margin:0}.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.82rem}"
    "th,td{padding:.2rem .45rem;border-bottom:1px solid #8886;text-align:left;white-space:nowrap}"
    ".long{white-space:normal;min-width:16rem;max-width:32rem}.n{text-align:right;"
    "font-variant-numeric:tabular-nums}"
    "@page{size:landscape;margin:12mm}@media "
    "print{:root{color-scheme:light}body{margin:0;max-width:none;padding:0;font-size:11px}.wide{overflow:"
    "visible}table{font-size:8px}th,td{padding:.15rem .25rem}}";

}  // namespace

std::string paper_text(const Paper& paper, int width) {
  width = std::max(kMinWidth, width);
  std::string out = line_text(shown(paper.title), width);
  for (const PaperSection& section : paper.sections) {
    out += "\n";
    if (!section.title.empty()) out += line_text(shown(section.title), width);
    std::size_t widest = 0;
    for (const auto& [name, text] : section.facts) widest = std::max(widest, width_of(name));
    const int indent = static_cast<int>(widest) + 2;
    for (const auto& [name, text] : section.facts)
      out += padded(shown(name), widest + 2, false) + wrapped(shown(text), width - indent, indent);
    if (!section.table.header.empty()) out += text_table(section.table, width);
    for (const std::string& line : section.lines) out += line_text(shown(line), width);
  }
  return out;
}

std::string paper_markdown(const Paper& paper) {
  std::string out = "# " + markdown_text(paper.title) + "\n";
  for (const PaperSection& section : paper.sections) {
    if (!section.title.empty()) out += "\n## " + markdown_text(section.title) + "\n";
    if (!section.facts.empty()) {
      PaperTable facts{{"", ""}, {}, {}};
      for (const auto& [name, text] : section.facts) facts.rows.push_back({name, text});
      out += "\n" + markdown_table(facts);
    }
    if (!section.table.header.empty()) out += "\n" + markdown_table(section.table);
    if (!section.lines.empty()) out += "\n";
    for (const std::string& line : section.lines) out += "- " + markdown_text(line) + "\n";
  }
  return out;
}

std::string paper_html(const Paper& paper) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<title>{}</title><style>{}</style></head><body>\n<h1>{}</h1>\n",
      html(paper.title), kStyle, html(paper.title));
  for (const PaperSection& section : paper.sections) {
    if (!section.title.empty()) out += "<h2>" + html(section.title) + "</h2>\n";
    if (!section.facts.empty()) out += "<dl>\n";
    for (const auto& [name, text] : section.facts) out += "<dt>" + html(name) + "</dt><dd>" + html(text) + "</dd>\n";
    if (!section.facts.empty()) out += "</dl>\n";
    if (!section.table.header.empty()) out += html_table(section.table);
    if (!section.lines.empty()) out += "<ul>\n";
    for (const std::string& line : section.lines) out += "<li>" + html(line) + "</li>\n";
    if (!section.lines.empty()) out += "</ul>\n";
  }
  return out + "</body></html>\n";
}

std::string table_csv(const PaperTable& table) {
  const auto line = [](const std::vector<std::string>& cells) {
    std::string out;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out += (i > 0 ? "," : "") + core::csv_cell(valid_utf8(cells[i]));
    }
    return out + "\n";
  };
  std::string out = line(table.header);
  for (const auto& row : table.rows) out += line(row);
  return out;
}

}  // namespace aaco::report

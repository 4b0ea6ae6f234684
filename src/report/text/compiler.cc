#include <fmt/format.h>

#include <algorithm>

#include "core/numbers.h"
#include "report/text/markdown.h"
#include "report/text/markdown_page.h"
#include "report/text/sections.h"

namespace aaco::report {
namespace {

constexpr std::size_t kMaxRows = 48;  // of the drawing
constexpr std::size_t kMaxListed = 12;

// What the right side of a row says: the kernel, or why there is none.
std::string kernel_of(const Compiler::Row& row) {
  const std::string name = row.after.empty() ? row.fate : row.after;
  return row.detail.empty() ? name : name + " (" + row.detail + ")";
}

// Calls visit(block, row, first of its block) for the rows that are shown; returns how many are not.
template <class Visit>
std::size_t visit_rows(const Compiler& section, Visit visit) {
  std::size_t shown = 0, all = 0;
  for (const Compiler::Block& block : section.blocks)
    for (std::size_t i = 0; i < block.rows.size(); ++i, ++all)
      if (shown < kMaxRows) {
        visit(block, block.rows[i], i == 0);
        ++shown;
      }
  return all - shown;
}

std::string more(std::size_t rows) { return fmt::format("{} more on the page and in --json", rows); }

void write_drawing(TextPage& page, const Compiler& section) {
  const int times = 11, mark = 8;
  const bool timed = section.call_ns.has_value();
  const int side = std::max(12, (page.width() - 2 - mark - 4 - (timed ? times : 0)) / 2);
  const std::string arrow = page.ascii() ? " -> " : " → ";
  const auto row_line = [&](const std::string& repeats, const std::string& before, const std::string& after,
                            const std::string& time, bool plain) {
    const std::string text =
        fit_left(before, side, page.ascii()) + (plain ? "    " : arrow) + fit_left(after, side, page.ascii());
    page.line("  " + fit_left(repeats, mark, page.ascii()) + text + (timed ? fit_right(time, times, page.ascii()) : ""));
  };
  row_line("", "before", "after", timed ? "per call" : "", true);
  bool repeated = false;
  const std::size_t rest = visit_rows(section, [&](const Compiler::Block& block, const Compiler::Row& row, bool first) {
    const std::string cross = page.ascii() ? "x" : "×";
    repeated = block.repeats > 1;
    const std::string bar = page.ascii() ? "|" : "│";
    row_line(!repeated ? ""
             : first   ? fmt::format("{} {} {}", block.repeats, cross, bar)
                       : fmt::format("{:>{}}", bar, std::to_string(block.repeats).size() + 4),
             page.clean(row.before), page.clean(kernel_of(row)), row.time_ns ? page.quantity(*row.time_ns, "ns") : "", false);
  });
  if (rest > 0) page.line(page.styled("  " + more(rest), Style::dim));
}

void write_missed(TextPage& page, const Compiler& section) {
  if (section.missed.empty()) return;
  page.line();
  page.line("  Not fused");
  for (std::size_t i = 0; i < std::min(section.missed.size(), kMaxListed); ++i) {
    const Compiler::Missed& one = section.missed[i];
    page.paragraph(fmt::format("{} {}, {}: {} and {}{}", one.count, one.count == 1 ? "place" : "places", page.clean(one.pattern),
                               page.clean(one.first), page.clean(one.second),
                               one.both_ns ? ", " + page.quantity(*one.both_ns, "ns") + " in all" : ""),
                   4);
    page.paragraph(page.clean(one.condition.empty() ? one.remedy : one.condition), 6, Style::dim);
  }
  if (section.missed.size() > kMaxListed) page.line(page.styled("    " + more(section.missed.size() - kMaxListed), Style::dim));
}

void write_differences(TextPage& page, const Compiler& section) {
  if (section.against.empty() || !section.parts.empty()) return;
  page.line();
  if (section.differences.empty()) page.line("  " + page.clean(section.against) + " fuses the same nodes");
  for (const Compiler::Difference& one : section.differences)
    page.paragraph(
        fmt::format("only with {}: {} {} from {}{}{}", page.clean(one.side), one.count, page.clean(one.after),
                    page.clean(one.before), one.time_ns ? ", " + page.quantity(*one.time_ns, "ns") : "",
                    one.change_ns ? " (" + core::format_signed_duration(*one.change_ns) + " against the same nodes there)" : ""),
        2);
}

void write_parts(TextPage& page, const Compiler& section) {
  if (section.parts.empty()) return;
  page.line();
  page.line("  Parts with " + page.clean(section.against));
  for (std::size_t i = 0; i < std::min(section.parts.size(), kMaxListed); ++i) {
    const Compiler::Part& one = section.parts[i];
    const std::string range = one.first.empty() ? "" : ", " + one.first + (one.nodes > 1 ? " to " + one.last : "");
    page.paragraph(
        fmt::format("{}: {} {}{}", page.clean(one.target), one.nodes, one.nodes == 1 ? "node" : "nodes", page.clean(range)), 4);
  }
  if (section.parts.size() > kMaxListed) page.line(page.styled("    " + more(section.parts.size() - kMaxListed), Style::dim));
  for (std::size_t i = 0; i < std::min(section.refused.size(), kMaxListed); ++i) {
    const Compiler::Refused& one = section.refused[i];
    page.paragraph(fmt::format("{} {}: {}", one.count, page.clean(one.op_type), page.clean(one.condition)), 4, Style::dim);
  }
}

// Of a backend that ran here.
std::string measured_sentence(const Compiler& section) {
  std::string text =
      fmt::format("{} {} between providers", section.seams.size(), section.seams.size() == 1 ? "change" : "changes");
  if (*section.seams_ns <= 0) return text + " per call, without measurable cost (profiled)";
  text += fmt::format(" cost {}", core::format_duration(*section.seams_ns));
  if (section.call_there_ns && *section.call_there_ns > 0)
    text += fmt::format(" per call of {} ({:.2g} %)", core::format_duration(*section.call_there_ns),
                        100 * *section.seams_ns / *section.call_there_ns);
  if (section.usual_ns) text += fmt::format(" beyond the usual {} between two nodes", core::format_duration(*section.usual_ns));
  return text + " (profiled); what a provider converts inside a node counts to the node";
}

std::string seams_sentence(const Compiler& section) {
  if (section.seams_ns) return measured_sentence(section);
  double bytes = 0;
  for (const Compiler::Seam& one : section.seams) bytes += one.bytes.value_or(0);
  std::string text =
      fmt::format("{} {}{} copied between parts", section.seams.size(), section.seams.size() == 1 ? "tensor" : "tensors",
                  bytes > 0 ? " of " + core::format_bytes(bytes) : "");
  if (section.seams_least_ns)
    text += fmt::format(", at least {} per call at the rate of {} (estimated, start of each copy not counted)",
                        core::format_duration(*section.seams_least_ns), section.link);
  return text;
}

void write_seams(TextPage& page, const Compiler& section) {
  if (section.seams.empty()) return;
  page.line();
  page.paragraph(page.clean(seams_sentence(section)));
  for (std::size_t i = 0; i < std::min(section.seams.size(), kMaxListed); ++i) {
    const Compiler::Seam& one = section.seams[i];
    const std::string cost = one.time_ns    ? page.quantity(*one.time_ns, "ns")
                             : !one.bytes   ? "size unknown"
                             : one.least_ns ? core::format_bytes(*one.bytes) + ", at least " + page.quantity(*one.least_ns, "ns")
                                            : core::format_bytes(*one.bytes);
    page.paragraph(fmt::format("{} to {} ({} to {}): {}", page.clean(one.first), page.clean(one.second), page.clean(one.from),
                               page.clean(one.to), cost),
                   4, Style::dim);
  }
  if (section.seams.size() > kMaxListed) page.line(page.styled("    " + more(section.seams.size() - kMaxListed), Style::dim));
}

}  // namespace

// The drawing, then what stays apart, what the other side does, and what is copied between parts.
void write_text(TextPage& page, const Compiler& section, const ReportModel&) {
  if (section.blocks.empty()) return;
  page.heading("Compiler", page.width() >= 60 ? section.runtime : "");
  page.paragraph(page.clean(compiled_sentence(section)) +
                 (section.call_ns ? "; a call takes " + page.quantity(*section.call_ns, "ns") + " with the profiler on" : ""));
  page.line();
  write_drawing(page, section);
  write_missed(page, section);
  write_differences(page, section);
  write_parts(page, section);
  write_seams(page, section);
}

void write_markdown(MarkdownPage& page, const Compiler& section) {
  if (section.blocks.empty()) return;
  page.heading("Compiler");
  page.paragraph(markdown_text(compiled_sentence(section) + " (" + section.runtime + ")."));
  page.out += "| times | before | after | time per call |\n|---:|---|---|---:|\n";
  const std::size_t rest = visit_rows(section, [&](const Compiler::Block& block, const Compiler::Row& row, bool) {
    page.row({std::to_string(block.repeats), row.before.empty() ? "" : markdown_code(row.before), markdown_text(kernel_of(row)),
              row.time_ns ? markdown_quantity(*row.time_ns, "ns") : ""});
  });
  if (rest > 0) page.paragraph(more(rest) + ".");
  if (!section.missed.empty()) {
    page.out += "\n| not fused | places | first place | why |\n|---|---:|---|---|\n";
    for (std::size_t i = 0; i < std::min(section.missed.size(), kMaxListed); ++i) {
      const Compiler::Missed& one = section.missed[i];
      page.row({markdown_code(one.pattern), std::to_string(one.count),
                markdown_code(one.first) + " and " + markdown_code(one.second),
                markdown_text(one.condition.empty() ? one.remedy : one.condition)});
    }
  }
  if (!section.seams.empty()) page.paragraph(markdown_text(seams_sentence(section) + "."));
}

}  // namespace aaco::report

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/context.h"
#include "cli/options/whole_number.h"
#include "core/numbers.h"
#include "report/terminal.h"
#include "workflows/session_list.h"

namespace aaco::cli {
namespace {

std::string tags_of(const workflows::SessionLine& line) {
  std::string text = line.tag;
  for (const std::string& tag : line.tags) text += (text.empty() ? "" : ", ") + tag;
  return text;
}

bool has_tag(const workflows::SessionLine& line, const std::string& tag) {
  return line.tag == tag || std::find(line.tags.begin(), line.tags.end(), tag) != line.tags.end();
}

void print_none(const Context& context, const std::string& tag, std::size_t sessions) {
  if (sessions > 0)
    context.note(
        fmt::format("none of the {} sessions in {} has the tag {}", sessions, context.paths.sessions, report::printable(tag)));
  else
    context.note("no sessions in " + context.paths.sessions + "; create one with 'aaco run --model resnet50'");
}

void print_table(const Context& context, const std::vector<workflows::SessionLine>& lines) {
  using report::fit_left;
  using report::printable;  // sessions come from elsewhere too: nothing in their names may steer the terminal
  constexpr int kLongestTag = 60;
  int what = 4;
  int tag = 3;
  for (const auto& line : lines) {
    what = std::max(what, report::display_width(printable(line.what)));
    tag = std::max(tag, report::display_width(printable(tags_of(line))));
  }
  what = std::min(what, std::max(20, context.width - 62));
  tag = std::min(tag, kLongestTag);
  context.print(
      fmt::format("{:<25} {:<7} {:<11} {:<{}} {:>10}  {}\n", "SESSION", "KIND", "STATE", "WHAT", what, "MEDIAN", "TAG"));
  for (const auto& line : lines)
    context.print(fmt::format("{:<25} {} {} {} {:>10}  {}\n", printable(line.id), fit_left(printable(line.kind), 7),
                              fit_left(printable(line.state), 11), fit_left(printable(line.what), what),
                              line.p50_ns ? core::format_duration(*line.p50_ns) : "-",
                              report::fit(printable(tags_of(line)), tag)));
}

}  // namespace

void add_ls(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("ls", "List sessions");
  auto json = std::make_shared<bool>(false);
  auto tag = std::make_shared<std::string>();
  auto last = std::make_shared<std::size_t>(0);
  verb->add_flag("--json", *json, "Print JSON");
  verb->add_option("--tag", *tag, "Only sessions with this tag, given when measured or in the dashboard");
  verb->add_option("-n,--last", *last, "Only the newest N sessions; 0 lists all")->check(whole_number(0, kMaxCount));
  verb->callback([&context, json, tag, last] {
    auto lines = workflows::list(context.paths.sessions);
    if (!lines) return context.fail(lines.error());
    const std::size_t sessions = lines->size();
    if (!tag->empty()) std::erase_if(*lines, [&](const auto& line) { return !has_tag(line, *tag); });
    if (*last > 0 && lines->size() > *last) lines->erase(lines->begin(), lines->end() - static_cast<std::ptrdiff_t>(*last));
    if (!*json) return lines->empty() ? print_none(context, *tag, sessions) : print_table(context, *lines);
    core::Json out = core::Json::array();
    for (const auto& line : *lines) out.push(to_json(line));
    context.print_json(
        core::Json::object({{"schema_version", 1}, {"root", context.paths.sessions}, {"sessions", std::move(out)}}));
  });
}

}  // namespace aaco::cli

#include "workflows/session_list.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/strings.h"
#include "tracelake/bundle.h"

namespace aaco::workflows {
namespace {

bool has(const std::string& text, const std::string& part) { return core::to_lower(text).find(part) != std::string::npos; }

bool is_wanted(const SessionLine& line, const SessionFilter& filter, const std::string& search) {
  if (!filter.tag.empty() && line.tag != filter.tag &&
      std::find(line.tags.begin(), line.tags.end(), filter.tag) == line.tags.end())
    return false;
  if (!filter.kind.empty() && line.kind != filter.kind) return false;
  if (!filter.state.empty() && line.state != filter.state) return false;
  return search.empty() || has(line.id, search) || has(line.tag, search) || has(line.what, search) || has(line.note, search) ||
         std::any_of(line.tags.begin(), line.tags.end(), [&](const auto& tag) { return has(tag, search); });
}

}  // namespace

SessionPage select_sessions(const std::vector<SessionLine>& lines, const SessionFilter& filter) {
  const std::string search = core::to_lower(core::trim(filter.search));
  SessionPage page;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!line->tag.empty()) ++page.tags[line->tag];
    for (const std::string& tag : line->tags)
      if (tag != line->tag) ++page.tags[tag];
    if (!is_wanted(*line, filter, search)) continue;
    if (page.found++ >= filter.offset && page.sessions.size() < filter.limit) page.sessions.push_back(*line);
  }
  return page;
}

core::Result<SessionPage> list_page(const SessionFilter& filter, const core::Paths& paths) {
  AACO_ASSIGN(const auto lines, list(paths.sessions));
  return select_sessions(lines, filter);
}

core::Json to_json(const SessionLine& line) {
  return core::Json::object({{"id", line.id},
                             {"path", line.path},
                             {"created", line.created},
                             {"kind", line.kind},
                             {"state", line.state},
                             {"tag", line.tag},
                             {"what", line.what},
                             {"p50_ns", line.p50_ns},
                             {"tags", core::Json::texts(line.tags)},
                             {"note", line.note}});
}

core::Result<std::string> find_in_lake(const std::string& name, const core::Paths& paths) {
  const auto unknown = [&] {
    return core::fail(core::ErrorCode::not_found, "no session '" + name + "'", "use an id, latest or tag:NAME");
  };
  const bool tag = name.starts_with("tag:");
  if (name.empty() || name == "." || name == ".." || (!tag && name.find_first_of("/\\") != std::string::npos)) return unknown();
  AACO_ASSIGN(std::string path, tracelake::find_session(paths.sessions, name));
  // A folder of that name where the program runs, or a link, may lead elsewhere.
  std::error_code error;
  const auto root = std::filesystem::canonical(paths.sessions, error);
  if (error) return unknown();
  const auto real = std::filesystem::canonical(path, error);
  if (error || !real.string().starts_with(root.string() + "/")) return unknown();
  return path;
}

}  // namespace aaco::workflows

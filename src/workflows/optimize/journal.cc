#include "workflows/optimize/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/files.h"
#include "core/strings.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

core::Status append_line(const core::FileDescriptor& file, const std::string& path, const Json& line) {
  AACO_TRY(core::write_all(file.get(), line.dump(-1) + "\n", path));
  if (::fdatasync(file.get()) != 0) return core::fail_errno(errno, path);
  return {};
}

// Nothing was tried under it: the baseline did not load.
bool only_a_subject(const std::string& text) { return std::count(text.begin(), text.end(), '\n') <= 1; }

core::Result<std::vector<Trial>> read_journal(const std::string& text, const Json& subject, const std::string& path) {
  std::vector<Trial> trials;
  bool first = true;
  for (const std::string_view line : core::split_lines(text)) {
    const auto document = Json::parse(line);
    if (!document) break;  // the last line of a search that was killed
    if (first) {
      if (!((*document)["subject"] == subject))
        return core::fail(ErrorCode::conflict, path + " is of another search (model, options or space differ)",
                          "choose another folder with -o, or remove this one");
      first = false;
      continue;
    }
    AACO_ASSIGN(Trial trial, trial_from_json(*document));
    const auto same =
        std::find_if(trials.begin(), trials.end(), [&](const Trial& one) { return one.configuration == trial.configuration; });
    if (same == trials.end())
      trials.push_back(std::move(trial));
    else
      *same = std::move(trial);
  }
  return trials;
}

core::Result<core::FileDescriptor> hold(const std::string& folder) {
  core::FileDescriptor held(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!held.valid()) return core::fail_errno(errno, folder);
  if (::flock(held.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return core::fail(ErrorCode::conflict, "another search is at work in " + folder,
                      "wait for it, or choose another folder with -o");
  return held;
}

void remove_leftovers(const std::string& folder) {
  if (const auto files = core::list_directory(folder))
    for (const std::string& file : *files)
      if (core::base_name(file).starts_with(".outputs")) (void)core::remove_tree(core::join_path(folder, core::base_name(file)));
}

}  // namespace

core::Result<Journal> Journal::open(const std::string& folder, const Json& subject) {
  AACO_TRY(core::make_directories(folder));
  AACO_ASSIGN(core::FileDescriptor held, hold(folder));
  remove_leftovers(folder);
  const std::string path = core::join_path(folder, "journal.jsonl");
  std::vector<Trial> earlier;
  std::string whole;
  if (core::exists(path)) {
    AACO_ASSIGN(const std::string text, core::read_file(path));
    if (!only_a_subject(text)) {
      AACO_ASSIGN(earlier, read_journal(text, subject, path));
      whole = text.substr(0, text.rfind('\n') + 1);
    }
    if (whole.size() != text.size()) AACO_TRY(core::write_file_atomic(path, whole));
  }
  core::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file.valid()) return core::fail_errno(errno, path);
  Journal journal(std::move(held), std::move(file), path);
  journal.earlier_ = std::move(earlier);
  if (whole.empty()) AACO_TRY(append_line(journal.file_, path, Json::object({{"schema_version", 1}, {"subject", subject}})));
  return journal;
}

core::Status Journal::add(const Trial& trial) { return append_line(file_, path_, to_json(trial)); }

}  // namespace aaco::workflows

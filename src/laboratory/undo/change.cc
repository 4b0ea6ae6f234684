#include "laboratory/undo/change.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::laboratory::undo {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kFileLimit = 1 << 20;
constexpr int kEmptyingTries = 50;  // a group is empty a moment after its last process has gone
constexpr std::chrono::milliseconds kEmptyingWait{10};

std::string below(const World& world, std::string_view folder) { return core::join_path(world.root, folder); }

bool may_be_written(const std::string& path, const World& world) {
  if (path.find("/../") != std::string::npos) return false;
  return path.starts_with(below(world, "sys/")) || path.starts_with(below(world, "proc/sys/"));
}

core::Result<bool> undo_file(const Change& change) {
  auto text = core::read_file(change.path, kFileLimit);
  if (!text) {
    if (text.error().code == ErrorCode::not_found) return false;  // the device or the group has gone
    return tl::unexpected<core::Error>(std::move(text.error()));
  }
  const std::string now = value_in(*text);
  if (now == change.before || now != change.made) return false;
  AACO_TRY(write_control(change.path, change.before));
  return true;
}

core::Result<bool> undo_group(const Change& change) {
  if (!core::exists(change.path)) return false;
  for (int attempt = 0;; ++attempt) {
    if (const auto inside = core::read_file(core::join_path(change.path, "cgroup.procs"), kFileLimit))
      for (const std::string_view process : core::split_words(*inside))
        (void)write_control(core::join_path(change.home, "cgroup.procs"), std::string(process));
    if (::rmdir(change.path.c_str()) == 0) return true;
    if (errno == ENOENT) return false;
    if (errno != EBUSY || attempt == kEmptyingTries)
      return core::fail_errno(errno, "removing the cgroup " + change.path, "processes may still be in it");
    std::this_thread::sleep_for(kEmptyingWait);
  }
}

std::optional<std::int64_t> start_ticks_of(const World& world, std::int64_t process_id) {
  const auto text = core::read_file(below(world, "proc/" + std::to_string(process_id) + "/stat"), kFileLimit);
  const auto name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return std::nullopt;
  const auto words = core::split_words(std::string_view(*text).substr(name_end + 1));
  constexpr std::size_t kState = 0, kStart = 19;  // after the name: proc(5)
  if (words.size() <= kStart || words[kState] == "Z" || words[kState] == "X") return std::nullopt;
  return core::parse_i64(words[kStart]);
}

}  // namespace

std::string value_in(std::string_view text) {
  const auto open = text.find('['), close = text.find(']');
  if (open != std::string_view::npos && close != std::string_view::npos && open < close)
    return std::string(text.substr(open + 1, close - open - 1));
  return std::string(core::trim(text));
}

core::Status write_control(const std::string& path, const std::string& text) {
  const core::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!file.valid()) return core::fail_errno(errno, path);
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return core::fail_errno(errno, path);
  return {};
}

Json to_json(const Change& change) {
  if (change.kind == Change::Kind::group) return Json::object({{"group", change.path}, {"home", change.home}});
  return Json::object({{"file", change.path}, {"before", change.before}, {"made", change.made}});
}

core::Result<Change> change_from_json(const Json& document, const World& world) {
  Change change;
  const std::string group(document["group"].text());
  if (!group.empty()) {
    change.kind = Change::Kind::group;
    change.path = group;
    change.home = std::string(document["home"].text());
    if (!core::base_name(group).starts_with(kGroupPrefix) || !may_be_written(group, world) || !may_be_written(change.home, world))
      return core::fail(ErrorCode::invalid_input, "'" + group + "' is not a cgroup created by AACO");
    return change;
  }
  change.path = std::string(document["file"].text());
  change.before = std::string(document["before"].text());
  change.made = std::string(document["made"].text());
  if (!may_be_written(change.path, world) || change.before.empty() || change.made.empty())
    return core::fail(ErrorCode::invalid_input, "'" + change.path + "' is not a setting that AACO changes");
  return change;
}

std::string to_text(const Change& change) {
  if (change.kind == Change::Kind::group) return "cgroup " + change.path;
  return change.path + " is " + change.made + ", was " + change.before;
}

core::Result<bool> undo(const Change& change) {
  return change.kind == Change::Kind::group ? undo_group(change) : undo_file(change);
}

Owner owner_of(const World& world, std::int64_t process_id) {
  Owner owner;
  owner.process_id = process_id;
  owner.start_ticks = start_ticks_of(world, process_id).value_or(-1);
  const auto boot = core::read_file(below(world, "proc/sys/kernel/random/boot_id"), kFileLimit);
  if (boot) owner.boot_id = std::string(core::trim(*boot));
  return owner;
}

core::Result<Noted> read_journal(const std::string& path, const World& world) {
  AACO_ASSIGN(const std::string text, core::read_file(path, kFileLimit));
  Noted noted;
  bool first = true;
  std::size_t at = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; at = end + 1, end = text.find('\n', at)) {
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const auto document = Json::parse(line);
    if (first) {
      first = false;
      const auto process = document ? (*document)["process_id"].as_i64() : std::nullopt;
      const auto start = document ? (*document)["start_ticks"].as_i64() : std::nullopt;
      if (!process || !start) return core::fail(ErrorCode::invalid_input, path + " does not start with an owner record");
      noted.owner = {*process, *start, std::string((*document)["boot_id"].text())};
      noted.purpose = std::string((*document)["purpose"].text());
      continue;
    }
    auto change = document ? change_from_json(*document, world)
                           : core::Result<Change>(core::fail(ErrorCode::invalid_input, "a line is not valid JSON"));
    if (change)
      noted.changes.push_back(std::move(*change));
    else
      noted.damaged.push_back(path + ": " + change.error().message);
  }
  return noted;
}

}  // namespace aaco::laboratory::undo

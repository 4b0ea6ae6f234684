#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/files.h"
#include "core/json.h"
#include "laboratory/undo/change.h"

namespace aaco::laboratory::undo {
namespace {

using core::ErrorCode;
using core::Json;

std::string whole(const World& world, const std::string& path) {
  return core::join_path(world.root, std::string_view(path).substr(path.starts_with('/') ? 1 : 0));
}

core::Status sync_folder(const std::string& folder) {
  const core::FileDescriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle.valid() || ::fsync(handle.get()) != 0) return core::fail_errno(errno, "syncing " + folder);
  return {};
}

tl::unexpected<core::Error> not_settable(int problem, const std::string& path) {
  const bool denied = problem == EACCES || problem == EPERM || problem == EROFS;
  return core::fail(denied ? ErrorCode::permission : ErrorCode::unsupported, path + ": " + std::strerror(problem),
                    denied ? "run as root, with a writable /sys" : "");
}

}  // namespace

core::Result<Journal> Journal::open(World world, std::string purpose) {
  if (world.folder.empty())
    return core::fail(ErrorCode::invalid_argument, "no folder is set for the change journal, so no setting may be changed");
  return Journal(std::move(world), std::move(purpose));
}

Journal::Journal(Journal&& other) noexcept
    : world_(std::move(other.world_)),
      purpose_(std::move(other.purpose_)),
      path_(std::exchange(other.path_, {})),
      file_(std::move(other.file_)),
      machine_lock_(std::move(other.machine_lock_)) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(world_, other.world_);
  std::swap(purpose_, other.purpose_);
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(machine_lock_, other.machine_lock_);
  return *this;
}

Journal::~Journal() { (void)restore(); }

core::Status Journal::begin() {
  if (file_.valid()) return {};
  AACO_TRY(core::make_writable_folder(world_.folder, "XDG_CACHE_HOME"));
  // The real process stands in the real /proc, whatever root its changes are below.
  const Owner owner = owner_of({"/", world_.folder}, ::getpid());
  // Named a journal only when its owner stands in it, so that nobody takes it for one without. Several of one process are told
  // apart.
  std::string made = core::join_path(world_.folder, std::to_string(owner.process_id) + "-XXXXXX");
  file_ = core::FileDescriptor(::mkostemp(made.data(), O_APPEND | O_CLOEXEC));
  if (!file_.valid())
    return core::fail_errno(errno, "the change journal in " + world_.folder, "set XDG_CACHE_HOME to a writable folder");
  path_ = made + std::string(kEnding);
  AACO_TRY(note(Json::object({{"process_id", owner.process_id},
                              {"start_ticks", owner.start_ticks},
                              {"boot_id", owner.boot_id},
                              {"purpose", purpose_}})
                    .dump(-1)));
  AACO_TRY(core::rename_path(made, path_));
  return sync_folder(world_.folder);
}

core::Status Journal::note(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(file_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) || ::fdatasync(file_.get()) != 0)
    return core::fail_errno(errno, "writing the change journal " + path_, "settings are only changed if they can be restored");
  return {};
}

// Held until the end: two owners that each put the machine's settings back would undo each other.
core::Status Journal::lock_machine() {
  if (machine_lock_.valid()) return {};
  const std::string path = core::join_path(world_.folder, "machine.lock");
  core::FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return core::fail_errno(errno, path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return core::fail(ErrorCode::conflict, "another run has changed the machine's settings", "wait for it to finish");
  machine_lock_ = std::move(lock);
  return {};
}

core::Result<std::string> Journal::set_file(const std::string& path, const std::string& value) {
  Change change{Change::Kind::file, whole(world_, path), {}, value, {}};
  auto text = core::read_file(change.path, 1 << 20);
  if (!text && text.error().code == ErrorCode::not_found)
    return core::fail(ErrorCode::unsupported, "this machine has no " + path);
  if (!text) return tl::unexpected<core::Error>(std::move(text.error()));
  change.before = value_in(*text);
  if (change.before == value) return change.before;
  if (::access(change.path.c_str(), W_OK) != 0) return not_settable(errno, path);
  AACO_TRY(begin());
  AACO_TRY(lock_machine());
  AACO_TRY(change_from_json(to_json(change), world_));
  AACO_TRY(note(to_json(change).dump(-1)));
  const core::FileDescriptor file(::open(change.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!file.valid() || ::write(file.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size()))
    return not_settable(errno, path);
  const auto now = core::read_file(change.path, 1 << 20);
  if (!now || value_in(*now) != value)
    return core::fail(ErrorCode::unsupported,
                      path + " was set to '" + value + "' but reads back '" + (now ? value_in(*now) : "") + "'");
  return change.before;
}

core::Result<std::string> Journal::make_group(const std::string& parent, const std::string& home, const std::string& name,
                                              const std::vector<Setting>& settings) {
  const Change change{Change::Kind::group, core::join_path(whole(world_, parent), name), {}, {}, whole(world_, home)};
  AACO_TRY(change_from_json(to_json(change), world_));
  AACO_TRY(begin());
  AACO_TRY(note(to_json(change).dump(-1)));
  if (::mkdir(change.path.c_str(), 0755) != 0 && errno != EEXIST)
    return core::fail(ErrorCode::unsupported, "cannot create a cgroup in " + parent + ": " + std::strerror(errno),
                      "run as root, or in a delegated cgroup");
  for (const Setting& setting : settings)
    if (const auto written = write_control(core::join_path(change.path, setting.file), setting.value); !written)
      return core::fail(ErrorCode::unsupported, "the cgroup rejected the limit: " + written.error().message,
                        "the controller is probably not delegated to this cgroup");
  return change.path;
}

core::Status Journal::restore() {
  if (!file_.valid()) return {};
  const auto noted = read_journal(path_, world_);
  core::Status outcome;
  if (noted)
    for (auto change = noted->changes.rbegin(); change != noted->changes.rend(); ++change)
      if (const auto undone = undo(*change); !undone && outcome) outcome = tl::unexpected<core::Error>(undone.error());
  if (!noted) outcome = tl::unexpected<core::Error>(noted.error());
  file_.reset();
  machine_lock_.reset();
  if (outcome) AACO_TRY(core::remove_tree(path_));
  path_.clear();
  return outcome;
}

}  // namespace aaco::laboratory::undo

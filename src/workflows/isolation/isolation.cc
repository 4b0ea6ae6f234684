#include "workflows/isolation.h"

#include "core/files.h"
#include "workflows/isolation/attended_child.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

using core::Json;
namespace capsule = laboratory::capsule;
namespace undo = laboratory::undo;

Json to_json(const IsolationRequest& request) {
  if (!request.wanted()) return {};
  Json changes = Json::texts(request.changes);
  return Json::object({{"level", request.level.empty() ? Json() : Json(request.level)}, {"changes", std::move(changes)}});
}

undo::World undo_world(const Services& services) { return {"/", core::join_path(services.paths.cache, "undo")}; }

core::Result<undo::Restored> restore_left_behind(const Services& services) { return undo::restore_dead(undo_world(services)); }

core::Result<std::vector<undo::OpenChange>> open_changes(const Services& services) { return undo::list(undo_world(services)); }

core::Result<capsule::LevelBook> load_levels(const Services& services) {
  return capsule::LevelBook::load(core::join_path(services.paths.share, "data/isolation/levels.yaml"));
}

core::Result<capsule::Wanted> wanted_isolation(const IsolationRequest& request, const Services& services) {
  AACO_ASSIGN(const auto book, load_levels(services));
  return capsule::make_wanted(book, request.level, request.changes);
}

void restart_for(const IsolationRequest& request, const Services& services) {
  if (!request.wanted()) return;
  const auto wanted = wanted_isolation(request, services);
  if (wanted && wanted->settings.contains("aslr")) capsule::restart_without_aslr(services.command_line);
}

core::Result<Isolation> Isolation::enter(const IsolationRequest& request, bool for_child, std::optional<int> threads,
                                         const Services& services) {
  Isolation isolation;
  // That an old journal cannot be read keeps nobody from measuring.
  if (auto restored = restore_left_behind(services))
    isolation.restored_ = std::move(*restored);
  else
    isolation.restored_.left.push_back(restored.error().message);
  if (!request.wanted()) return isolation;
  AACO_ASSIGN(auto wanted, wanted_isolation(request, services));
  wanted.for_child = for_child;
  wanted.threads = threads;
  isolation.level_ = wanted.level;
  AACO_ASSIGN(isolation.capsule_, capsule::Capsule::enter(wanted, undo_world(services)));
  return isolation;
}

std::vector<hardware::Fact> Isolation::facts() const {
  if (!capsule_ || capsule_->set().empty()) return {};
  return {{"isolation", capsule::isolation_text(capsule_->set())}};
}

Json Isolation::describe() const { return capsule_ ? capsule::to_json(capsule_->set(), capsule_->not_set(), level_) : Json(); }

void Isolation::tell(SessionDraft& draft) const {
  for (const std::string& text : restored_.left)
    draft.warn("isolation.left_behind", "cannot restore a setting changed by a killed run: " + text,
               "run 'aaco capsule restore' to try again");
  if (!capsule_ || capsule_->not_set().empty()) return;
  std::string list, remedy;
  for (const auto& one : capsule_->not_set()) {
    list += (list.empty() ? "" : "; ") + one.id + "=" + one.value + " (" + one.reason + ")";
    if (!one.remedy.empty()) remedy += (remedy.empty() ? "" : "; ") + one.id + ": " + one.remedy;
  }
  draft.warn("isolation.partly", "isolation incomplete: " + list, remedy);
}

void Isolation::step_out() {
  if (capsule_) capsule_->step_out();
}

core::Status Isolation::leave() { return capsule_ ? capsule_->leave() : core::Status(); }

void Isolation::leave(SessionDraft& draft) {
  if (const auto left = leave(); !left)
    draft.warn("isolation.not_restored", "cannot restore the settings changed for isolation: " + left.error().message,
               "run 'aaco capsule restore' to try again");
}

core::Result<CapsuleOutcome> run_isolated(const IsolationRequest& request, const std::vector<std::string>& command,
                                          const std::function<void(const Json& isolation)>& entered, const Services& services) {
  AACO_ASSIGN(auto isolation, Isolation::enter(request, true, std::nullopt, services));
  CapsuleOutcome outcome;
  outcome.isolation = isolation.describe();
  entered(outcome.isolation);
  AACO_ASSIGN(auto child, AttendedChild::start(command, services));
  isolation.step_out();
  outcome.exit_code = child.wait(std::nullopt, services, [] {}).exit_code;
  AACO_TRY(isolation.leave());
  return outcome;
}

}  // namespace aaco::workflows

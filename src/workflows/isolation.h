#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "hardware/fingerprint.h"
#include "laboratory/capsule.h"
#include "laboratory/undo.h"
#include "workflows/isolation_request.h"
#include "workflows/services.h"

namespace aaco::workflows {

class SessionDraft;

core::Json to_json(const IsolationRequest& request);  // null where nothing is wanted

// Where changes to the machine are noted until they are undone: one place for everything that makes any.
laboratory::undo::World undo_world(const Services& services);
// Undoes what killed runs left behind. Every verb that measures calls it before it begins.
core::Result<laboratory::undo::Restored> restore_left_behind(const Services& services);
core::Result<std::vector<laboratory::undo::OpenChange>> open_changes(const Services& services);

core::Result<laboratory::capsule::LevelBook> load_levels(const Services& services);
core::Result<laboratory::capsule::Wanted> wanted_isolation(const IsolationRequest& request, const Services& services);
// Begins this process again without randomised addresses where the request asks for that. Returns otherwise. For the faces,
// before anything else is done.
void restart_for(const IsolationRequest& request, const Services& services);

// The isolation of one measurement; left at the end of the owner's life.
class Isolation {
 public:
  // Undoes what killed ones left behind, then enters. Nothing is changed where nothing is wanted. `for_child`: what is measured
  // is a program that is started from here.
  static core::Result<Isolation> enter(const IsolationRequest& request, bool for_child, std::optional<int> threads,
                                       const Services& services);

  // CPUs inside, where they were chosen.
  [[nodiscard]] std::optional<int> cpus() const { return capsule_ ? capsule_->cpus() : std::nullopt; }
  // "isolation", where anything was set: another isolation is another setting.
  [[nodiscard]] std::vector<hardware::Fact> facts() const;
  [[nodiscard]] core::Json describe() const;  // level, set, not_set; null without isolation
  // A warning of what could not be set, and of what an earlier run left behind.
  void tell(SessionDraft& draft) const;
  void step_out();
  // Puts everything back; what could not be is a warning.
  void leave(SessionDraft& draft);
  core::Status leave();

 private:
  std::string level_;
  std::unique_ptr<laboratory::capsule::Capsule> capsule_;
  laboratory::undo::Restored restored_;
};

// `aaco capsule -- COMMAND`: the command's own exit code.
struct CapsuleOutcome {
  int exit_code = 0;
  core::Json isolation;
};
core::Result<CapsuleOutcome> run_isolated(const IsolationRequest& request, const std::vector<std::string>& command,
                                          const std::function<void(const core::Json& isolation)>& entered,
                                          const Services& services);

}  // namespace aaco::workflows

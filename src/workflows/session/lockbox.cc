#include "hardware/inventory.h"
#include "hardware/secrets.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

using core::Json;

core::Status SessionDraft::write_lockbox(std::vector<hardware::Fact> subject, const Json& libraries) {
  const hardware::Inventory inventory = hardware::take_inventory("/", services_->environment);
  std::vector<hardware::Fact> facts = machine_facts(inventory);
  facts.insert(facts.end(), std::make_move_iterator(subject.begin()), std::make_move_iterator(subject.end()));
  const hardware::Fingerprint fingerprint = make_fingerprint(std::move(facts));
  manifest_.fingerprint = fingerprint.hash;
  const auto command = hardware::clean_command(services_->command_line);
  Json document = to_json(inventory);
  document.set("libraries", libraries);
  document.set("command", Json::texts(command.words));
  document.set("command_values_removed", command.removed);
  document.set("tool_version", services_->tool_version);
  document.set("fingerprint", to_json(fingerprint));
  return writer_->write_json("env.json", document);
}

}  // namespace aaco::workflows

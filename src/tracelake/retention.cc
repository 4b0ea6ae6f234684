#include <algorithm>

#include "core/files.h"
#include "core/numbers.h"
#include "tracelake/bundle.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake {
namespace {

constexpr std::int64_t kAbandonedAfterNs = std::int64_t{24} * 3600 * 1'000'000'000;

bool is_kept(const SessionEntry& entry, const RetentionPolicy& policy) {
  if (entry.writer && entry.writer->alive) return true;
  if (policy.keep_tagged && (!entry.manifest.tag.empty() || !entry.noted_tags.empty())) return true;
  return std::find(policy.keep_ids.begin(), policy.keep_ids.end(), entry.manifest.id.text) != policy.keep_ids.end();
}

// Why a session goes by itself; empty where it may stay.
std::string reason_of(const SessionEntry& entry, const RetentionPolicy& policy, std::int64_t now_ns) {
  const std::int64_t created = entry.manifest.created_realtime_ns;
  const std::int64_t age = now_ns - created;
  const std::string words = core::format_duration(static_cast<double>(age));
  if (entry.writer && age > kAbandonedAfterNs) return "incomplete and abandoned by its writer; " + words + " old";
  if (policy.max_age_ns && age > *policy.max_age_ns) return words + " old";
  return {};
}

void remove_now(RetentionAction& action) {
  if (const core::Status removed = remove_session(action.path))
    action.removed = true;
  else
    action.problem = removed.error().text();
}

// What an interrupted removal left behind.
void sweep_removed(const std::string& root) {
  const auto days = core::list_directory(root);
  for (const std::string& day : days.value_or(std::vector<std::string>())) {
    const std::string folder = core::join_path(root, day);
    if (!store::is_date(day)) continue;
    for (const std::string& name : core::list_directory(folder).value_or(std::vector<std::string>()))
      if (name.starts_with(store::kRemovedPrefix)) (void)core::remove_tree(core::join_path(folder, name));
  }
}

}  // namespace

core::Result<std::vector<RetentionAction>> apply_retention(const std::string& root, const RetentionPolicy& policy,
                                                           std::int64_t now_realtime_ns) {
  AACO_ASSIGN(auto entries, list_sessions(root));
  if (!policy.dry_run) sweep_removed(root);
  std::vector<RetentionAction> actions;
  std::vector<RetentionAction> rest;  // oldest first
  std::int64_t total = 0;
  for (const SessionEntry& entry : entries) {
    RetentionAction action{entry.path, core::tree_size(entry.path).value_or(0), {}, false, {}};
    const bool kept = is_kept(entry, policy);
    if (!kept) action.reason = reason_of(entry, policy, now_realtime_ns);
    if (action.reason.empty()) total += action.bytes;
    if (!action.reason.empty())
      actions.push_back(std::move(action));
    else if (!kept)
      rest.push_back(std::move(action));
  }
  for (RetentionAction& action : rest) {
    if (!policy.max_bytes || total <= *policy.max_bytes) break;
    total -= action.bytes;
    action.reason = "total size exceeds " + core::format_bytes(static_cast<double>(*policy.max_bytes));
    actions.push_back(std::move(action));
  }
  if (!policy.dry_run)
    for (RetentionAction& action : actions) remove_now(action);
  return actions;
}

}  // namespace aaco::tracelake

#include <algorithm>

#include "core/files.h"
#include "hardware/registry.h"
#include "hardware/registry/entry_files.h"

namespace aaco::hardware {
namespace {

// "FILE:LINE: what is wrong" into where and what; a message of another form stays whole.
Problem problem_of(std::string rule, const core::Error& error, const std::string& file) {
  Problem problem{std::move(rule), file, error.message, error.remedy};
  const std::size_t digits = file.size() + 1;
  if (!error.message.starts_with(file + ":")) return problem;
  if (error.message.starts_with(file + ": ")) {
    problem.text = error.message.substr(file.size() + 2);
    return problem;
  }
  const std::size_t end = error.message.find(": ", digits);
  if (end == std::string::npos) return problem;
  problem.where = error.message.substr(0, end);
  problem.text = error.message.substr(end + 2);
  return problem;
}

// Reads a file; what it says wrong goes to the audit, an entry that can be used is answered.
std::optional<Device> audit_file(const std::string& file, Audit& audit) {
  auto device = load_device(file);
  if (!device) {
    audit.problems.push_back(problem_of("schema", device.error(), file));
    return std::nullopt;
  }
  for (Violation& violation : check_invariants(*device))
    audit.problems.push_back({std::move(violation.rule), std::move(violation.where), std::move(violation.text), {}});
  return std::move(*device);
}

// Takes the entry to the others where its names are free.
void claim(Device device, std::vector<Device>& accepted, Audit& audit) {
  const std::string where = device.where;
  accepted.push_back(std::move(device));
  const auto registry = DeviceRegistry::of(accepted);
  if (registry) return;
  accepted.pop_back();
  audit.problems.push_back(problem_of("name", registry.error(), where.substr(0, where.rfind(':'))));
}

}  // namespace

core::Result<Audit> audit_registry(const core::Paths& paths) {
  AACO_TRY(registry::require_shipped(paths));
  AACO_ASSIGN(const auto shipped, registry::entry_files(registry::shipped_folder(paths)));
  std::vector<std::string> own;
  if (core::is_directory(registry::own_folder(paths))) {
    AACO_ASSIGN(own, registry::entry_files(registry::own_folder(paths)));
  }
  Audit audit{shipped.size(), own.size(), {}};
  std::vector<Device> users;
  for (const std::string& file : own)
    if (auto device = audit_file(file, audit)) users.push_back(std::move(*device));
  std::vector<Device> accepted;
  for (const std::string& file : shipped) {
    auto device = audit_file(file, audit);
    const auto replaces = [&](const Device& user) { return user.id == device->id; };
    if (device && std::none_of(users.begin(), users.end(), replaces)) claim(std::move(*device), accepted, audit);
  }
  for (Device& device : users) claim(std::move(device), accepted, audit);
  return audit;
}

core::Result<Audit> audit_files(const std::vector<std::string>& files) {
  Audit audit{0, files.size(), {}};
  std::vector<Device> accepted;
  for (const std::string& file : files)
    if (auto device = audit_file(file, audit)) claim(std::move(*device), accepted, audit);
  return audit;
}

}  // namespace aaco::hardware

#include "workflows/gpu/launch_file.h"

namespace aaco::workflows {

using analytics::attribution::ExternalOperator;
using analytics::attribution::Launch;

void LaunchFile::add(const Launch& launch) {
  if (status_) status_ = launches_.add(LaunchRecord{launch});
}

void LaunchFile::add(const ExternalOperator& op) {
  if (status_) status_ = operators_.add(OperatorRecord{op});
}

void LaunchFile::seal() {
  launches_.seal();
  operators_.seal();
}

const Launch* LaunchFile::find(std::int32_t rank, std::uint64_t correlation_id) const {
  if (correlation_id == 0 || !status_) return nullptr;
  bool found = false;
  status_ = launches_.visit({rank, correlation_id}, [&](const LaunchRecord& record) {
    if (!found || record.launches) found_ = record;
    found = true;
    return !record.launches;
  });
  return found && status_ ? &found_ : nullptr;
}

trace::NameId LaunchFile::operator_of(std::int32_t rank, std::uint64_t external_id) const {
  trace::NameId name;
  if (external_id == 0 || !status_) return name;
  status_ = operators_.visit({rank, external_id}, [&](const OperatorRecord& record) {
    name = record.name;
    return false;
  });
  return name;
}

}  // namespace aaco::workflows

#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "analytics/attribution.h"
#include "core/result.h"
#include "workflows/gpu/sorted_records.h"

namespace aaco::workflows {

// The launches and operators of a trace of any size, in bounded memory. Call order: add() all, seal(), then look up. The first
// error is kept: what follows finds nothing, and status() answers for it.
class LaunchFile final : public analytics::attribution::LaunchStore, public analytics::attribution::LaunchLookup {
 public:
  // `folder` holds what exceeds memory.
  explicit LaunchFile(const std::string& folder) : launches_(folder), operators_(folder) {}
  LaunchFile(const std::string& folder, std::size_t run_records)
      : launches_(folder, run_records), operators_(folder, run_records) {}

  void add(const analytics::attribution::Launch& launch) override;
  void add(const analytics::attribution::ExternalOperator& op) override;
  void seal();
  [[nodiscard]] const analytics::attribution::Launch* find(std::int32_t rank, std::uint64_t correlation_id) const override;
  [[nodiscard]] trace::NameId operator_of(std::int32_t rank, std::uint64_t external_id) const override;
  [[nodiscard]] const core::Status& status() const { return status_; }

 private:
  using Key = std::pair<std::int32_t, std::uint64_t>;
  struct LaunchRecord : analytics::attribution::Launch {
    [[nodiscard]] Key key() const { return {rank, correlation_id}; }
  };
  struct OperatorRecord : analytics::attribution::ExternalOperator {
    [[nodiscard]] Key key() const { return {rank, external_id}; }
  };

  SortedRecords<LaunchRecord> launches_;
  SortedRecords<OperatorRecord> operators_;
  mutable core::Status status_;
  mutable analytics::attribution::Launch found_;
};

}  // namespace aaco::workflows

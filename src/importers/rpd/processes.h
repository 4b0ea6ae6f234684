#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "importers/database/process_ranks.h"
#include "importers/database/table_scan.h"

namespace aaco::importers::rpd {

// The processes that a database tells of, as ranks: those that gave work to a GPU, in the order of their numbers.
struct Processes {
  ProcessRanks ranks{{}};
  std::vector<std::int64_t> working;
  // For work that no call names. Since 2024 each process has a range of ids of its own, told by their upper half.
  std::map<std::int64_t, std::int32_t> of_ids;
  std::map<std::int64_t, std::int32_t> of_device;  // of devices that one process alone used
  [[nodiscard]] std::int32_t rank_of_device(std::int64_t device) const {
    const auto place = of_device.find(device);
    return place == of_device.end() ? 0 : place->second;
  }
  // Empty where several processes may have done it.
  [[nodiscard]] std::optional<std::int32_t> rank_of_work(std::int64_t id, std::int64_t device) const;
};
std::int64_t id_range(std::int64_t id);
core::Result<Processes> read_processes(TableScan& scan);

}  // namespace aaco::importers::rpd

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "importers/database/process_ranks.h"
#include "importers/database/table_scan.h"

namespace aaco::importers::rpd {

// The processes that a database tells of, as ranks: those that gave work to a GPU, in the order of their numbers.
struct Processes {
  ProcessRanks ranks{{}};
  std::vector<std::int64_t> working;
  std::map<std::int64_t, std::int32_t> of_device;  // of devices that one process alone used: for work that no call names
  [[nodiscard]] std::int32_t rank_of_device(std::int64_t device) const {
    const auto place = of_device.find(device);
    return place == of_device.end() ? 0 : place->second;
  }
};
core::Result<Processes> read_processes(TableScan& scan);

}  // namespace aaco::importers::rpd

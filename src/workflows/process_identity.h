#pragma once

#include <cstdint>

namespace aaco::workflows {

// When a process started, in ticks since boot; 0: it does not exist. Process ids are used again; with this one is unique.
std::int64_t process_start_ticks(std::int64_t process_id);

}  // namespace aaco::workflows

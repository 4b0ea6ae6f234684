#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aaco::workflows {

// A process and its descendants below `root`/proc, at most 256, as far as the kernel lists children (CONFIG_PROC_CHILDREN).
std::vector<std::int64_t> process_tree(const std::string& root, std::int64_t process_id);

}  // namespace aaco::workflows

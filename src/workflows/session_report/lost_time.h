#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analytics/signals.h"

namespace aaco::workflows {

// What takes at least a tenth of a run's calls and is not its own work, with its share: "48.0 % of it is waiting for a CPU: other
// processes used 1.02 of its 2 CPUs". Empty: nothing does, or it was not measured. From the kernel's account of the calling
// thread; sleep counts where it is what limits the run (`class_id` of the bottleneck is host_waiting), since a caller may also
// sleep while its own threads compute. `allowed_cpus`: those that the process may use; empty: not known. Pure.
std::string lost_time(const analytics::signals::CallAccount& account, std::string_view class_id,
                      std::optional<double> allowed_cpus);

}  // namespace aaco::workflows

#pragma once

#include <string_view>

namespace aaco::importers {

// Whether a kernel of this name belongs to a communication library (NCCL, RCCL, MSCCL).
bool is_collective(std::string_view kernel_name);
// The operation a name speaks of ("all_reduce"), or the empty text ("ncclDevKernel_Generic").
std::string_view collective_operation(std::string_view name);

}  // namespace aaco::importers

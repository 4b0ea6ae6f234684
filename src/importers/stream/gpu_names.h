#pragma once

#include <string_view>

#include "trace/rows.h"

// What the names that profilers give to GPU work say, in the words of our tables.
namespace aaco::importers {

// h2d, d2h, d2d, p2p, h2h from "Memcpy HtoD (Pageable -> Device)", "CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE" and the like;
// else unknown.
std::string_view copy_direction_of(std::string_view name);

// "cudaLaunchKernel_v7000" is cudaLaunchKernel of CUDA 7; the 2 of "cuMemFree_v2" belongs to the name.
std::string_view call_without_version(std::string_view name);

// Whether a kernel of this name belongs to NCCL, RCCL or MSCCL.
bool is_collective_kernel(std::string_view name);

// The operation (all_reduce, send, ...) that the name of a collective's kernel or call speaks of, or the empty text
// ("ncclDevKernel_Generic").
std::string_view collective_operation_of(std::string_view name);

// What is known of the collective that a kernel is from the kernel alone.
trace::CollectiveRow collective_of(const trace::KernelRow& kernel, trace::NameId operation);

}  // namespace aaco::importers

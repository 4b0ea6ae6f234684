#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "importers/importer.h"

namespace aaco::importers::nsys_stats {

// What a report of "nsys stats --format csv" holds.
enum class Report : std::uint8_t {
  gpu_work,  // cuda_gpu_trace: kernels, copies, memsets
  calls,     // cuda_api_trace
  ranges,    // nvtx_pushpop_trace
  unusable,  // sums (cuda_gpu_kern_sum and the like) and projections: no times of their own
};

// By the first report in the first bytes of a file, behind what nsys says before it; empty: none.
std::optional<Report> report_of(std::string_view head);

// Reports of NVIDIA Nsight Systems as CSV, 2020 to 2026; a text may hold several, one after the other. Units stand in the
// headings. Kernels do not say which process they are of. Fails where there is no report with times.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::nsys_stats

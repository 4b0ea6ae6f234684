#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "importers/importer.h"

namespace aaco::importers::nsys_stats {

// Content of a report of "nsys stats --format csv".
enum class Report : std::uint8_t {
  gpu_work,  // cuda_gpu_trace: kernels, copies, memsets
  calls,     // cuda_api_trace
  ranges,    // nvtx_pushpop_trace
  unusable,  // sums (cuda_gpu_kern_sum etc.) and projections: no event times
};

// Detected from the first report in the first bytes of a file, after any nsys messages; empty: none.
std::optional<Report> report_of(std::string_view head);

// Reports of NVIDIA Nsight Systems as CSV, 2020 to 2026; a text may contain several in sequence. Units are in the
// headings. Kernels do not state their process. Fails without a report with times.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::nsys_stats

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace aaco::report {

class TextPage;
struct ReportModel;

// The devices of a trace, what limits each, and the families of kernels that ran.
struct GpuSection {
  struct Device {
    std::string name;                  // "GPU 0, rank 1"
    std::optional<std::string> bound;  // compute, communication, copy, launch, waiting
    std::optional<double> active_ratio;
    std::string active_ratio_band;  // of data/metrics; empty: none
    std::optional<double> launch_tax;
    std::string launch_tax_band;
    std::optional<double> launch_lost_ratio;
    std::optional<double> kernels_per_node;
    std::string kernels_per_node_band;
    std::optional<double> queue_depth, api_mean_ns, queue_mean_ns, execution_mean_ns, roofline_ratio;
  };
  struct Family {
    std::string family;
    std::int64_t kernel_count = 0, kernel_sum_ns = 0;
    double share_ratio = 0;  // of the kernel time
  };
  // How the trace was counted.
  struct Convention {
    std::string orphan_kernels, memset, span;
  };
  struct Rank {
    std::int64_t rank = 0, span_ns = 0, compute_ns = 0, collective_count = 0, collective_sum_ns = 0, exposed_collective_ns = 0,
                 idle_ns = 0;
    std::optional<double> step_mean_ns;
  };
  std::vector<Device> devices;
  std::vector<Family> families;
  std::optional<Convention> convention;
  std::vector<Rank> ranks;  // empty: one rank
};

// What caused the kernels, and by which method that was found.
struct Attribution {
  struct Method {
    std::string method;
    std::int64_t kernel_count = 0, kernel_sum_ns = 0;
  };
  struct Operator {
    std::string name;
    std::int64_t kernel_count = 0, kernel_sum_ns = 0;
  };
  std::int64_t kernel_count = 0, attributed_kernel_count = 0, kernel_sum_ns = 0, attributed_kernel_sum_ns = 0;
  std::vector<Method> methods;
  std::vector<Operator> operators;  // most time first
};

// When the devices were idle, and why.
struct Gaps {
  struct Cause {
    std::string cause;
    std::int64_t gap_count = 0, idle_ns = 0;
  };
  struct Gap {
    std::int64_t rank = 0, device = 0, start_ns = 0, length_ns = 0;
    std::string cause;
    double confidence_ratio = 0;
    std::string previous, next;           // the work before and after it
    std::optional<std::string> evidence;  // the host event that names the cause
    std::optional<std::int64_t> host_run_queue_ns, host_off_cpu_ns;
    std::optional<std::string> host_cause;  // what took most of it (data/gaps)
    std::optional<std::int64_t> host_cause_ns;
  };
  // What the launching threads did in all gaps.
  struct HostCause {
    std::string cause, title, remedy;
    std::int64_t gap_count = 0, idle_ns = 0;
  };
  // Of the threads that launched late, where their scheduling was recorded.
  struct Host {
    std::int64_t gap_count = 0, run_queue_ns = 0, off_cpu_ns = 0;
  };
  std::vector<Cause> causes;
  std::vector<HostCause> host_causes;     // largest first
  std::optional<double> explained_ratio;  // of the time in gaps
  std::vector<Gap> longest;
  std::optional<Host> host;
};

// The words for a gap's cause: "host_late" is "late launch".
std::string cause_words(std::string_view cause);
core::Json to_json(const GpuSection& section);
core::Json to_json(const Attribution& section);
core::Json to_json(const Gaps& section);
void write_text(TextPage& page, const GpuSection& section, const ReportModel& model);
void write_text(TextPage& page, const Attribution& section, const ReportModel& model);
void write_text(TextPage& page, const Gaps& section, const ReportModel& model);

}  // namespace aaco::report

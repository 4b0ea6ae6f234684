#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "analytics/attribution.h"
#include "analytics/fingerprint.h"
#include "core/json.h"
#include "graph/cost.h"
#include "hardware/device.h"
#include "trace/names.h"
#include "trace/rows.h"

// The work of GPU kernels, as far as a trace shows it, and how close they came to the device limits.
namespace aaco::analytics::roofline {

// An elementwise, normalising or softmax operator over rows x cols elements, called as estimation/kernel.h calls it.
struct RowSite {
  std::string op;
  std::int64_t rows = 1, cols = 0;
  bool operator==(const RowSite&) const = default;
};
using OperatorSite = std::variant<std::monostate, graph::GemmSite, graph::ConvolutionSite, graph::AttentionSite, RowSite>;

// Arithmetic and minimum traffic (every operand once) of one kernel of an operator.
struct OperatorWork {
  double flops = 0;  // a multiply-add counts as two
  double bytes = 0;
  std::string dtype;  // as named in data/hardware
  fingerprint::Family family = fingerprint::Family::other;
  int kernels = 1;         // of the family that do this much each (a convolution's two gradients)
  OperatorSite site = {};  // the sizes that determine its time
  bool gradient = false;   // of the site's operator: as much work in each kernel, but another program
  bool operator==(const OperatorWork&) const = default;
};

// From the shapes and types that the PyTorch profiler records ("Input Dims", "Input type", "Concrete Inputs"). Knows matrix
// products, convolutions and attention of ATen, and their gradients; empty for anything else and if a shape or a stride is
// missing.
std::optional<OperatorWork> operator_work(std::string_view operator_name, const core::Json& arguments);

// The same, and the row-wise operators of ATen, whose work is their traffic.
std::optional<OperatorWork> operator_site(std::string_view operator_name, const core::Json& arguments);

enum class WorkSource : std::uint8_t { shapes, counters };
std::string_view to_string(WorkSource source);

// All executions of one kernel in one data type with known work.
struct GroupWork {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  trace::NameId kernel;
  fingerprint::Family family = fingerprint::Family::other;
  std::string dtype;
  WorkSource source = WorkSource::shapes;
  std::int64_t count = 0;
  double time_ns = 0, flops = 0, bytes = 0;  // of all of them
  std::string counters = {};                 // those that were counted, joined by " + "; empty: from shapes
};

// Operators whose shapes a ShapeWork reads.
enum class ShapedOperators : std::uint8_t { products, rows };  // products, convolutions and attention; row-wise operators

// Sums the work of kernels launched by operators of known shape. An operator's work counts once, for the longest of
// its kernels of the matching family; shorter ones of that family (e.g. a convolution's transforms) are auxiliary, and their
// time is added.
class ShapeWork {
 public:
  explicit ShapeWork(const trace::NameTable& names, ShapedOperators operators = ShapedOperators::products)
      : names_(names), operators_(operators) {}
  // Kernels in order of start, with their launch.
  void add(const trace::KernelRow& row, fingerprint::Family family, const attribution::Launch& launch);
  [[nodiscard]] std::vector<GroupWork> finish() const;

 private:
  using Instance = std::tuple<std::int32_t, std::int64_t, std::int64_t>;  // rank, thread, start of the operator
  using Groups = std::map<std::tuple<std::int32_t, std::int64_t, std::uint32_t, std::string>, GroupWork>;
  struct Kernel {
    trace::NameId name;
    fingerprint::Family family = fingerprint::Family::other;
    std::int32_t rank = 0;
    std::int64_t device = 0;
    double time_ns = 0;
  };
  struct Call {
    const OperatorWork* work = nullptr;  // in known_
    std::vector<Kernel> main;            // the longest, as many as the work has
    double helpers_ns = 0;
  };
  static void count(const Call& call, Groups& groups);
  [[nodiscard]] std::optional<OperatorWork> work_of(const attribution::Launch& launch) const;

  const trace::NameTable& names_;
  ShapedOperators operators_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<OperatorWork>> known_;  // by operator, arguments
  std::map<Instance, Call> calls_;                                                        // whose kernels may still come
  std::deque<Instance> order_;
  Groups groups_;
};

// All calls of one operator with one set of shapes and types, for their time per call.
struct SiteGroup {
  std::int32_t rank = 0;
  std::int64_t device = 0;
  trace::NameId operator_name;
  OperatorWork work;
  std::int64_t count = 0, kernels = 0;  // calls, and the kernels launched by them
  double time_ns = 0;                   // of all of these kernels
};

// Sums kernels by launching operator, if its sizes are known: auxiliary kernels together with the main kernel.
// Memory: the distinct sites, at most kMaxSites.
class SiteTimes {
 public:
  static constexpr std::size_t kMaxSites = 20'000;
  explicit SiteTimes(const trace::NameTable& names) : names_(names) {}
  // Kernels in order of start, with the launch they are joined to.
  void add(const trace::KernelRow& row, const attribution::Launch& launch);
  [[nodiscard]] std::vector<SiteGroup> finish() const;

 private:
  using Site = std::tuple<std::int32_t, std::int64_t, std::uint32_t, std::uint32_t>;  // rank, device, operator, arguments
  using Instance = std::tuple<std::int32_t, std::int64_t, std::int64_t>;              // rank, thread, start of the operator
  const trace::NameTable& names_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<OperatorWork>> known_;
  std::map<Site, SiteGroup> groups_;
  std::set<Instance> seen_;  // the newest instances
  std::deque<Instance> order_;
};

// Like ShapeWork, from hardware counters of CDNA GPUs: matrix and vector instructions, bytes fetched and written. Counted
// dispatches are given their kernel's mean time. Kernels with only one of work and traffic counted are skipped.
class CounterWork {
 public:
  explicit CounterWork(const trace::NameTable& names) : names_(names) {}
  void add(const trace::KernelCounterRow& row);
  [[nodiscard]] std::vector<GroupWork> finish(const std::vector<trace::KernelGroupRow>& groups) const;
  // All kernels of which work or traffic was counted; the other one is 0. Where FETCH_SIZE and WRITE_SIZE are missing, traffic is
  // that of the L2's requests to the fabric (TCC_EA*) or of NVIDIA's dram__bytes.
  [[nodiscard]] std::vector<GroupWork> counted(const std::vector<trace::KernelGroupRow>& groups) const;

 private:
  struct Sum {
    double value = 0;
    std::int64_t dispatches = 0;
  };
  using Kernel = std::tuple<std::int32_t, std::int64_t, std::uint32_t>;  // rank, device, name
  const trace::NameTable& names_;
  std::map<Kernel, std::map<std::uint32_t, Sum>> sums_;  // then by counter
};

// A group under the roofs of its device.
struct Placed {
  GroupWork work;
  double peak_flops_per_s = 0;
  double bytes_per_s = 0;
  double ideal_ns = 0;  // max(flops / peak, bytes / bandwidth)
  bool compute_roof = false;
  double reached_ratio = 0;  // ideal / measured; above 1 if caches served part of the traffic
};
// Empty if the device's peak for that type or its bandwidth is not published, or nothing was measured.
std::optional<Placed> place(const GroupWork& work, const hardware::Device& device);

}  // namespace aaco::analytics::roofline

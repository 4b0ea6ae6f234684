#include <fmt/format.h>

#include <algorithm>

#include "core/files.h"
#include "core/strings.h"
#include "laboratory/benchmarks.h"
#include "stats/robust.h"
#include "stats/summary.h"

// The registry's tables: columns as docs/formats/benchmarks.md has them, which `aaco calibrate` reads.
namespace aaco::laboratory {
namespace {

constexpr std::string_view kCallCase = "call";
constexpr std::string_view kLaunchCase = "launch";
constexpr std::string_view kGraphLaunchCase = "graph_launch";

// All visits of one case in one run.
struct Site {
  const BenchmarkCase* one = nullptr;
  std::vector<const BenchmarkVisit*> visits;

  [[nodiscard]] double over(double (*value)(const BenchmarkVisit&)) const {
    std::vector<double> values;
    for (const BenchmarkVisit* visit : visits) values.push_back(value(*visit));
    return stats::median(std::move(values));
  }
  [[nodiscard]] double call_ns() const {
    return over([](const BenchmarkVisit& visit) { return visit.median_ns; });
  }
};

double operator_ratio(const BenchmarkVisit& visit) { return visit.operator_ratio.value_or(1); }

// What a call costs besides its nodes: a call of one tiny node less what such a node costs in a chain. Of several sizes the
// smallest counts: with larger ones the node's own work hides it.
double call_cost_ns(const std::vector<Site>& sites) {
  std::map<std::int64_t, std::pair<double, double>> by_size;  // elements -> call, launch
  for (const Site& site : sites) {
    const bool is_call = site.one->op == kCallCase;
    if (!is_call && site.one->op != kLaunchCase) continue;
    auto& [call, launch] = by_size[site.one->size("rows") * site.one->size("cols")];
    (is_call ? call : launch) = site.call_ns();
  }
  for (const auto& [elements, cost] : by_size)
    if (cost.first > 0 && cost.second > 0) return std::max(0.0, cost.first - cost.second);
  return 0;
}

// Of the operator alone: without the call around it, and without changes of layout that a network does not make there. At least a
// tenth of the call, so that no noise makes it vanish.
double operator_us(const Site& site, double call_cost) {
  const bool whole = site.one->kind == CaseKind::model || site.one->kind == CaseKind::transfer || site.one->op == kLaunchCase ||
                     site.one->op == kGraphLaunchCase || site.one->op == kCallCase;
  const double call = site.call_ns();
  const double alone = whole ? call : std::max(call / 10, call - call_cost) * site.over(operator_ratio);
  return alone / 1e3;
}

std::string optional_number(std::optional<double> value) { return value ? fmt::format("{:.0f}", *value) : ""; }

std::string middle_of(const Site& site, std::optional<double> BenchmarkVisit::*quantity, double unit) {
  std::vector<double> values;
  for (const BenchmarkVisit* visit : site.visits)
    if (visit->*quantity) values.push_back(*(visit->*quantity) / unit);
  return values.empty() ? "" : fmt::format("{:.4g}", stats::median(std::move(values)));
}

std::string power_of(const Site& site) { return middle_of(site, &BenchmarkVisit::power_watts, 1); }

std::string header_of(CaseKind kind) {
  switch (kind) {
    case CaseKind::gemm: return "device,dtype,batch,m,n,k,latency_us,power_w,clock_mhz,source";
    case CaseKind::convolution:
      return "device,dtype,layout,n,c,h,w,k,r,s,pad,stride,dilation,groups,latency_us,power_w,clock_mhz,solver,source";
    case CaseKind::attention:
      return "device,phase,dtype,kv_dtype,batch,isl,step,heads,kv_heads,head_dim,latency_us,power_w,clock_mhz,source";
    case CaseKind::vector: return "device,op,dtype,rows,cols,latency_us,power_w,clock_mhz,source";
    case CaseKind::transfer: return "device,path,peer,bytes,bytes_per_s,latency_us,power_w,clock_mhz,memory_clock_mhz,source";
    case CaseKind::model: break;
  }
  return "device,model,precision,batch,profile,flops,bytes,latency_ms,memory_bytes,loaded_bytes,runtime,source";
}

std::string model_row(const Site& site, const std::string& device, const std::string& source) {
  const BenchmarkCase& one = *site.one;
  const BenchmarkVisit& first = *site.visits.front();
  std::string profile;
  for (const auto& [name, size] : one.sizes)
    if (name != "batch") profile += fmt::format("{}{}={}", profile.empty() ? "" : " ", name, size);
  // The most that any visit kept above what was there before the model was loaded, and of it what loading took.
  std::optional<double> memory, loaded;
  for (const BenchmarkVisit* visit : site.visits)
    if (visit->resident_peak_bytes) {
      memory = std::max(memory.value_or(0), static_cast<double>(*visit->resident_peak_bytes - *visit->resident_before_bytes));
      loaded = std::max(loaded.value_or(0), static_cast<double>(*visit->resident_loaded_bytes - *visit->resident_before_bytes));
    }
  return fmt::format("{},{},FP32,{},{},{},{},{:.6g},{},{},onnxruntime,{}", device, one.model, one.size("batch"), profile,
                     optional_number(first.flops), optional_number(first.bytes), site.call_ns() / 1e6, optional_number(memory),
                     optional_number(loaded), source);
}

std::string row_of(const Site& site, const std::string& device, const std::string& source, double call_cost) {
  const BenchmarkCase& one = *site.one;
  const double us = operator_us(site, call_cost);
  const std::string watts = power_of(site) + "," + middle_of(site, &BenchmarkVisit::clock_hz, 1e6);
  const auto size = [&](const char* name) { return one.size(name); };
  switch (one.kind) {
    case CaseKind::gemm:
      return fmt::format("{},{},{},{},{},{},{:.6g},{},{}", device, one.dtype, size("batch"), size("m"), size("n"), size("k"), us,
                         watts, source);
    case CaseKind::convolution:
      return fmt::format("{},{},NCHW,{},{},{},{},{},{},{},{}x{},{}x{},{}x{},{},{:.6g},{},,{}", device, one.dtype, size("n"),
                         size("c"), size("h"), size("w"), size("k"), size("r"), size("s"), size("pad"), size("pad"),
                         size("stride"), size("stride"), size("dilation"), size("dilation"), size("groups"), us, watts, source);
    case CaseKind::attention:
      return fmt::format("{},prefill,{},{},{},{},0,{},{},{},{:.6g},{},{}", device, one.dtype, one.dtype, size("batch"),
                         size("tokens"), size("heads"), size("heads"), size("head_dim"), us, watts, source);
    case CaseKind::vector:
      return fmt::format("{},{},{},{},{},{:.6g},{},{}", device, one.op, one.dtype, size("rows"), size("cols"), us, watts, source);
    case CaseKind::transfer: {
      const auto bytes = static_cast<double>(size("bytes"));
      return fmt::format("{},{},{},{},{:.4g},{:.6g},{},{},{}", device, one.op,
                         one.op == "peer" ? std::to_string(size("peer")) : "", size("bytes"), bytes / site.call_ns() * 1e9, us,
                         watts, middle_of(site, &BenchmarkVisit::memory_clock_hz, 1e6), source);
    }
    case CaseKind::model: break;
  }
  return model_row(site, device, source);
}

std::vector<Site> sites_of(const BenchmarkJournal& journal) {
  std::map<std::string, Site> by_id;
  for (const BenchmarkVisit& visit : journal.visits()) {
    if (!visit.error.empty()) continue;
    Site& site = by_id[visit.one.id];
    site.one = &visit.one;
    site.visits.push_back(&visit);
  }
  std::vector<Site> sites;
  for (auto& [id, site] : by_id) sites.push_back(std::move(site));
  return sites;
}

}  // namespace

std::optional<RoundSpread> spread_of(const BenchmarkJournal& journal) {
  std::vector<double> apart;
  for (const Site& site : sites_of(journal)) {
    const auto [fastest, slowest] =
        std::minmax_element(site.visits.begin(), site.visits.end(),
                            [](const BenchmarkVisit* a, const BenchmarkVisit* b) { return a->median_ns < b->median_ns; });
    if (site.visits.size() > 1) apart.push_back((*slowest)->median_ns / (*fastest)->median_ns - 1);
  }
  if (apart.empty()) return std::nullopt;
  std::sort(apart.begin(), apart.end());
  return RoundSpread{static_cast<std::int64_t>(apart.size()), stats::quantile_of_sorted(apart, 0.5),
                     stats::quantile_of_sorted(apart, 0.9)};
}

core::Result<std::vector<BenchmarkTable>> write_tables(const std::string& folder, const std::string& device) {
  std::map<std::string, std::pair<std::string, std::int64_t>> tables;  // file -> text and rows
  AACO_ASSIGN(const std::vector<std::string> names, core::list_directory(folder));
  for (const std::string& name : names) {
    if (!name.ends_with(".jsonl")) continue;
    const auto journal = BenchmarkJournal::read(core::join_path(folder, name));
    if (!journal && journal.error().code == core::ErrorCode::not_found) continue;
    if (!journal) return tl::unexpected<core::Error>(journal.error());
    const std::vector<Site> sites = sites_of(*journal);
    const double call_cost = call_cost_ns(sites);
    for (const Site& site : sites) {
      auto& [text, rows] = tables[site.one->kernel + "_" + site.one->dtype + ".csv"];
      if (text.empty()) text = header_of(site.one->kind) + "\n";
      text += row_of(site, device, journal->run_id(), call_cost) + "\n";
      ++rows;
    }
  }
  std::vector<BenchmarkTable> written;
  for (const auto& [name, table] : tables) {
    const std::string path = core::join_path(folder, name);
    AACO_TRY(core::write_file_atomic(path, table.first));
    written.push_back({path, table.second});
  }
  return written;
}

}  // namespace aaco::laboratory

#include <cmath>

#include "core/numbers.h"
#include "core/strings.h"
#include "importers/rocm/sample_counts.h"
#include "importers/rocm/table_reader.h"
#include "importers/rocm/values.h"

namespace aaco::importers::rocm {
namespace {

using core::Json;

constexpr std::size_t kMaxEntries = 20'000;  // lines of a table that become facts

// A value as JSON: a number where the text is one.
Json json_value(std::string_view text) {
  if (const auto whole = core::parse_i64(text)) return *whole;
  if (const auto whole = core::parse_u64(text)) return static_cast<unsigned long long>(*whole);
  if (const auto number = core::parse_f64(text); number && std::isfinite(*number)) return *number;  // "nan" may be a name
  return clean_utf8(text);
}

Json object_of(const Columns& columns, const CsvFields& fields) {
  Json object = Json::object();
  for (std::size_t i = 0; i < columns.headings().size() && i < fields.size(); ++i)
    if (!fields[i].empty() && !columns.headings()[i].empty())
      object.set(core::to_lower(clean_utf8(columns.headings()[i])), json_value(fields[i]));
  return object;
}

// Agents, sysinfo and roofline: the lines as they stand.
class LineReader final : public TableReader {
 public:
  LineReader(const ReaderContext& context, Table table) : columns_(context.columns), account_(context.account), table_(table) {}

  void record(const CsvFields& fields) override {
    if (lines_.items().size() >= kMaxEntries) return account_.drop("row limit for this table reached");
    account_.keep();
    if (table_ == Table::agents) device(fields);
    lines_.push(object_of(columns_, fields));
  }
  void finish(ImportResult& result) override {
    if (lines_.items().empty()) return;
    if (table_ == Table::roofline) {
      result.facts.set("roofline", std::move(lines_));
      return;
    }
    if (table_ == Table::agents) {
      result.facts.set("devices", std::move(devices_));
      result.facts.set("agents", std::move(lines_));
      return;
    }
    const Json& system = lines_.items().front();
    if (const auto host = system["hostname"].as_string()) result.host = *host;
    Json gpu = Json::object();
    gpu.set_if("name", system["gpu_model"]);
    gpu.set_if("architecture", system["gpu_arch"]);
    gpu.set_if("compute_unit_count", system["cu_per_gpu"]);
    gpu.set_if("wave_size", system["wave_size"]);
    gpu.set_if("clock_mhz", system["max_sclk"]);
    result.facts.set("devices", Json::array({std::move(gpu)}));
    result.facts.set("system", system);
  }

 private:
  // The number that the traces use, by default the logical one ("Agent 1").
  void device(const CsvFields& fields) {
    if (columns_.field(fields, Column::agent_type) != "GPU") return;
    const auto text = [&](const char* heading) -> Json {
      for (std::size_t i = 0; i < columns_.headings().size() && i < fields.size(); ++i)
        if (columns_.headings()[i] == heading && !fields[i].empty()) return json_value(fields[i]);
      return {};
    };
    Json gpu = Json::object();
    gpu.set_if("id", json_value(columns_.field(
                         fields, columns_.has(Column::logical_node_id) ? Column::logical_node_id : Column::node_id)));
    gpu.set_if("node_id", json_value(columns_.field(fields, Column::node_id)));
    gpu.set_if("name", text("Product_Name"));
    gpu.set_if("architecture", text("Name"));
    gpu.set_if("model", text("Model_Name"));
    gpu.set_if("compute_unit_count", text("Cu_Count"));
    gpu.set_if("die_count", text("Num_Xcc"));
    gpu.set_if("clock_mhz", text("Max_Engine_Clk_Fcompute"));
    devices_.push(std::move(gpu));
  }

  const Columns& columns_;
  trace::Account& account_;
  Table table_;
  Json lines_ = Json::array();
  Json devices_ = Json::array();
};

// What the statistics are of, by the file's name: rocprof's "results.stats.csv" is of kernels.
std::string_view subject_of(std::string_view file_name) {
  const std::string name = core::to_lower(file_name);
  constexpr auto kWords = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"domain_stats", "domain"},
      {"alloc", "memory_allocation"},
      {"scratch", "scratch_memory"},
      {"copy", "copy"},
      {"hip", "hip"},
      {"hsa", "hsa"},
      {"marker", "marker"},
      {"rccl", "rccl"},
      {"rocdecode", "rocdecode"},
      {"rocjpeg", "rocjpeg"},
      {"counter_collection", "counter_collection"},
      {"kfd", "kfd"},
  });
  for (const auto& [word, subject] : kWords)
    if (name.find(word) != std::string::npos) return subject;
  return "kernel";
}

class StatisticsReader final : public TableReader {
 public:
  explicit StatisticsReader(const ReaderContext& context)
      : columns_(context.columns), account_(context.account), subject_(subject_of(context.file_name)) {}

  void record(const CsvFields& fields) override {
    const auto calls = count_of(columns_.field(fields, Column::calls));
    const auto total = time_ns(columns_.field(fields, Column::total_ns));
    const Column name = columns_.has(Column::name) ? Column::name : Column::kernel_name;
    if (!calls || !total) return account_.drop("statistic without a numeric value");
    if (entries_.items().size() >= kMaxEntries) return account_.drop("row limit for this table reached");
    account_.keep();
    if (__builtin_add_overflow(calls_, *calls, &calls_) || __builtin_add_overflow(total_ns_, *total, &total_ns_)) whole_ = false;
    Json entry = Json::object({{"name", clean_utf8(columns_.field(fields, name))}, {"calls", *calls}, {"total_ns", *total}});
    entry.set_if("minimum_ns", Json(time_ns(columns_.field(fields, Column::minimum_ns))));
    entry.set_if("maximum_ns", Json(time_ns(columns_.field(fields, Column::maximum_ns))));
    entries_.push(std::move(entry));
  }
  void finish(ImportResult& result) override {
    Json statistics = Json::object({{"subject", subject_}});
    if (whole_) statistics.set("calls", calls_).set("total_ns", total_ns_);
    statistics.set("entries", std::move(entries_));
    result.facts.set("statistics", std::move(statistics));
  }

 private:
  const Columns& columns_;
  trace::Account& account_;
  std::string_view subject_;
  std::int64_t calls_ = 0, total_ns_ = 0;
  bool whole_ = true;  // the sums fit
  Json entries_ = Json::array();
};

class SampleReader final : public TableReader {
 public:
  explicit SampleReader(const ReaderContext& context) : columns_(context.columns), account_(context.account) {}

  void record(const CsvFields& fields) override {
    const auto time = time_ns(columns_.field(fields, Column::sample_time));
    if (!time) return account_.drop(kNoTime);
    account_.keep();
    samples_.add(*time, columns_.field(fields, Column::instruction), columns_.field(fields, Column::instruction_comment),
                 columns_.field(fields, Column::instruction_type), columns_.field(fields, Column::stall_reason),
                 core::parse_u64(columns_.field(fields, Column::dispatch)).value_or(0));
  }
  void finish(ImportResult& result) override {
    if (Json summary = samples_.summary(); summary.is_object()) result.facts.set("program_counter_samples", std::move(summary));
  }

 private:
  const Columns& columns_;
  trace::Account& account_;
  SampleCounts samples_;
};

}  // namespace

std::unique_ptr<TableReader> make_facts_reader(const ReaderContext& context, Table table) {
  if (table == Table::statistics) return std::make_unique<StatisticsReader>(context);
  if (table == Table::samples) return std::make_unique<SampleReader>(context);
  return std::make_unique<LineReader>(context, table);
}

}  // namespace aaco::importers::rocm

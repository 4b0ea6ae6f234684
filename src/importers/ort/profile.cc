#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/numbers.h"
#include "importers/event_scanner.h"
#include "importers/ort_profile.h"
#include "importers/stream/gpu_names.h"
#include "importers/stream/tokens.h"

namespace aaco::importers::ort {
namespace {

namespace sj = simdjson;
using trace::IterationRow;
using trace::NodeExecutionRow;

constexpr std::string_view kKernelTime = "_kernel_time";
constexpr std::size_t kMaxPending = 500'000;            // nodes of one run
constexpr std::int64_t kMaxNs = 9'000'000'000'000'000;  // a hundred days; leaves room for the start, and is exact as a double

// A number that ORT writes as a text ("parameter_size" : "9408").
std::optional<std::int64_t> text_number(const sj::dom::object& args, std::string_view key) {
  std::string_view text;
  if (args[key].get(text) != sj::SUCCESS) return std::nullopt;
  return core::parse_i64(text);
}

// Microseconds, as ns: whole as ORT writes them, broken or a text where another program wrote the file again.
std::optional<std::int64_t> time_ns(const sj::dom::object& object, std::string_view key) {
  std::int64_t whole = 0;
  if (object[key].get(whole) == sj::SUCCESS)
    return __builtin_mul_overflow(whole, 1000, &whole) ? std::optional(INT64_MAX) : std::optional(whole);
  double broken = 0;
  if (object[key].get(broken) == sj::SUCCESS)
    return std::abs(broken) > static_cast<double>(kMaxNs) ? INT64_MAX : std::llround(broken * 1000);
  std::string_view text;
  return object[key].get(text) == sj::SUCCESS ? microseconds_to_ns(text) : std::nullopt;
}

std::string_view text_of(const sj::dom::object& object, std::string_view key) {
  std::string_view text;
  return object[key].get(text) == sj::SUCCESS ? text : std::string_view();
}

// The share of the intra-op pool's threads that did work: "num_run" above zero in the main thread's and the pool's statistics.
std::optional<double> thread_use(const sj::dom::object& args) {
  sj::dom::object stats;
  if (args["thread_scheduling_stats"].get(stats) != sj::SUCCESS) return std::nullopt;
  sj::dom::object sub_threads;
  if (stats["sub_threads"].get(sub_threads) != sj::SUCCESS) return std::nullopt;
  int busy = 1;
  int all = 1;
  for (auto [key, value] : sub_threads) {
    std::int64_t runs = 0;
    if (value["num_run"].get(runs) != sj::SUCCESS) continue;
    ++all;
    if (runs > 0) ++busy;
  }
  return static_cast<double>(busy) / all;
}

struct Span {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
};

class Reader {
 public:
  Reader(trace::Sink& sink, const Options& options, trace::Account& account)
      : sink_(sink), options_(options), account_(account) {}

  core::Status event(std::string_view text) {
    sj::dom::object object;
    if (parser_.parse(text.data(), text.size(), false).get(object) != sj::SUCCESS) {
      account_.drop("not a JSON object");
      return {};
    }
    const std::string_view category = text_of(object, "cat");
    const std::string_view name = text_of(object, "name");
    const auto time = time_ns(object, "ts");
    const auto duration = time_ns(object, "dur");
    if (!time || !duration) {
      account_.drop("no timestamp or duration");
      return {};
    }
    if (*time < 0 || *time > kMaxNs || *duration < 0 || *duration > kMaxNs) {
      account_.drop("timestamp out of range");
      return {};
    }
    const Span span{options_.start_ns + *time, *duration};
    if (category == "Kernel") return kernel(object, name, span);
    if (category == "Node") return node(object, name, span);
    if (category == "Session" && name == "model_run") return model_run(span);
    if (category == "Session" || category == "Api")
      account_.keep();
    else
      account_.drop("unknown event category");
    return {};
  }

  void finish() {
    if (options_.whole_runs_only) {
      if (!pending_.empty()) account_.drop("node of an unfinished run", static_cast<std::int64_t>(pending_.size()));
      pending_.clear();
    }
    for (const NodeExecutionRow& row : pending_) add(row, iteration_);
    if (!pending_.empty())
      account_.notes.push_back(std::to_string(pending_.size()) + " node executions follow the last complete model run");
    pending_.clear();
  }

 private:
  core::Status node(const sj::dom::object& object, std::string_view name, Span span) {
    if (!name.ends_with(kKernelTime)) {  // fence events carry no work of their own
      account_.keep();
      return {};
    }
    NodeExecutionRow row;
    row.start_ns = span.start_ns;
    row.duration_ns = span.duration_ns;
    row.node_name = sink_.name(name.substr(0, name.size() - kKernelTime.size()));
    std::int64_t thread = 0;
    if (object["tid"].get(thread) == sj::SUCCESS) row.thread_id = thread;
    sj::dom::object args;
    if (object["args"].get(args) == sj::SUCCESS) {
      row.op_type = sink_.name(text_of(args, "op_name"));
      row.provider = sink_.name(text_of(args, "provider"));
      row.node_index = text_number(args, "node_index").value_or(-1);
      row.activation_bytes = text_number(args, "activation_size");
      row.parameter_bytes = text_number(args, "parameter_size");
      row.output_bytes = text_number(args, "output_size");
      row.thread_use_ratio = thread_use(args);
      sj::dom::element shapes;
      if (args["input_type_shape"].get(shapes) == sj::SUCCESS) row.input_shapes = sink_.name(sj::minify(shapes));
      if (args["output_type_shape"].get(shapes) == sj::SUCCESS) row.output_shapes = sink_.name(sj::minify(shapes));
    }
    if (pending_.size() >= kMaxPending) {
      account_.drop("node limit per run reached");
      return {};
    }
    pending_.push_back(row);
    return {};
  }

  // What the CUDA and ROCm providers add: GPU kernels, and copies under the same category.
  core::Status kernel(const sj::dom::object& object, std::string_view name, Span span) {
    sj::dom::object args;
    const bool has_args = object["args"].get(args) == sj::SUCCESS;
    const auto number = [&](std::string_view key) -> std::optional<std::int64_t> {
      if (!has_args) return std::nullopt;
      std::int64_t value = 0;
      if (args[key].get(value) == sj::SUCCESS) return value;
      return text_number(args, key);
    };
    account_.keep();
    if (name.starts_with("Memcpy") || name.starts_with("Memset")) {
      trace::CopyRow copy;
      copy.stream = number("stream").value_or(0);
      copy.kind = sink_.name(name.starts_with("Memset") ? "memset" : copy_direction_of(name));
      copy.start_ns = span.start_ns;
      copy.end_ns = copy.start_ns + span.duration_ns;
      sink_.add(copy);
      return {};
    }
    trace::KernelRow row;
    row.queue = -1;
    row.stream = number("stream").value_or(0);
    row.name = sink_.name(name);
    row.start_ns = span.start_ns;
    row.end_ns = row.start_ns + span.duration_ns;
    row.grid_x = number("grid_x");
    row.grid_y = number("grid_y");
    row.grid_z = number("grid_z");
    row.block_x = number("block_x");
    row.block_y = number("block_y");
    row.block_z = number("block_z");
    if (has_args) row.external_id = node_id(args, row.start_ns);
    sink_.add(row);
    return {};
  }

  // The node that a kernel names as its parent, by a number that a row of its own explains once.
  std::uint64_t node_id(const sj::dom::object& args, std::int64_t time_ns) {
    std::string_view name = text_of(args, "parent_name");
    if (name.empty()) return 0;
    if (name.ends_with(kKernelTime)) name.remove_suffix(kKernelTime.size());
    const trace::NameId id = sink_.name(name);
    const auto [place, fresh] = node_ids_.try_emplace(id.value, node_ids_.size() + 1);
    if (!fresh) return place->second;
    trace::ApiCallRow node;
    node.domain = sink_.name("onnx_node");
    node.name = id;
    node.start_ns = node.end_ns = time_ns;
    node.external_id = place->second;
    sink_.add(node);
    return place->second;
  }

  // ORT writes a run's event after those of its nodes.
  core::Status model_run(Span span) {
    if (skipped_ < options_.skip_runs) {
      ++skipped_;
      account_.drop("warm-up of the profiled pass", 1 + static_cast<std::int64_t>(pending_.size()));
      pending_.clear();
      return {};
    }
    IterationRow run;
    run.iteration = iteration_;
    run.phase = sink_.name(options_.phase);
    run.start_ns = span.start_ns;
    run.duration_ns = span.duration_ns;
    sink_.add(run);
    for (const NodeExecutionRow& row : pending_) add(row, iteration_);
    pending_.clear();
    ++iteration_;
    account_.keep();
    return sink_.status();
  }

  void add(NodeExecutionRow row, std::int64_t iteration) {
    row.iteration = iteration;
    sink_.add(row);
    account_.keep();
  }

  sj::dom::parser parser_;
  trace::Sink& sink_;
  Options options_;
  trace::Account& account_;
  std::vector<NodeExecutionRow> pending_;  // of the run whose own event has not come yet
  std::int64_t iteration_ = 0;
  std::int64_t skipped_ = 0;
  std::map<std::uint32_t, std::uint64_t> node_ids_;  // of nodes that kernels name, by name
};

class OrtImporter final : public Importer {
 public:
  explicit OrtImporter(const Options& options) : options_(options) {}
  [[nodiscard]] ImporterInfo info() const override { return {"ort", "ONNX Runtime profile (JSON)", "ort"}; }

  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    const auto first = head.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || head[first] != '[') return false;
    return head.find("model_loading") != std::string_view::npos ||
           head.find("session_initialization") != std::string_view::npos || head.find("_kernel_time") != std::string_view::npos ||
           head.find("\"model_run\"") != std::string_view::npos;
  }

  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    ImportResult result;
    result.account.source = "ort.profile";
    result.clock = options_.start_ns == 0 ? core::ClockId::trace : core::ClockId::monotonic;
    result.facts = core::Json::object();
    Reader reader(sink, options_, result.account);
    AACO_ASSIGN(const ScanEnd end, scan_events(source, [&](std::string_view text) { return reader.event(text); }));
    reader.finish();
    if (result.account.read == 0)
      return core::fail(core::ErrorCode::invalid_input, source.name() + ": ONNX Runtime profile without a single complete event");
    if (!end.complete) {
      result.account.state = trace::Account::State::partial;
      result.account.reason =
          "the file ends inside the event array (" + std::to_string(end.cut_bytes) + " bytes of an incomplete event)";
      result.warnings.push_back({"import.truncated", source.name() + " is truncated: events before the truncation are kept",
                                 "profile again to get the remaining events"});
    }
    AACO_TRY(sink.status());
    return result;
  }

 private:
  Options options_;
};

}  // namespace

std::unique_ptr<Importer> make_importer(const Options& options) { return std::make_unique<OrtImporter>(options); }

}  // namespace aaco::importers::ort

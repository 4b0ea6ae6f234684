#include "workflows/measurement_files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "core/files.h"
#include "core/hash.h"
#include "core/strings.h"
#include "formats/csv.h"
#include "hardware/die.h"
#include "importers/file_source.h"
#include "workflows/calibrate/measurements/measurement_row.h"
#include "workflows/calibrate/measurements/serving_rows.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using estimation::Kernel;

// Beyond these a number is a mistake, of its unit or of who wrote it: nothing can be learnt from it, and one such row spoils a
// fit.
constexpr double kShortestSeconds = 1e-9, kLongestKernelSeconds = 3600, kLongestModelSeconds = 86400;
constexpr double kMinWatts = 1e-3, kMaxWatts = 1e5;

core::Result<Kernel> gemm(const MeasurementRow& row) {
  estimation::GemmShape shape;
  AACO_ASSIGN(shape.batch, row.integer_or("batch", 1));
  AACO_ASSIGN(shape.m, row.integer("m"));
  AACO_ASSIGN(shape.n, row.integer("n"));
  AACO_ASSIGN(shape.k, row.integer("k"));
  return Kernel{shape, {}};
}

core::Result<Kernel> convolution(const MeasurementRow& row) {
  estimation::ConvolutionShape shape;
  AACO_ASSIGN(shape.n, row.integer("n"));
  AACO_ASSIGN(shape.c, row.integer("c"));
  AACO_ASSIGN(shape.h, row.integer("h"));
  AACO_ASSIGN(shape.w, row.integer("w"));
  AACO_ASSIGN(shape.k, row.integer("k"));
  AACO_ASSIGN(shape.r, row.integer("r"));
  AACO_ASSIGN(shape.s, row.integer("s"));
  AACO_ASSIGN(std::tie(shape.pad_h, shape.pad_w), row.pair("pad"));
  AACO_ASSIGN(std::tie(shape.stride_h, shape.stride_w), row.pair("stride"));
  AACO_ASSIGN(std::tie(shape.dilation_h, shape.dilation_w), row.pair("dilation"));
  AACO_ASSIGN(shape.groups, row.integer_or("groups", 1));
  const std::string layout = core::to_lower(row.text("layout"));
  if (layout != "nchw" && layout != "nhwc" && !layout.empty()) return row.wrong("layout", "expected NCHW or NHWC");
  shape.channels_last = layout == "nhwc";
  return Kernel{shape, {}};
}

core::Result<Kernel> attention(const MeasurementRow& row) {
  estimation::AttentionShape shape;
  const std::string phase = core::to_lower(row.text("phase"));
  const bool decode = phase == "decode" || phase == "generation";
  if (phase != "prefill" && phase != "context" && !decode) return row.wrong("phase", "expected prefill or decode");
  shape.prefill = !decode;
  AACO_ASSIGN(shape.batch, row.integer("batch"));
  AACO_ASSIGN(const std::int64_t isl, row.integer("isl"));
  AACO_ASSIGN(const std::int64_t step, row.integer_or("step", 0));
  // A decoding step has isl + step tokens behind it; a prefill computes isl new ones.
  shape.query = decode ? 1 : isl;
  shape.past = decode ? isl + step : step;
  AACO_ASSIGN(shape.heads, row.integer("heads"));
  AACO_ASSIGN(shape.kv_heads, row.integer("kv_heads"));
  AACO_ASSIGN(shape.head_dim, row.integer("head_dim"));
  if (!row.text("kv_dtype").empty()) {
    AACO_ASSIGN(shape.kv_type, row.type("kv_dtype"));
  }
  return Kernel{shape, {}};
}

core::Result<Kernel> vector(const MeasurementRow& row) {
  estimation::VectorShape shape;
  shape.op = core::to_lower(row.text("op"));
  if (shape.op.empty()) return row.wrong("op", "expected an operator");
  AACO_ASSIGN(shape.rows, row.integer("rows"));
  AACO_ASSIGN(shape.cols, row.integer("cols"));
  return Kernel{shape, {}};
}

// Tuning databases hold such rows: of passes backwards, or of padding that they do not write down. Their work is unknown.
bool exceeds_input(const estimation::ConvolutionShape& s) {
  if (std::min({s.h, s.w, s.r, s.s, s.dilation_h, s.dilation_w}) < 1 || s.pad_h < 0 || s.pad_w < 0) return false;
  return s.dilation_h * (s.r - 1) + 1 > s.h + 2 * s.pad_h || s.dilation_w * (s.s - 1) + 1 > s.w + 2 * s.pad_w;
}

constexpr std::string_view kTransfers = "transfers";

using KernelReader = core::Result<Kernel> (*)(const MeasurementRow&);

// A kind of file: the columns that it has and no kind above it, and those that it needs besides.
struct Kind {
  std::string_view name;
  std::vector<std::string_view> signature, needed;
  KernelReader read = nullptr;  // null: whole models, or transfers
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kKinds{
      {"mla", {"phase", "q_len"}, {"dtype", "kv_dtype", "batch", "heads", "kv_len", "latency_us"}, latent_attention},
      {"attention_prefill",
       {"q_len", "kv_len"},
       {"dtype", "kv_dtype", "batch", "heads", "kv_heads", "head_dim", "window", "latency_us"},
       prefill_attention},
      {"attention_decode",
       {"kv_len", "window"},
       {"dtype", "kv_dtype", "batch", "heads", "kv_heads", "head_dim", "latency_us"},
       decode_attention},
      {"moe",
       {"topk", "experts"},
       {"dtype", "tokens", "hidden", "inter", "gated", "tp", "ep", "distribution", "latency_us"},
       experts},
      {"collectives", {"ranks", "ranks_per_node"}, {"kind", "bytes", "dtype", "latency_us"}, collective},
      {"attention", {"phase", "isl"}, {"dtype", "batch", "heads", "kv_heads", "head_dim", "latency_us"}, attention},
      {"conv2d", {"r", "s", "stride"}, {"dtype", "n", "c", "h", "w", "k", "pad", "dilation", "latency_us"}, convolution},
      {"gemm", {"m", "n"}, {"dtype", "k", "latency_us"}, gemm},
      {"vector", {"op", "rows"}, {"cols", "latency_us"}, vector},
      {kTransfers, {"path", "bytes_per_s"}, {"bytes", "latency_us"}, nullptr},
      {"e2e", {"model", "seqlen"}, {"batch", "latency_ms"}, nullptr},
      {"models", {"model"}, {"precision", "batch", "flops", "bytes", "latency_ms"}, nullptr}};
  return kKinds;
}

core::Result<const Kind*> kind_of(const MeasurementRow::Columns& columns, const std::string& name) {
  constexpr double kAlike = 0.5;  // of a kind's columns: then the others are missing, else it is no such table
  const Kind* nearest = nullptr;
  std::vector<std::string_view> lacking;
  double most = kAlike;
  for (const Kind& kind : kinds()) {
    std::vector<std::string_view> wanted = kind.signature, absent;
    wanted.insert(wanted.end(), kind.needed.begin(), kind.needed.end());
    wanted.emplace_back("device");
    for (const std::string_view column : wanted)
      if (!columns.contains(column)) absent.push_back(column);
    if (absent.empty()) return &kind;
    const double present = 1 - static_cast<double>(absent.size()) / static_cast<double>(wanted.size());
    if (present < most || (present == most && nearest != nullptr)) continue;
    most = present;
    nearest = &kind;
    lacking = std::move(absent);
  }
  if (nearest != nullptr)
    return core::fail(ErrorCode::invalid_input, name + ":1: missing columns for a table of " + std::string(nearest->name) + ": " +
                                                    core::join(lacking, ", "));
  return core::fail(
      ErrorCode::invalid_input, name + ":1: the columns match no kind of measurement",
      "expected columns: m, n, k (matrix products); r, s, stride (convolutions); phase, isl or q_len, kv_len, window "
      "(attention); phase, q_len (latent attention); topk, experts (experts); ranks, bytes (collectives); op, rows, "
      "cols (vector operators); model (models)");
}

core::Status add_kernel(const MeasurementRow& row, const Kind& kind, DeviceMeasurements& device, MeasurementFiles& into) {
  estimation::Measurement measured;
  AACO_ASSIGN(measured.kernel, kind.read(row));
  // Collectives move bytes, whatever their type.
  const bool typed = !std::holds_alternative<estimation::CollectiveShape>(measured.kernel.shape);
  measured.kernel.type = typed ? "fp32" : "fp16";
  if (row.has("dtype") && typed) {
    AACO_ASSIGN(measured.kernel.type, row.type("dtype"));
  }
  if (row.infinite("latency_us")) {
    ++into.failed;
    return {};
  }
  AACO_ASSIGN(const double micros,
              row.within("latency_us", kShortestSeconds * 1e6, kLongestKernelSeconds * 1e6, "expected 1 ns to 1 h for a kernel"));
  measured.seconds = micros * 1e-6;
  if (!row.text("power_w").empty()) {
    AACO_ASSIGN(const double watts, row.within("power_w", kMinWatts, kMaxWatts, "expected 1 mW to 100 kW"));
    measured.power_watts = watts;
  }
  if (const auto* shape = std::get_if<estimation::ConvolutionShape>(&measured.kernel.shape); shape && exceeds_input(*shape)) {
    if (into.without_output++ == 0) into.first_without_output = row.where();
    return {};
  }
  if (auto work = estimation::work_of(measured.kernel); !work)
    return core::fail(ErrorCode::invalid_input, row.where() + ": " + work.error().message, work.error().remedy);
  measured.where = row.where();
  device.kernels.push_back(std::move(measured));
  return {};
}

core::Status add_model(const MeasurementRow& row, DeviceMeasurements& device, MeasurementFiles& into) {
  ModelRun run;
  run.model = row.text("model");
  if (run.model.empty()) return row.wrong("model", "expected a model name");
  run.type = "fp32";
  if (row.has("precision")) {
    AACO_ASSIGN(run.type, row.type("precision"));
  }
  run.profile = row.text("profile");
  run.mode = row.text("mode");
  run.option = row.text("option");
  run.runtime = row.text("runtime");
  AACO_ASSIGN(run.batch, row.integer("batch"));
  if (run.batch < 1) return row.wrong("batch", "expected a positive number");
  AACO_ASSIGN(run.sequence, row.integer_or("seqlen", 0));
  if (row.has("flops")) {
    AACO_ASSIGN(run.flops, row.positive("flops"));
    AACO_ASSIGN(run.bytes, row.positive("bytes"));
  }
  if (row.infinite("latency_ms")) {
    ++into.failed;
    return {};
  }
  AACO_ASSIGN(const double millis,
              row.within("latency_ms", kShortestSeconds * 1e3, kLongestModelSeconds * 1e3, "expected 1 ns to 1 day for a model"));
  run.seconds = millis * 1e-3;
  if (!row.text("memory_bytes").empty()) {
    AACO_ASSIGN(const double bytes, row.positive("memory_bytes"));
    run.memory_bytes = bytes;
  }
  run.where = row.where();
  device.models.push_back(std::move(run));
  return {};
}

core::Result<std::string> contents(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  AACO_ASSIGN(const auto source, importers::open_file_source(path));
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    AACO_ASSIGN(const std::size_t got, source->read(buffer));
    if (got == 0) break;
    text.append(buffer.data(), got);
    if (text.size() > kMost)
      return core::fail(ErrorCode::exhausted, path + " is larger than 1 GiB", "split it into several files");
  }
  if (!source->damage().empty()) return core::fail(ErrorCode::invalid_input, path + ": " + source->damage());
  return text;
}

// A whole file, record by record, its devices looked up once each.
class Table {
 public:
  Table(std::string name, const hardware::DeviceRegistry& registry, MeasurementFiles& into)
      : name_(std::move(name)), registry_(registry), into_(into) {}

  core::Status read(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
      return core::fail(ErrorCode::invalid_input, name_ + " is encoded in UTF-16", "save it as UTF-8");
    if (text.find('\n') == std::string_view::npos && text.find('\r') != std::string_view::npos)
      return core::fail(ErrorCode::invalid_input, name_ + ": old Mac line endings (CR) are not supported",
                        "save it with LF or CRLF line endings");
    formats::csv::Decoder decoder;
    const char* at = text.data();
    const char* counted = at;
    const char* const end = text.data() + text.size();
    std::int64_t line = 1;
    while (decoder.next(at, end, true) == formats::csv::Step::record) {
      if (columns_.empty())
        AACO_TRY(header(decoder.fields()));
      else
        AACO_TRY(record(decoder.fields(), line));
      line += std::count(counted, at, '\n');
      counted = at;
    }
    if (columns_.empty()) return core::fail(ErrorCode::invalid_input, name_ + ": no table found");
    return {};
  }

 private:
  core::Status header(const std::vector<std::string_view>& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (!columns_.try_emplace(core::to_lower(core::trim(fields[i])), i).second)
        return core::fail(ErrorCode::invalid_input, name_ + ":1: duplicate column '" + std::string(fields[i]) + "'");
    AACO_ASSIGN(kind_, kind_of(columns_, name_));
    return {};
  }

  core::Status record(const std::vector<std::string_view>& fields, std::int64_t line) {
    const std::string where = name_ + ":" + std::to_string(line);
    if (fields.size() != columns_.size())
      return core::fail(ErrorCode::invalid_input,
                        where + ": " + std::to_string(fields.size()) + " fields, expected " + std::to_string(columns_.size()));
    const MeasurementRow row(columns_, fields, where);
    ++into_.rows;
    AACO_ASSIGN(DeviceMeasurements * device, device_of(row));
    if (device == nullptr) return {};
    if (kind_->name == kTransfers) {
      ++into_.transfers;
      return {};
    }
    const std::string source(row.text("source"));
    if (!source.empty() && std::find(into_.sources.begin(), into_.sources.end(), source) == into_.sources.end())
      into_.sources.push_back(source);
    return kind_->read == nullptr ? add_model(row, *device, into_) : add_kernel(row, *kind_, *device, into_);
  }

  // Null: of a device that the registry does not have. A table of several devices tells of the others all the same.
  core::Result<DeviceMeasurements*> device_of(const MeasurementRow& row) {
    const std::string name(row.text("device")), profile(kind_->read == nullptr ? row.text("profile") : "");
    const auto known = devices_.find({name, profile});
    if (known != devices_.end()) return known->second;
    const auto entry = registry_.find(name);
    if (!entry && entry.error().code == ErrorCode::not_found && !name.empty()) {
      MeasurementFiles::Stranger& stranger = into_.strangers[name];
      if (stranger.rows++ == 0) stranger.first = row.where();
      return nullptr;
    }
    if (!entry) return core::fail(ErrorCode::invalid_input, row.where() + ": " + entry.error().message, entry.error().remedy);
    // A profile may be one of the device's power states ("15W"); times of several are not one device's.
    const auto state = profile.empty() || !entry->state.empty() ? entry : registry_.find(entry->id + "@" + profile);
    const auto device = hardware::as_shown(state ? *state : *entry);
    if (!device) return tl::unexpected<core::Error>(device.error());
    return devices_[{name, profile}] = &into_.devices[device->id_with_state()];
  }

  std::string name_;
  const hardware::DeviceRegistry& registry_;
  MeasurementFiles& into_;
  MeasurementRow::Columns columns_;
  const Kind* kind_ = nullptr;
  std::map<std::pair<std::string, std::string>, DeviceMeasurements*> devices_;  // by name and profile
};

std::vector<std::string> names_of(const std::map<std::string, MeasurementFiles::Stranger>& strangers) {
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> names;
  std::int64_t others = 0;
  for (const auto& [name, stranger] : strangers) {
    if (names.size() < kNamed)
      names.push_back("'" + name + "' (" + rows_text(stranger.rows) + ", first: " + stranger.first + ")");
    else
      others += stranger.rows;
  }
  if (others > 0) names.push_back(rows_text(others) + " of other devices");
  return names;
}

}  // namespace

std::vector<std::string> MeasurementFiles::notes() const {
  std::vector<std::string> out;
  if (failed > 0) out.push_back(rows_text(failed) + " skipped: infinite time");
  if (transfers > 0) out.push_back(rows_text(transfers) + " skipped: copies and bandwidths, which no kernel's time is fitted to");
  if (without_output > 0)
    out.push_back(rows_text(without_output) +
                  " skipped: convolution filter larger than the padded input; first: " + first_without_output);
  if (!strangers.empty()) out.push_back("skipped, unknown devices: " + core::join(names_of(strangers), ", "));
  return out;
}

std::string rows_text(std::int64_t count) { return std::to_string(count) + (count == 1 ? " row" : " rows"); }

std::string describe(const estimation::ImpossibleRows& rejected, const std::vector<estimation::Measurement>& rows) {
  char times[32];
  std::snprintf(times, sizeof times, "%.3g", rejected.worst_times);
  std::string text = rows_text(rejected.count) + " skipped: faster than the device's peak allows; worst (" + times +
                     "x): " + rows[rejected.worst].where;
  for (const auto& [name, count] : rejected.untrusted)
    text += "; all " + rows_text(count) + " of " + name +
            " are ignored because most are too fast (are the times in microseconds and from this device?)";
  return text;
}

std::string describe(const estimation::RowsWithoutPeak& unrated, const std::vector<estimation::Measurement>& rows,
                     const std::string& device) {
  std::vector<std::string> classes;
  for (const auto& [name, count] : unrated.classes) classes.push_back(name + " (" + rows_text(count) + ")");
  return "no peak in the registry for " + device + ": " + core::join(classes, ", ") +
         "; rows skipped, first: " + rows[unrated.first].where;
}

std::string devices_text(const MeasurementFiles& files) {
  std::vector<std::string> names;
  for (const auto& [id, rows] : files.devices)
    names.push_back(id + " (" + rows_text(static_cast<std::int64_t>(rows.kernels.size() + rows.models.size())) + ")");
  for (std::string& stranger : names_of(files.strangers)) names.push_back(std::move(stranger) + " (unknown device)");
  return names.empty() ? "they contain no rows" : "they contain " + core::join(names, ", ");
}

core::Status read_measurements(std::string_view text, const std::string& name, const hardware::DeviceRegistry& registry,
                               MeasurementFiles& into) {
  return Table(name, registry, into).read(text);
}

core::Result<MeasurementFiles> read_measurements(const std::vector<std::string>& paths,
                                                 const hardware::DeviceRegistry& registry) {
  MeasurementFiles files;
  for (const std::string& path : paths) {
    AACO_ASSIGN(const std::string text, contents(path));
    AACO_TRY(read_measurements(text, path, registry, files));
    files.files.push_back(core::base_name(path) + " sha256:" + core::sha256_hex(text));
  }
  return files;
}

}  // namespace aaco::workflows

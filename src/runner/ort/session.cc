#include "runner/ort/session.h"

#include <algorithm>

#include "core/files.h"
#include "core/strings.h"
#include "runner/ort/device_memory.h"
#include "runner/ort/placement.h"
#include "runner/ort/session_settings.h"
#include "runner/ort/tensors.h"

namespace aaco::runner::ort {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::size_t kMaxFallen = 10'000;

class Session final : public Backend {
 public:
  Session(std::shared_ptr<Api> api, BackendOptions options) : api_(std::move(api)), options_(std::move(options)) {}

  core::Status load(const std::string& model_path);

  [[nodiscard]] const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  [[nodiscard]] const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  core::Status bind(const std::vector<TensorData>& inputs) override;
  core::Status bind_next(std::vector<TensorData> inputs, const std::vector<CarriedValue>& carried) override;
  core::Result<TensorView> view_output(std::string_view name) override;
  core::Status run_once() override;
  core::Result<std::vector<TensorData>> read_outputs() override;
  [[nodiscard]] Json describe() const override;
  core::Result<Profile> end_profile() override;

 private:
  core::Result<std::shared_ptr<OrtSessionOptions>> session_options() const;
  // A tensor bound as an input, with the bytes it points into where they are ours.
  struct Fed {
    TensorData data;
    std::shared_ptr<OrtValue> value;
  };
  using FedInputs = std::map<std::string, std::shared_ptr<Fed>>;
  core::Result<std::vector<std::shared_ptr<OrtValue>>> bound_outputs() const;
  core::Result<FedInputs> carry(const std::vector<CarriedValue>& carried, FedInputs given) const;
  [[nodiscard]] int pool_threads() const;
  [[nodiscard]] std::string pool_affinities() const;
  core::Status check_placement() const;
  core::Status keep_outputs();
  core::Result<std::shared_ptr<OrtMemoryInfo>> output_memory() const;

  std::shared_ptr<Api> api_;
  BackendOptions options_;
  std::shared_ptr<OrtSession> session_;
  std::shared_ptr<OrtMemoryInfo> cpu_;
  std::shared_ptr<OrtRunOptions> run_options_;
  std::vector<TensorInfo> inputs_, outputs_;
  std::vector<TensorData> data_;  // the bytes the bound inputs point into
  std::vector<std::shared_ptr<OrtValue>> values_;
  std::shared_ptr<OrtIoBinding> binding_;
  FedInputs fed_;  // of bind_next()
  std::map<std::string, std::int64_t> placement_;
  std::vector<PlacedNode> fallen_;       // nodes that another provider than the asked one runs
  std::vector<std::string> complaints_;  // warnings and errors ONNX Runtime logged while loading
  bool outputs_kept_ = false;
};

GraphOptimizationLevel level_of(const std::string& name) {
  if (name == "disabled") return ORT_DISABLE_ALL;
  if (name == "basic") return ORT_ENABLE_BASIC;
  if (name == "extended") return ORT_ENABLE_EXTENDED;
  return ORT_ENABLE_ALL;
}

int Session::pool_threads() const { return options_.intra_op_threads != 0 ? options_.intra_op_threads : options_.pool_threads; }

// "2;4": the CPU of each thread but the caller, counted from 1. Left to itself, the runtime pins one thread to each core of the
// machine, also outside the process's mask.
std::string Session::pool_affinities() const {
  const auto pinning = options_.session_options.find("pinning");
  const bool pinned = pinning != options_.session_options.end() && pinning->second == "on";
  if (options_.intra_op_threads != 0 && !pinned) return {};
  std::string text;
  const std::size_t threads =
      options_.intra_op_threads == 0 ? options_.pool_cpus.size() : static_cast<std::size_t>(options_.intra_op_threads);
  for (std::size_t i = 1; i < std::min(threads, options_.pool_cpus.size()); ++i)
    text += (text.empty() ? "" : ";") + std::to_string(options_.pool_cpus[i] + 1);
  return text;
}

core::Result<std::shared_ptr<OrtSessionOptions>> Session::session_options() const {
  const OrtApi& call = *api_->call;
  OrtSessionOptions* raw = nullptr;
  AACO_TRY(api_->check(call.CreateSessionOptions(&raw), "session options"));
  auto owner = api_->own(raw, call.ReleaseSessionOptions);
  // Verbose only while the session is made: that is how it says which provider took which node.
  AACO_TRY(api_->check(call.SetSessionLogSeverityLevel(raw, ORT_LOGGING_LEVEL_VERBOSE), "session options"));
  AACO_TRY(api_->check(call.SetSessionGraphOptimizationLevel(raw, level_of(options_.graph_level)), "--graph-level"));
  AACO_TRY(api_->check(call.SetIntraOpNumThreads(raw, pool_threads()), "--threads"));
  if (const std::string affinities = pool_affinities(); !affinities.empty())
    AACO_TRY(api_->check(call.AddSessionConfigEntry(raw, "session.intra_op_thread_affinities", affinities.c_str()), "--threads"));
  AACO_TRY(api_->check(call.SetInterOpNumThreads(raw, options_.inter_op_threads), "inter_op_threads"));
  if (options_.inter_op_threads > 1) AACO_TRY(api_->check(call.SetSessionExecutionMode(raw, ORT_PARALLEL), "inter_op_threads"));
  AACO_TRY(apply_session_settings(*api_, raw, options_.session_options));
  for (const auto& [symbol, size] : options_.free_dimensions)
    AACO_TRY(api_->check(call.AddFreeDimensionOverrideByName(raw, symbol.c_str(), size), "dimension '" + symbol + "'"));
  if (options_.profile) AACO_TRY(api_->check(call.EnableProfiling(raw, options_.profile_prefix.c_str()), "the profiler"));
  if (!options_.optimized_model_path.empty())
    AACO_TRY(api_->check(call.SetOptimizedModelFilePath(raw, options_.optimized_model_path.c_str()), "the optimised model"));
  std::vector<std::pair<std::string, std::string>> provider_options(options_.provider_options.begin(),
                                                                    options_.provider_options.end());
  const bool present = std::find(api_->providers.begin(), api_->providers.end(), options_.provider) != api_->providers.end();
  if (present) AACO_TRY(append_provider(*api_, raw, options_.provider, provider_options));
  return owner;
}

core::Status Session::load(const std::string& model_path) {
  const OrtApi& call = *api_->call;
  AACO_ASSIGN(const auto session_options, this->session_options());
  (void)api_->log->take();
  OrtSession* session = nullptr;
  OrtStatus* status = call.CreateSession(api_->environment.get(), model_path.c_str(), session_options.get(), &session);
  const auto said = api_->log->take();
  AACO_TRY(api_->check(status, "loading " + model_path));
  session_ = api_->own(session, call.ReleaseSession);
  placement_ = placement_from_log(said);
  if (options_.provider != "CPUExecutionProvider")
    for (PlacedNode& node : placed_nodes_from_log(said))
      if (node.provider != options_.provider && fallen_.size() < kMaxFallen) fallen_.push_back(std::move(node));
  for (const auto& line : said)
    if (line.severity >= ORT_LOGGING_LEVEL_WARNING) complaints_.push_back(line.text);
  AACO_TRY(check_placement());

  OrtMemoryInfo* memory = nullptr;
  AACO_TRY(api_->check(call.CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory), "memory"));
  cpu_ = api_->own(memory, call.ReleaseMemoryInfo);
  OrtRunOptions* run = nullptr;
  AACO_TRY(api_->check(call.CreateRunOptions(&run), "run options"));
  run_options_ = api_->own(run, call.ReleaseRunOptions);
  AACO_TRY(api_->check(call.RunOptionsSetRunLogSeverityLevel(run, ORT_LOGGING_LEVEL_WARNING), "run options"));
  AACO_ASSIGN(inputs_, describe_tensors(*api_, session_.get(), true));
  AACO_ASSIGN(outputs_, describe_tensors(*api_, session_.get(), false));
  return {};
}

core::Status Session::check_placement() const {
  if (options_.allow_fallback || options_.provider == "CPUExecutionProvider" || placement_.empty()) return {};
  if (placement_.contains(options_.provider)) return {};
  std::string taken;
  for (const auto& [provider, count] : placement_)
    taken += (taken.empty() ? "" : ", ") + provider + " runs " + std::to_string(count);
  return core::fail(ErrorCode::unsupported, options_.provider + " runs none of the model's nodes (" + taken + ")",
                    "this backend does not support the model; use --allow-fallback to run it on the CPU anyway");
}

core::Result<std::shared_ptr<OrtMemoryInfo>> Session::output_memory() const {
  const DeviceMemory where = device_memory(placement_, options_.provider_options);
  if (where.name.empty()) return cpu_;
  OrtMemoryInfo* memory = nullptr;
  AACO_TRY(
      api_->check(api_->call->CreateMemoryInfo(where.name.c_str(), OrtArenaAllocator, where.device, OrtMemTypeDefault, &memory),
                  "device memory"));
  return api_->own(memory, api_->call->ReleaseMemoryInfo);
}

core::Status Session::bind(const std::vector<TensorData>& inputs) {
  const OrtApi& call = *api_->call;
  OrtIoBinding* raw = nullptr;
  AACO_TRY(api_->check(call.CreateIoBinding(session_.get(), &raw), "binding"));
  binding_ = api_->own(raw, call.ReleaseIoBinding);
  outputs_kept_ = false;
  values_.clear();
  data_ = inputs;
  for (TensorData& data : data_) {
    AACO_ASSIGN(auto value, wrap(*api_, cpu_.get(), data));
    AACO_TRY(api_->check(call.BindInput(raw, data.name.c_str(), value.get()),
                         "input '" + data.name + "'"));  // copies to the device where there is one
    values_.push_back(std::move(value));
  }
  AACO_ASSIGN(const auto memory, output_memory());
  for (const TensorInfo& output : outputs_)
    AACO_TRY(api_->check(call.BindOutputToDevice(raw, output.name.c_str(), memory.get()), "output '" + output.name + "'"));
  return {};
}

core::Result<std::vector<std::shared_ptr<OrtValue>>> Session::bound_outputs() const {
  const OrtApi& call = *api_->call;
  OrtAllocator* allocator = nullptr;
  AACO_TRY(api_->check(call.GetAllocatorWithDefaultOptions(&allocator), "reading outputs"));
  OrtValue** values = nullptr;
  std::size_t count = 0;
  AACO_TRY(api_->check(call.GetBoundOutputValues(binding_.get(), allocator, &values, &count), "reading outputs"));
  std::vector<std::shared_ptr<OrtValue>> owners;
  for (std::size_t i = 0; i < count; ++i) owners.push_back(api_->own(values[i], call.ReleaseValue));
  if (values != nullptr) AACO_TRY(api_->check(call.AllocatorFree(allocator, values), "reading outputs"));
  return owners;
}

// The given inputs and the carried ones: of the last call's outputs, or as they were where they are in place.
core::Result<Session::FedInputs> Session::carry(const std::vector<CarriedValue>& carried, FedInputs given) const {
  std::vector<std::shared_ptr<OrtValue>> last;
  for (const CarriedValue& value : carried) {
    if (given.contains(value.input)) continue;
    if (value.in_place) {
      const auto before = fed_.find(value.input);
      if (before == fed_.end())
        return core::fail(ErrorCode::invalid_argument, "input '" + value.input + "' has no value to carry");
      given.insert(*before);
      continue;
    }
    if (last.empty()) {
      AACO_ASSIGN(last, bound_outputs());
    }
    const auto output =
        std::find_if(outputs_.begin(), outputs_.end(), [&](const auto& info) { return info.name == value.output; });
    const auto place = static_cast<std::size_t>(output - outputs_.begin());
    if (place >= last.size())
      return core::fail(ErrorCode::invalid_argument, "output '" + value.output + "' has no value to carry");
    given.emplace(value.input, std::make_shared<Fed>(Fed{{}, last[place]}));
  }
  return given;
}

core::Status Session::bind_next(std::vector<TensorData> inputs, const std::vector<CarriedValue>& carried) {
  const OrtApi& call = *api_->call;
  FedInputs given;
  for (TensorData& input : inputs) {
    auto fed = std::make_shared<Fed>(Fed{std::move(input), nullptr});
    AACO_ASSIGN(fed->value, wrap(*api_, cpu_.get(), fed->data));
    given.emplace(fed->data.name, std::move(fed));
  }
  AACO_ASSIGN(FedInputs next, carry(carried, std::move(given)));
  if (!binding_) {
    OrtIoBinding* raw = nullptr;
    AACO_TRY(api_->check(call.CreateIoBinding(session_.get(), &raw), "binding"));
    binding_ = api_->own(raw, call.ReleaseIoBinding);
  }
  call.ClearBoundInputs(binding_.get());
  call.ClearBoundOutputs(binding_.get());
  for (const auto& [name, fed] : next)
    AACO_TRY(api_->check(call.BindInput(binding_.get(), name.c_str(), fed->value.get()), "input '" + name + "'"));
  AACO_ASSIGN(const auto memory, output_memory());
  for (const TensorInfo& output : outputs_) {
    const auto in_place = std::find_if(carried.begin(), carried.end(),
                                       [&](const CarriedValue& value) { return value.in_place && value.output == output.name; });
    AACO_TRY(api_->check(in_place != carried.end()
                             ? call.BindOutput(binding_.get(), output.name.c_str(), next.at(in_place->input)->value.get())
                             : call.BindOutputToDevice(binding_.get(), output.name.c_str(), memory.get()),
                         "output '" + output.name + "'"));
  }
  fed_ = std::move(next);
  outputs_kept_ = true;  // the next call has other outputs
  return {};
}

core::Result<TensorView> Session::view_output(std::string_view name) {
  AACO_ASSIGN(const auto values, bound_outputs());
  const auto output = std::find_if(outputs_.begin(), outputs_.end(), [&](const auto& info) { return info.name == name; });
  const auto place = static_cast<std::size_t>(output - outputs_.begin());
  if (place >= values.size()) return core::fail(ErrorCode::not_found, "the model has no output '" + std::string(name) + "'");
  return view(*api_, std::string(name), values[place].get());
}

// Binds the outputs of the first run, so that later ones write into the same memory. A model whose output shapes depend on its
// data keeps outputs that the runtime allocates.
core::Status Session::keep_outputs() {
  const OrtApi& call = *api_->call;
  outputs_kept_ = true;
  for (const TensorInfo& output : outputs_)
    for (std::size_t i = 0; i < output.shape.size(); ++i)
      if (output.shape[i] < 0 && output.symbols[i].empty()) return {};
  AACO_ASSIGN(const auto kept, bound_outputs());
  for (std::size_t i = 0; i < kept.size() && i < outputs_.size(); ++i)
    AACO_TRY(api_->check(call.BindOutput(binding_.get(), outputs_[i].name.c_str(), kept[i].get()),
                         "output '" + outputs_[i].name + "'"));
  values_.insert(values_.end(), kept.begin(), kept.end());
  return {};
}

core::Status Session::run_once() {
  OrtStatus* status = api_->call->RunWithBinding(session_.get(), run_options_.get(), binding_.get());
  if (status != nullptr) return api_->check(status, "running the model");
  if (!outputs_kept_) return keep_outputs();
  return {};
}

core::Result<std::vector<TensorData>> Session::read_outputs() {
  AACO_ASSIGN(const auto owners, bound_outputs());
  std::vector<TensorData> data;
  for (std::size_t i = 0; i < owners.size() && i < outputs_.size(); ++i) {
    AACO_ASSIGN(TensorData copy, copy_out(*api_, outputs_[i].name, owners[i].get()));
    data.push_back(std::move(copy));
  }
  return data;
}

Json Session::describe() const {
  Json placement = Json::object();
  for (const auto& [provider, count] : placement_) placement.set(provider, count);
  Json provider_options = Json::object();
  for (const auto& [key, value] : options_.provider_options) provider_options.set(key, value);
  Json session_options = Json::object();
  for (const auto& [key, value] : options_.session_options) session_options.set(key, value);
  Json complaints = Json::texts(complaints_);
  Json available = Json::texts(api_->providers);
  Json described = Json::object({{"runtime", "onnxruntime"},
                                 {"version", api_->version},
                                 {"library", core::base_name(api_->library.path())},
                                 {"build", api_->build},
                                 {"provider", options_.provider},
                                 {"provider_options", std::move(provider_options)},
                                 {"available_providers", std::move(available)},
                                 {"nodes_by_provider", placement_.empty() ? Json() : std::move(placement)},
                                 {"graph_level", options_.graph_level},
                                 {"intra_op_threads", options_.intra_op_threads},
                                 {"pool_threads", pool_threads()},
                                 {"inter_op_threads", options_.inter_op_threads},
                                 {"io_binding", true},
                                 {"messages", std::move(complaints)}});
  if (!options_.session_options.empty()) described.set("session_options", std::move(session_options));
  Json fallen = Json::array();
  for (const PlacedNode& node : fallen_)
    fallen.push(Json::object({{"node", node.name}, {"op_type", node.op_type}, {"provider", node.provider}}));
  if (!fallen_.empty()) described.set("fallback_nodes", std::move(fallen));
  return described;
}

core::Result<Backend::Profile> Session::end_profile() {
  if (!options_.profile) return core::fail(ErrorCode::invalid_argument, "the session was opened without profiling");
  const OrtApi& call = *api_->call;
  Profile profile;
  std::uint64_t start = 0;
  AACO_TRY(api_->check(call.SessionGetProfilingStartTimeNs(session_.get(), &start), "the profiler"));
  profile.start_realtime_ns = static_cast<std::int64_t>(start);
  OrtAllocator* allocator = nullptr;
  AACO_TRY(api_->check(call.GetAllocatorWithDefaultOptions(&allocator), "the profiler"));
  char* path = nullptr;
  AACO_TRY(api_->check(call.SessionEndProfiling(session_.get(), allocator, &path), "the profiler"));
  profile.path = path;
  AACO_TRY(api_->check(call.AllocatorFree(allocator, path), "the profiler"));
  return profile;
}

}  // namespace

core::Result<std::unique_ptr<Backend>> open_session(std::shared_ptr<Api> api, const std::string& model_path,
                                                    const BackendOptions& options) {
  auto session = std::make_unique<Session>(std::move(api), options);
  AACO_TRY(session->load(model_path));
  return std::unique_ptr<Backend>(std::move(session));
}

}  // namespace aaco::runner::ort

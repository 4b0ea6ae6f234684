// What AACO adds to an inference: its measuring loop beside a bare loop over the ONNX Runtime C API, and the loop with telemetry
// beside the loop without. Blocks alternate in one process (ABBA) until the pooled ratio of medians is known to +- 1 %, or time
// is up.
//
//   run_cost loop|telemetry MODEL.onnx LIBRARY [seconds [threads]]

#include <dlfcn.h>
#include <fmt/format.h>
#include <onnxruntime_c_api.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/environment.h"
#include "runner/ort_runtime.h"
#include "stats/observer.h"
#include "trace/sink.h"
#include "workflows/telemetry.h"

namespace {

using aaco::core::monotonic_ns;

constexpr std::int64_t kBlockNs = 200'000'000;

void require(bool condition, const std::string& what) {
  if (condition) return;
  fmt::print(stderr, "run_cost: {}\n", what);
  std::exit(3);
}

// The least a program must do to call a model: session, bound input and output, RunWithBinding.
class BareLoop {
 public:
  BareLoop(const std::string& library, const std::string& model, aaco::runner::TensorData& input, const std::string& output) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    require(handle != nullptr, "cannot open the library");
    api_ = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"))()->GetApi(17);
    OrtSessionOptions* options = nullptr;
    ok(api_->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "bare", &env_));
    ok(api_->CreateSessionOptions(&options));
    ok(api_->SetSessionGraphOptimizationLevel(options, ORT_ENABLE_ALL));
    ok(api_->CreateSession(env_, model.c_str(), options, &session_));
    OrtMemoryInfo* memory = nullptr;
    ok(api_->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
    OrtValue* value = nullptr;
    ok(api_->CreateTensorWithDataAsOrtValue(memory, input.bytes.data(), input.bytes.size(), input.shape.data(),
                                            input.shape.size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
    ok(api_->CreateIoBinding(session_, &binding_));
    ok(api_->BindInput(binding_, input.name.c_str(), value));
    ok(api_->BindOutputToDevice(binding_, output.c_str(), memory));
    ok(api_->CreateRunOptions(&run_));
    call();
    OrtAllocator* allocator = nullptr;
    OrtValue** outputs = nullptr;
    std::size_t count = 0;
    ok(api_->GetAllocatorWithDefaultOptions(&allocator));
    ok(api_->GetBoundOutputValues(binding_, allocator, &outputs, &count));
    ok(api_->BindOutput(binding_, output.c_str(), outputs[0]));
  }
  void call() { ok(api_->RunWithBinding(session_, run_, binding_)); }

 private:
  static void ok(OrtStatus* status) { require(status == nullptr, "the bare loop failed"); }
  const OrtApi* api_ = nullptr;
  OrtEnv* env_ = nullptr;
  OrtSession* session_ = nullptr;
  OrtIoBinding* binding_ = nullptr;
  OrtRunOptions* run_ = nullptr;
};

aaco::stats::ObservedBlock block(bool with, const std::function<void()>& call) {
  aaco::stats::ObservedBlock out;
  out.with_instrument = with;
  const std::int64_t end = monotonic_ns() + kBlockNs;
  for (std::int64_t now = monotonic_ns(); now < end;) {
    call();
    const std::int64_t after = monotonic_ns();
    out.durations.push_back(static_cast<double>(after - now));
    now = after;
  }
  return out;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// Alternates both until decided; `switched` is called before each block.
void compare(const char* what, const std::function<void()>& with, const std::function<void()>& without,
             const std::function<void(bool)>& switched, double seconds) {
  std::vector<aaco::stats::ObservedBlock> blocks;
  std::vector<double> differences;
  const std::int64_t begin = monotonic_ns();
  aaco::stats::ObserverEffect effect;
  for (int pair = 0; monotonic_ns() - begin < static_cast<std::int64_t>(seconds * 1e9); ++pair) {
    for (int half = 0; half < 2; ++half) {
      const bool on = (pair % 2 == 0) == (half == 1);
      switched(on);
      blocks.push_back(block(on, on ? with : without));
    }
    const auto& a = blocks[blocks.size() - 2];
    const auto& b = blocks.back();
    const double difference = median(b.durations) - median(a.durations);
    differences.push_back(b.with_instrument ? difference : -difference);
    if (pair >= 9 && pair % 10 == 9) {
      effect = aaco::stats::observer_effect(blocks);
      if (effect.half_width && *effect.half_width <= 0.005) break;
    }
  }
  effect = aaco::stats::observer_effect(blocks);
  require(effect.ci95.has_value(), "too few blocks: increase the number of seconds");
  fmt::print("{}: {:+.3f} %  [{:+.3f}, {:+.3f}] %, {} block pairs, median difference {:+.3f} µs\n", what,
             *effect.effect_ratio * 100, effect.ci95->low * 100, effect.ci95->high * 100, effect.pairs,
             median(differences) / 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  require(argc >= 4, "usage: run_cost loop|telemetry MODEL.onnx LIBRARY [seconds [threads]]");
  const std::string mode = argv[1];
  const double seconds = argc > 4 ? std::atof(argv[4]) : 60;
  const auto environment = aaco::core::Environment::of_process();
  auto runtime = aaco::runner::ort::Runtime::open(
      {argv[3], environment, aaco::core::Paths::find(environment, aaco::core::executable_path())});
  require(runtime.has_value(), runtime ? "" : runtime.error().text());
  aaco::runner::BackendOptions options;
  options.provider = "CPUExecutionProvider";
  if (argc > 5) options.intra_op_threads = std::atoi(argv[5]);
  auto backend = (*runtime)->open_model(argv[2], options);
  require(backend.has_value(), "cannot open the model");
  const auto& info = (*backend)->inputs().at(0);
  aaco::runner::TensorData input{info.name, info.type, info.shape, {}};
  std::size_t bytes = 4;
  for (auto& size : input.shape) {
    if (size < 0) size = 1;
    bytes *= static_cast<std::size_t>(size);
  }
  input.bytes.resize(bytes);
  require((*backend)->bind({input}).has_value(), "cannot bind the input");
  const auto call = [&] { require((*backend)->run_once().has_value(), "a run failed"); };
  if (mode == "loop") {
    BareLoop bare(argv[3], argv[2], input, (*backend)->outputs().at(0).name);
    compare(
        "AACO loop vs bare loop", call, [&] { bare.call(); }, [](bool) {}, seconds);
    return 0;
  }
  aaco::workflows::Telemetry telemetry(getpid(), std::chrono::milliseconds(10));
  require(telemetry.start().has_value(), "cannot start telemetry");
  compare(
      "telemetry at 100 Hz vs no telemetry", call, call, [&](bool on) { on ? telemetry.resume() : telemetry.pause(); }, seconds);
  return 0;
}

#include "runner/ort/api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>

#include "core/hash.h"
#include "core/strings.h"
#include "runner/ort/message.h"
#include "runner/ort/register_operators.h"

namespace aaco::runner::ort {
namespace {

using core::ErrorCode;

constexpr int kOldestApi = 17;

void ORT_API_CALL collect(void* collector, OrtLoggingLevel severity, const char*, const char*, const char*, const char* message) {
  static_cast<LogCollector*>(collector)->add(static_cast<int>(severity), message);
}

ErrorCode code_of(OrtErrorCode code) {
  switch (code) {
    case ORT_NO_SUCHFILE: return ErrorCode::not_found;
    case ORT_NOT_IMPLEMENTED:
    case ORT_EP_FAIL: return ErrorCode::unsupported;
    default: return ErrorCode::invalid_input;
  }
}

// Of the file that an address was loaded from; empty where it cannot be read: then builds are not told apart.
std::string build_of(const void* address) {
  constexpr std::size_t kHead = std::size_t{64} << 10;
  constexpr std::size_t kDigits = 16;
  Dl_info found{};
  if (::dladdr(address, &found) == 0 || found.dli_fname == nullptr) return {};
  std::ifstream file(found.dli_fname, std::ios::binary);
  std::string head(kHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(kHead));
  head.resize(static_cast<std::size_t>(file.gcount()));
  file.clear();
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  if (head.empty() || size <= 0) return {};
  return core::sha256_hex(std::to_string(size) + '\n' + head).substr(0, kDigits);
}

}  // namespace

void LogCollector::add(int severity, const char* text) {
  const std::lock_guard lock(mutex_);
  lines_.push_back({severity, text});
}

std::vector<LogCollector::Line> LogCollector::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(lines_, {});
}

core::Status Api::check(OrtStatus* status, std::string_view doing) const {
  if (status == nullptr) return {};
  const std::string message = call->GetErrorMessage(status);
  const OrtErrorCode code = call->GetErrorCode(status);
  call->ReleaseStatus(status);
  if (message.find("bad_alloc") != std::string::npos || message.find("Failed to allocate memory") != std::string::npos)
    return core::fail(ErrorCode::exhausted, std::string(doing) + ": out of memory: " + message, "use a smaller batch or model");
  ShortMessage said = shorten(message, doing);
  return core::fail(code_of(code), std::string(doing) + ": " + said.text, std::move(said.remedy));
}

core::Result<std::shared_ptr<Api>> open_api(const std::string& library_path) {
  // From 1.29 on the official library reports to its maker from the moment it is started, over the network, by threads of its
  // own, under an id that it leaves in the user's cache. What can be called to end that (below) comes after the first report.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);  // NOLINT(concurrency-mt-unsafe): before the library's first thread
  AACO_ASSIGN(core::SharedLibrary library, core::SharedLibrary::open(library_path));
  const auto get_base = library.function<const OrtApiBase*(ORT_API_CALL*)()>("OrtGetApiBase");
  if (get_base == nullptr)
    return core::fail(ErrorCode::unsupported, library_path + " is not an ONNX Runtime library: it has no OrtGetApiBase");
  const OrtApiBase* base = get_base();
  const std::string version = base->GetVersionString();
  const OrtApi* call = nullptr;
  for (int number = ORT_API_VERSION; call == nullptr && number >= kOldestApi; --number) {
    const auto parts = core::split(version, '.');
    if (parts.size() > 1 && parts[0] == "1" && std::atoi(std::string(parts[1]).c_str()) < number)
      continue;  // avoids its complaint on stderr
    call = base->GetApi(static_cast<std::uint32_t>(number));
  }
  if (call == nullptr)
    return core::fail(ErrorCode::unsupported,
                      library_path + " is ONNX Runtime " + version + "; version 1.17 or newer is required");
  std::string build = build_of(reinterpret_cast<const void*>(get_base));
  auto api = std::make_shared<Api>(
      Api{std::move(library), call, version, std::move(build), std::make_unique<LogCollector>(), nullptr, {}});
  OrtEnv* environment = nullptr;
  AACO_TRY(api->check(call->CreateEnvWithCustomLogger(&collect, api->log.get(), ORT_LOGGING_LEVEL_WARNING, "aaco", &environment),
                      "starting ONNX Runtime"));
  api->environment = api->own(environment, call->ReleaseEnv);
  AACO_TRY(api->check(call->DisableTelemetryEvents(environment), "starting ONNX Runtime"));
  char** names = nullptr;
  int count = 0;
  AACO_TRY(api->check(call->GetAvailableProviders(&names, &count), "listing providers"));
  for (int i = 0; i < count; ++i) api->providers.emplace_back(names[i]);
  register_operators(*api);
  return api->check(call->ReleaseAvailableProviders(names, count), "listing providers").map([&] { return api; });
}

}  // namespace aaco::runner::ort

#pragma once

#include <onnxruntime_c_api.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/handles.h"
#include "core/result.h"

namespace aaco::runner::ort {

// Collects what ONNX Runtime says, from whichever thread it says it.
class LogCollector {
 public:
  struct Line {
    int severity = 0;
    std::string text;
  };
  void add(int severity, const char* text);
  // Everything said since the last call.
  std::vector<Line> take();

 private:
  std::mutex mutex_;
  std::vector<Line> lines_;
};

// The C API of an opened library with the process-wide environment object.
struct Api {
  core::SharedLibrary library;
  const OrtApi* call = nullptr;
  std::string version;
  std::string
      build;  // tells builds of one version apart: a digest of the library's size and its first 64 KiB, which hold its build id
  std::unique_ptr<LogCollector> log;
  std::shared_ptr<OrtEnv> environment;  // released before the library closes
  std::vector<std::string> providers;

  // A status as ours; releases it. `doing` says what failed.
  [[nodiscard]] core::Status check(OrtStatus* status, std::string_view doing) const;

  // An owner for one of ORT's objects.
  template <class T>
  std::shared_ptr<T> own(T* object, void(ORT_API_CALL* release)(T*)) const {
    return std::shared_ptr<T>(object, [release](T* held) {
      if (held != nullptr) release(held);
    });
  }
};

core::Result<std::shared_ptr<Api>> open_api(const std::string& library_path);

// Puts the provider that `name` stands for, with its options, at the head of the session's list.
core::Status append_provider(const Api& api, OrtSessionOptions* options, const std::string& provider,
                             const std::vector<std::pair<std::string, std::string>>& provider_options);

}  // namespace aaco::runner::ort

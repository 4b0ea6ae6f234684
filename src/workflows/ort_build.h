#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/environment.h"
#include "core/result.h"

namespace aaco::workflows {

// Builds of ONNX Runtime that scripts/bootstrap.sh fetched by choice are in CACHE/onnxruntime/NAME/lib: a version ("1.20.1") of
// --ort-versions, or "providers" of --ort-providers. A build of another system has its C library and its loader there too.

// The library of a fetched build; empty if there is no build of that name.
std::string library_of_build(const std::string& name, const core::Paths& paths);

// The library a request is run with: the one it names (`--ort-lib`, a file or a build), else AACO_ORT_LIBRARY, else the build
// that its backend names (configs/backends.yaml), if that was fetched. Empty: the default search of runner/ort_runtime.h.
std::string library_of(const std::string& named, const std::string& backend, const core::Environment& environment,
                       const core::Paths& paths);

// The backends whose build was not fetched, and why each cannot run. Empty where `named` or
// AACO_ORT_LIBRARY names a library: that one may have them.
std::map<std::string, std::string> absent_builds(const std::string& named, const core::Environment& environment,
                                                 const core::Paths& paths);

// The loader in the library's folder; empty if there is none, or if it is this process's own.
std::string own_loader(const std::string& library);

// Where the library has its own loader: restarts this program under it, with the same arguments, and does not return. Call it
// before threads are started and before standard input is read. Fails with unsupported if the loader cannot be started.
core::Status enter_build(const std::string& library, const std::vector<std::string>& command_line);

}  // namespace aaco::workflows

#pragma once

namespace aaco::core {

// Reports our own bug and aborts; never for bad input.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace aaco::core

// An invariant of this program. Stays on in release builds.
#define AACO_CHECK(condition) ((condition) ? static_cast<void>(0) : ::aaco::core::check_failed(#condition, __FILE__, __LINE__))

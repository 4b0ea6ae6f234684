#pragma once

#include <cstdint>
#include <string_view>

#include "core/json.h"

namespace aaco::importers::kineto {

// Time of the copies from and to the host by the kind of host memory, where the events' names have it: "Memcpy HtoD (Pinned ->
// Device)".
struct HostMemory {
  std::int64_t pageable_ns = 0, pinned_ns = 0;

  void add(std::string_view name, std::int64_t duration_ns) {
    if (duration_ns <= 0) return;
    if (name.find("Pageable") != std::string_view::npos)
      pageable_ns += duration_ns;
    else if (name.find("Pinned") != std::string_view::npos)
      pinned_ns += duration_ns;
  }
  void write(core::Json& facts) const {
    if (pageable_ns + pinned_ns > 0)
      facts.set("host_copies", core::Json::object({{"pageable_ns", pageable_ns}, {"pinned_ns", pinned_ns}}));
  }
};

}  // namespace aaco::importers::kineto

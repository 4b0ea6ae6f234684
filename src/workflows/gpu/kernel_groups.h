#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analytics/fingerprint.h"
#include "trace/names.h"
#include "trace/rows.h"

namespace aaco::workflows {

// Kernels by name while they stream past; each name is classified once.
class KernelGroups {
 public:
  KernelGroups(const analytics::fingerprint::PatternBook& book, trace::NameTable& names) : book_(book), names_(names) {}
  // Answers the kernel's family.
  analytics::fingerprint::Family add(const trace::KernelRow& row);
  // Of a kernel that was added.
  [[nodiscard]] analytics::fingerprint::Family family_of(trace::NameId name) const { return known_.at(name.value).family; }
  // Largest time first.
  [[nodiscard]] std::vector<trace::KernelGroupRow> rows() const;
  // Kernel time of a rank's device with a family other than "other".
  [[nodiscard]] std::int64_t known_family_ns(const std::pair<std::int32_t, std::int64_t>& device) const;

 private:
  struct Known {
    analytics::fingerprint::Family family = analytics::fingerprint::Family::other;
    trace::NameId family_name, library, parameters;
  };
  const analytics::fingerprint::PatternBook& book_;
  trace::NameTable& names_;
  std::map<std::uint32_t, Known> known_;                                                           // by name
  std::map<std::tuple<std::int32_t, std::int64_t, std::uint32_t>, trace::KernelGroupRow> groups_;  // by rank, device, name
};

}  // namespace aaco::workflows

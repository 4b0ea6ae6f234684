#include "estimation/latency/section_json.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <system_error>
#include <utility>

#include "estimation/latency/calibration_member.h"
#include "estimation/latency/probe.h"

namespace aaco::estimation {
namespace {

using core::ErrorCode;
using core::Json;

Json numbers(const std::vector<double>& values) {
  Json array = Json::array();
  for (const double value : values) array.push(value);
  return array;
}

Json parts_json(const std::vector<Part>& parts) {
  Json array = Json::array();
  for (const Part& part : parts) {
    array.push(Json::object({{"form", part.form},
                             {"columns", part.columns},
                             {"bases", numbers(part.bases)},
                             {"trees", part.trees},
                             {"bytes", part.bytes}}));
  }
  return array;
}

core::Result<std::uint64_t> size(const Json& document, std::string_view member) {
  const auto value = document[member].as_u64();
  if (!value) return wrong_member(member, "is not a size");
  return *value;
}

core::Result<std::vector<Part>> parts_of(const Json& list, std::size_t columns) {
  std::vector<Part> parts;
  for (const Json& item : list.items()) {
    Part part;
    AACO_ASSIGN(part.form, text(item, "form"));
    if (part.form != kTreesForm && part.form != kCompactForm)
      return core::fail(ErrorCode::unsupported,
                        "the calibration contains '" + part.form + "', which this release does not support", fit_again());
    AACO_ASSIGN(part.columns, size(item, "columns"));
    AACO_ASSIGN(part.trees, size(item, "trees"));
    AACO_ASSIGN(part.bytes, size(item, "bytes"));
    for (const Json& base : item["bases"].items()) {
      const auto value = base.as_f64();
      if (!value || !std::isfinite(*value)) return wrong_member("bases", "are not numbers");
      part.bases.push_back(*value);
    }
    if (part.columns != columns)
      return wrong_member("trees",
                          "have " + std::to_string(part.columns) + " features; this release uses " + std::to_string(columns));
    parts.push_back(std::move(part));
  }
  return parts;
}

// A value that is missing is null.
std::vector<double> probe_in(const Json& document) {
  std::vector<double> probe;
  for (const Json& item : document["probe"].items()) probe.push_back(item.as_f64().value_or(std::nan("")));
  return probe;
}

}  // namespace

Json section_json(const Section& section) {
  char sum[16];
  std::snprintf(sum, sizeof sum, "%08x", section.crc32c);
  return Json::object({{"offset", section.offset},
                       {"bytes", section.bytes},
                       {"crc32c", sum},
                       {"members", parts_json(section.members)},
                       {"log_scale", parts_json(section.log_scale)},
                       {"probe", numbers(section.probe)}});
}

core::Result<Section> section_of(const Json& entry, std::size_t columns, const std::vector<double>& probe) {
  const Json& member = entry["learnt"];
  Section section;
  AACO_ASSIGN(section.offset, size(member, "offset"));
  AACO_ASSIGN(section.bytes, size(member, "bytes"));
  AACO_ASSIGN(const std::string sum, text(member, "crc32c"));
  const auto [end, problem] = std::from_chars(sum.data(), sum.data() + sum.size(), section.crc32c, 16);
  if (problem != std::errc() || end != sum.data() + sum.size()) return wrong_member("crc32c", "is not a checksum");
  AACO_ASSIGN(section.members, parts_of(member["members"], columns));
  AACO_ASSIGN(section.log_scale, parts_of(member["log_scale"], columns));
  if (section.members.empty()) return wrong_member("members", "are missing");
  if (section.log_scale.size() > 1) return wrong_member("log_scale", "is duplicated");
  std::uint64_t left = section.bytes;
  for (const auto* parts : {&section.members, &section.log_scale})
    for (const Part& part : *parts) {
      if (part.bytes > left) return wrong_member("members", "are larger than their section");
      left -= part.bytes;
    }
  if (left != 0) return wrong_member("members", "are smaller than their section");
  section.probe = probe_in(member);
  if (!same_probe(section.probe, probe))
    return wrong_member("probe", "differs: it was fitted with a different set of kernel features");
  return section;
}

}  // namespace aaco::estimation

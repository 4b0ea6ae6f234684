#include "estimation/calibration_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/checksum.h"
#include "estimation/latency/calibration_json.h"
#include "estimation/latency/calibration_member.h"
#include "estimation/latency/probe.h"
#include "stats/compact_trees.h"

namespace aaco::estimation {
namespace {

using core::ErrorCode;
using stats::BoostedTrees;

// The first line has a fixed length: "aaco-calibration 2 HEAD_BYTES CRC32C\n". The head follows, then the sections.
constexpr std::string_view kMagic = "aaco-calibration ", kVersion = "2";
constexpr std::size_t kFirstLine = 40, kCountDigits = 11, kSumDigits = 8, kAlignment = 8;
// A head tells of classes, of which there are tens: one that is larger is none.
constexpr std::uint64_t kLargestHead = std::uint64_t{64} << 20;

std::string first_line(std::size_t head_bytes, std::uint32_t sum) {
  return fmt::format("{}{} {:011} {:08x}\n", kMagic, kVersion, head_bytes, sum);
}

// Puts trees behind what the data holds already.
Part append(const BoostedTrees& trees, bool compact, std::string& data) {
  if (compact) {
    const auto bytes = to_compact(trees);
    AACO_CHECK(bytes.has_value());  // compact_possible()
    data += *bytes;
    return {std::string(kCompactForm), trees.columns(), trees.trees(), trees.bases(), bytes->size()};
  }
  const auto nodes = trees.packed_nodes();
  data.append(reinterpret_cast<const char*>(nodes.data()), nodes.size());
  return {std::string(kTreesForm), trees.columns(), trees.trees(), trees.bases(), nodes.size()};
}

// One form for a whole section: nodes that are read in place need their alignment.
bool compact_possible(const std::vector<BoostedTrees>& members, const BoostedTrees& log_scale) {
  const auto possible = [](const BoostedTrees& trees) { return trees.empty() || to_compact(trees).has_value(); };
  return std::all_of(members.begin(), members.end(), possible) && possible(log_scale);
}

Section append(const std::vector<BoostedTrees>& members, const BoostedTrees& log_scale, std::vector<double> probe, bool compact,
               std::string& data) {
  compact = compact && compact_possible(members, log_scale);
  if (!compact) data.append((kAlignment - data.size() % kAlignment) % kAlignment, '\0');
  Section section;
  section.probe = std::move(probe);
  section.offset = data.size();
  for (const BoostedTrees& member : members) section.members.push_back(append(member, compact, data));
  if (!log_scale.empty()) section.log_scale.push_back(append(log_scale, compact, data));
  section.bytes = data.size() - section.offset;
  section.crc32c = core::crc32c(std::string_view(data).substr(section.offset));
  return section;
}

struct FirstLine {
  std::uint64_t head_bytes = 0;
  std::uint32_t sum = 0;
};

template <class Number>
bool read_digits(std::string_view text, int base, Number& into) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), into, base);
  return problem == std::errc() && end == text.data() + text.size();
}

core::Result<FirstLine> parse_first_line(std::string_view text, const std::string& name) {
  if (text.starts_with("{"))
    return core::fail(ErrorCode::unsupported, name + " is a calibration of an earlier release, which is no longer supported",
                      fit_again());
  if (!text.starts_with(kMagic)) return wrong_calibration(name + " is not a calibration file");
  if (text.size() < kFirstLine) return wrong_calibration(name + " is truncated inside its first line");
  const std::string_view rest = text.substr(kMagic.size());
  const std::string_view version = rest.substr(0, rest.find_first_of(" \n"));
  if (version != kVersion)
    return core::fail(ErrorCode::unsupported,
                      name + " is a calibration of version '" + std::string(version.substr(0, kCountDigits)) +
                          "'; this release supports " + std::string(kVersion),
                      fit_again());
  FirstLine line;
  const std::size_t count_at = kMagic.size() + kVersion.size() + 1, sum_at = count_at + kCountDigits + 1;
  if (text[kFirstLine - 1] != '\n' || text[count_at - 1] != ' ' || text[sum_at - 1] != ' ' ||
      !read_digits(text.substr(count_at, kCountDigits), 10, line.head_bytes) ||
      !read_digits(text.substr(sum_at, kSumDigits), 16, line.sum))
    return wrong_calibration(name + " has a damaged first line");
  return line;
}

}  // namespace

struct CalibrationFile::State {
  explicit State(core::PositionalBytes from) : bytes(std::move(from)) {}

  core::PositionalBytes bytes;
  std::uint64_t data_at = 0;  // where the sections begin
  CalibrationHead head;

  std::mutex mutex;  // of what follows
  std::map<std::size_t, LatencyModel> latency;
  std::map<std::string, EnergyModel> energy;
  std::optional<core::Error> error;

  core::Status read_head();
  core::Status check_sections(std::uint64_t data_bytes) const;
  // Fills in what was learnt.
  core::Status read(const Section& section, const std::string& name, std::vector<BoostedTrees>& members,
                    BoostedTrees& log_scale) const;
  // The model from `known`, or `bare` with its trees.
  template <class Key, class Model>
  core::Result<const Model*> model(std::map<Key, Model>& known, const Key& key, const Model& bare, const Section& section,
                                   const std::string& name) {
    const std::lock_guard lock(mutex);
    if (error) return tl::unexpected<core::Error>(*error);
    if (const auto found = known.find(key); found != known.end()) return &found->second;
    Model whole = bare;
    if (auto status = read(section, name, whole.trees, whole.bounds.log_scale); !status) {
      error = std::move(status).error();
      return tl::unexpected<core::Error>(*error);
    }
    return &known.emplace(key, std::move(whole)).first->second;
  }
};

core::Status CalibrationFile::State::read_head() {
  constexpr std::uint64_t kFirstRead = 64 << 10;
  AACO_ASSIGN(core::SharedBytes start, bytes.read(0, static_cast<std::size_t>(std::min(bytes.size(), kFirstRead))));
  AACO_ASSIGN(const FirstLine line, parse_first_line(start.text().substr(0, kFirstLine), bytes.name()));
  if (line.head_bytes > kLargestHead) return wrong_calibration(bytes.name() + " has a damaged first line");
  if (line.head_bytes > bytes.size() - kFirstLine) return wrong_calibration(bytes.name() + " is truncated inside its header");
  data_at = kFirstLine + line.head_bytes;
  if (data_at > start.size()) {
    AACO_ASSIGN(start, bytes.read(0, static_cast<std::size_t>(data_at)));
  }
  const std::string_view text = start.text().substr(kFirstLine, static_cast<std::size_t>(line.head_bytes));
  if (core::crc32c(text) != line.sum) return wrong_calibration(bytes.name() + " has a damaged header (checksum mismatch)");
  const auto document = core::Json::parse(text);
  if (!document) return tl::unexpected<core::Error>(core::Error(document.error()).with("reading the header of " + bytes.name()));
  auto parsed = head_from_json(*document);
  if (!parsed) return tl::unexpected<core::Error>(std::move(parsed).error().with("reading the header of " + bytes.name()));
  head = *std::move(parsed);
  const auto data_bytes = (*document)["data_bytes"].as_u64();
  if (!data_bytes) return wrong_calibration(bytes.name() + " does not state its size (data_bytes)");
  if (*data_bytes != bytes.size() - data_at)
    return wrong_calibration(bytes.name() + (*data_bytes > bytes.size() - data_at ? " is truncated: " : " is too long: ") +
                             std::to_string(bytes.size() - data_at) + " bytes after the header, expected " +
                             std::to_string(*data_bytes));
  return check_sections(*data_bytes);
}

core::Status CalibrationFile::State::check_sections(std::uint64_t data_bytes) const {
  const auto fits = [&](const Section& section) {
    return section.offset <= data_bytes && section.bytes <= data_bytes - section.offset;
  };
  const bool good = std::all_of(head.latency.begin(), head.latency.end(), fits) &&
                    std::all_of(head.energy.begin(), head.energy.end(), [&](const auto& named) { return fits(named.second); });
  if (!good) return wrong_calibration(bytes.name() + " has a section outside the file");
  return {};
}

core::Status CalibrationFile::State::read(const Section& section, const std::string& name, std::vector<BoostedTrees>& members,
                                          BoostedTrees& log_scale) const {
  const std::string where = "reading the section " + bytes.name() + " of " + name;
  const auto in_context = [&](core::Error&& problem) {
    problem.remedy = "fit it again: 'aaco calibrate --hardware " + head.calibration.device + " --measurements TABLE'";
    return tl::unexpected<core::Error>(std::move(problem).with(where));
  };
  auto read = bytes.read(data_at + section.offset, static_cast<std::size_t>(section.bytes));
  if (!read) return in_context(std::move(read).error());
  if (core::crc32c(read->text()) != section.crc32c)
    return in_context(wrong_calibration(bytes.name() + " is damaged in the section of " + name + " (checksum mismatch)").value());
  std::size_t at = 0;
  const auto take = [&](const Part& part) -> core::Result<BoostedTrees> {
    const std::span<const std::byte> nodes(read->data() + at, static_cast<std::size_t>(part.bytes));
    at += nodes.size();
    if (part.form == kCompactForm) return stats::from_compact(part.columns, part.bases, part.trees, nodes);
    if (reinterpret_cast<std::uintptr_t>(nodes.data()) % alignof(float) != 0)
      return wrong_calibration(bytes.name() + " has misaligned trees");
    return BoostedTrees::in_place(part.columns, part.bases, part.trees, nodes, read->owner());
  };
  for (const Part& part : section.members) {
    auto trees = take(part);
    if (!trees) return in_context(std::move(trees).error());
    members.push_back(*std::move(trees));
  }
  for (const Part& part : section.log_scale) {
    auto trees = take(part);
    if (!trees) return in_context(std::move(trees).error());
    log_scale = *std::move(trees);
  }
  return {};
}

std::string to_bytes(const DeviceCalibration& calibration) {
  CalibrationHead head{calibration, {}, {}};
  std::string data;
  for (const LatencyModel& model : calibration.latency)
    head.latency.push_back(
        append(model.trees, model.bounds.log_scale, probe_of(model.kind, model.type), calibration.compact, data));
  for (const auto& [name, model] : calibration.energy)
    head.energy.emplace(name, append(model.trees, model.bounds.log_scale, energy_probe(), calibration.compact, data));
  core::Json document = head_to_json(head);
  document.set("data_bytes", data.size());
  std::string text = document.dump(1) + "\n";
  text.append((kAlignment - (kFirstLine + text.size()) % kAlignment) % kAlignment, '\n');
  return first_line(text.size(), core::crc32c(text)) + text + data;
}

core::Result<CalibrationFile> CalibrationFile::open(core::PositionalBytes bytes) {
  auto state = std::make_shared<State>(std::move(bytes));
  AACO_TRY(state->read_head());
  return CalibrationFile(std::move(state));
}

const DeviceCalibration& CalibrationFile::head() const { return state_->head.calibration; }

core::Result<const LatencyModel*> CalibrationFile::latency(std::size_t place) const {
  const LatencyModel& bare = state_->head.calibration.latency.at(place);
  return state_->model(state_->latency, place, bare, state_->head.latency[place], bare.kind + " " + bare.type);
}

core::Result<const EnergyModel*> CalibrationFile::energy(const std::string& name) const {
  return state_->model(state_->energy, name, state_->head.calibration.energy.at(name), state_->head.energy.at(name),
                       "the energy of " + name);
}

core::Result<DeviceCalibration> CalibrationFile::whole() const {
  DeviceCalibration result = head();
  for (std::size_t place = 0; place < result.latency.size(); ++place) {
    AACO_ASSIGN(const LatencyModel* model, latency(place));
    result.latency[place] = *model;
  }
  for (auto& [name, into] : result.energy) {
    AACO_ASSIGN(const EnergyModel* model, energy(name));
    into = *model;
  }
  return result;
}

std::vector<SectionSize> CalibrationFile::sections() const {
  std::vector<SectionSize> result;
  const auto add = [&](std::string name, const Section& section) {
    SectionSize size{std::move(name), section.bytes, section.members.size(), 0};
    for (const Part& part : section.members) size.trees += part.trees;
    result.push_back(std::move(size));
  };
  for (std::size_t place = 0; place < head().latency.size(); ++place)
    add(head().latency[place].kind + " " + head().latency[place].type, state_->head.latency[place]);
  for (const auto& [name, section] : state_->head.energy) add("energy of " + name, section);
  return result;
}

core::Status CalibrationFile::status() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->error) return tl::unexpected<core::Error>(*state_->error);
  return {};
}

}  // namespace aaco::estimation

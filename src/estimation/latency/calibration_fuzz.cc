#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/checksum.h"
#include "estimation/calibration_file.h"
#include "estimation/latency/probe.h"

namespace {

using namespace aaco;
using core::Json;

core::Result<estimation::CalibrationFile> open_text(std::string text) {
  return estimation::CalibrationFile::open(core::PositionalBytes::of(std::move(text), "seed"));
}

std::string hex(std::uint32_t sum) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", sum);
  return text;
}

Json numbers(const std::vector<double>& values) {
  Json array = Json::array();
  for (const double value : values) array.push(value);
  return array;
}

// Of a class: the checksum that its section of the data has, and this release's probe.
void mend_section(Json& model, std::string_view data) {
  Json section = model["learnt"];
  const auto offset = section["offset"].as_u64(), bytes = section["bytes"].as_u64();
  if (!section.is_object() || !offset || !bytes || *offset > data.size()) return;
  section.set("probe", numbers(model.contains("kind") ? estimation::probe_of(model["kind"].text(), model["type"].text())
                                                      : estimation::energy_probe()));
  model.set("learnt", section.set("crc32c", hex(core::crc32c(data.substr(*offset, *bytes)))));
}

// Changes are found by sums before anything reads them. So the input is head and data, parted by a zero byte, of a file whose
// size and sums are right whatever they are.
std::string mended(std::string_view input) {
  const std::size_t middle = input.find('\0');
  const std::string_view data = middle == std::string_view::npos ? std::string_view() : input.substr(middle + 1);
  auto head = Json::parse(input.substr(0, middle));
  if (!head || !head->is_object()) return {};
  head->set("data_bytes", data.size());
  if (Json latency = (*head)["latency"]; latency.is_array()) {
    for (Json& model : latency.mutable_items())
      if (model.is_object()) mend_section(model, data);
    head->set("latency", latency);
  }
  const Json energy = (*head)["energy"];
  Json::Object mended_energy = energy.members();
  for (auto& [name, model] : mended_energy)
    if (model.is_object()) mend_section(model, data);
  if (energy.is_object()) head->set("energy", Json::object(std::move(mended_energy)));
  const std::string text = head->dump(-1);
  char line[64];
  std::snprintf(line, sizeof line, "aaco-calibration 2 %011zu %08x\n", text.size(), core::crc32c(text));
  return line + text + std::string(data);
}

// Estimates with it end, whatever it holds.
void estimate_with(const estimation::CalibrationFile& file) {
  estimation::DeviceFacts facts;
  facts.id = file.head().device;
  facts.flops_per_s = {{"bf16", 1e12}, {"fp32", 1e12}};
  facts.memory_bytes_per_s = 1e12;
  estimation::CalibrationSet set;
  set.add(file, facts);
  for (const char* type : {"bf16", "fp32"})
    for (const estimation::Kernel& kernel :
         {estimation::Kernel{estimation::GemmShape{1, 8, 8, 8}, type},
          estimation::Kernel{estimation::OtherShape{"x", 1e9, 1e6}, type},
          estimation::Kernel{estimation::AttentionShape{false, 4, 1, 99, 8, 2, 64, ""}, type, "a:b"}}) {
      (void)estimation::estimate(kernel, facts, &set);
      (void)estimation::energy_of(kernel, facts, 1e-3, set);
    }
}

// A calibration that is read can be written and read again.
void try_file(std::string bytes) {
  const auto file = open_text(std::move(bytes));
  if (!file) return;
  estimate_with(*file);
  const auto whole = file->whole();
  if (!whole) return;
  const std::string written = to_bytes(*whole);
  const auto again = open_text(written);
  if (!again || !again->whole() || to_bytes(*again->whole()) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  try_file(input);
  try_file(mended(input));
  return 0;
}

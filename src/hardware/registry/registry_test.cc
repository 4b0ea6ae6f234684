#include "hardware/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/files.h"
#include "core/strings.h"
#include "hardware/die.h"
#include "tests/support/shipped_device.h"
#include "tests/support/source_dir.h"

namespace aaco::hardware {
namespace {

using testing::HasSubstr;

constexpr std::string_view kGood = R"(schema: 1
id: acme_one_1gb
name: Acme One
vendor: acme
kind: gpu
architecture: A1
target: a100x
aliases: ["One", "Acme-1"]
sources:
  sheet: "Acme One data sheet"
  paper: "Acme paper"
engines:
  - name: lanes
    kind: vector
    units: {value: 10, source: sheet}
    clock: {value: 1, unit: GHz, source: sheet}
    rates:
      - {dtype: float32, ops: 100, peak: 1, unit: TFLOP/s, source: sheet}
      - {dtype: float16, ops: 200, peak: 2, sparse: 4, unit: TFLOP/s, source: sheet}
memory_levels:
  - {name: l2, scope: device, size: {value: 2, unit: MiB, source: sheet}, bandwidth: {value: 1, unit: TB/s, source: sheet}}
memory:
  kind: X
  size: {value: 1, unit: GiB, source: sheet}
  bandwidth: {value: 100, unit: GB/s, source: sheet, others: [{value: 102, source: paper}]}
  bus: {value: 128, unit: bit, source: sheet}
  rate: {value: 6250, unit: MT/s, source: sheet}
power:
  board: {value: 100, unit: W, source: sheet}
  idle: {value: 10, unit: W, source: sheet}
  states:
    - {name: half, aliases: [one_half], clock: {value: 500, unit: MHz, source: sheet}, power: {value: 40, unit: W, source: sheet}}
)";

Device good() { return parse_device(kGood, "one.yaml").value(); }
std::string with(std::string_view from, std::string_view to) {
  EXPECT_NE(kGood.find(from), std::string_view::npos) << from;
  return core::replace_all(std::string(kGood), from, to);
}
std::string refusal(std::string_view from, std::string_view to) {
  const auto parsed = parse_device(with(from, to), "one.yaml");
  return parsed ? "" : parsed.error().text();
}
std::string rules(std::string_view from, std::string_view to) {
  const auto parsed = parse_device(with(from, to), "one.yaml");
  if (!parsed) return parsed.error().text();
  std::string found;
  for (const Violation& violation : check_invariants(*parsed)) found += violation.rule + " ";
  return found;
}

TEST(Device, UnsupportedTypesRunAsNextWiderType) {
  const DeviceRegistry& registry = shipped_registry();
  const Device cpu = registry.find("i7-12700K").value();
  EXPECT_EQ(cpu.computed_as("float16"), "float32");
  EXPECT_NEAR(cpu.peak_ops_per_s("float32").value(), 8 * 32 * 4.7e9 + 4 * 16 * 3.6e9, 1e6) << "both kinds of cores work";
  EXPECT_EQ(registry.find("Coral").value().computed_as("float32"), "");
  EXPECT_EQ(good().computed_as("float8e5m2"), "float16");
  EXPECT_EQ(good().computed_as("string"), "");
}

TEST(ParseDevice, ReadsUnitsAndSources) {
  const Device device = good();
  EXPECT_EQ(device.engines[0].clock_hz->value, 1e9);
  EXPECT_EQ(device.memory.bytes_per_s->others[0].value, 102e9);
  EXPECT_EQ(device.memory.bytes_per_s->others[0].source, "paper");
  EXPECT_EQ(device.memory_levels[0].bytes.value, 2 << 20);
  EXPECT_TRUE(check_invariants(device).empty());
}

TEST(ParseDevice, ErrorsNameFileAndLine) {
  EXPECT_THAT(refusal("value: 100, unit: GB/s", "value: 100, unit: GHz"),
              testing::AllOf(HasSubstr("one.yaml:25"), HasSubstr("GHz")));
  EXPECT_THAT(refusal("unit: TFLOP/s, source: sheet}\n", "unit: W, source: sheet}\n"),
              HasSubstr("is not a valid unit for this figure"));
  EXPECT_THAT(refusal("source: sheet, others", "source: nowhere, others"), HasSubstr("not declared"));
  EXPECT_THAT(refusal("dtype: float32", "dtype: float33"), HasSubstr("unknown data type"));
  EXPECT_THAT(refusal("kind: gpu", "kind: toaster"), HasSubstr("use one of: cpu, gpu"));
  EXPECT_THAT(refusal("value: 128, unit: bit", "value: -128, unit: bit"), HasSubstr("above 0"));
  EXPECT_THAT(refusal("schema: 1", "schema: 9"), HasSubstr("schema 9"));
  EXPECT_THAT(refusal("id: acme_one_1gb", "id: ../evil"), HasSubstr("not a valid device id"));
  EXPECT_THAT(refusal("vendor: acme", "vendro: acme"), HasSubstr("vendor"));
  EXPECT_THAT(refusal("engines:", "motors:"), HasSubstr("engines"));
  EXPECT_THAT(refusal("value: 1, unit: GiB", "value: one, unit: GiB"), HasSubstr("one.yaml:"));
  EXPECT_THAT(refusal("value: 1, unit: GiB", "value: [1], unit: GiB"), HasSubstr("one.yaml:24: expected a number"));
  EXPECT_THAT(refusal("ops: 100, peak: 1, unit: TFLOP/s, ", ""), HasSubstr("ops"));
  EXPECT_THAT(refusal("dtype: float16, ops: 200", "dtype: float32, ops: 200"), HasSubstr("duplicate"));
  EXPECT_FALSE(parse_device("", "empty.yaml"));
  EXPECT_FALSE(parse_device("[1, 2]", "list.yaml"));
}

TEST(ParseDevice, RefusesFiguresBeyondAnyDevice) {
  const auto beyond = [](const std::string& line) {
    return testing::AllOf(HasSubstr("one.yaml:" + line), HasSubstr("implausible"));
  };
  EXPECT_THAT(refusal("size: {value: 1, unit: GiB", "size: {value: 1e308, unit: GiB"), beyond("24"));
  EXPECT_THAT(refusal("value: 100, unit: GB/s", "value: 1e-300, unit: GB/s"), beyond("25"));
  EXPECT_THAT(refusal("peak: 1,", "peak: 1e305,"), beyond("18"));
  EXPECT_THAT(refusal("sparse: 4,", "sparse: 1e305,"), beyond("19"));
  EXPECT_THAT(refusal("sparse: 4,", "sparse: -4,"), HasSubstr("above 0"));
  EXPECT_THAT(refusal("value: 100, unit: W", "value: 100000, unit: kW"), beyond("29"));
  EXPECT_THAT(refusal("{value: 102, source", "{value: 1e300, source"), beyond("25"));
  EXPECT_THAT(refusal("units: {value: 10,", "units: {value: 1e30,"), beyond("15"));
  EXPECT_THAT(refusal("units: {value: 10,", "units: {value: 10.5,"), HasSubstr("not an integer"));
  EXPECT_THAT(refusal("ops: 200,", "ops: 1e300,"), HasSubstr("at most 1e9"));
}

TEST(Invariants, FindTypicalRegistryErrors) {
  EXPECT_EQ(rules("peak: 1,", "peak: 4,"), "peak ") << "a sparse peak given as dense";
  EXPECT_EQ(rules("sparse: 4", "sparse: 2"), "sparse ");
  EXPECT_EQ(rules("value: 6250", "value: 62500"), "bandwidth ");
  EXPECT_EQ(rules("ops: 200, peak: 2, sparse: 4,", "ops: 50, peak: 0.5,"), "order ");
  EXPECT_EQ(rules("value: 10, unit: W", "value: 200, unit: W"), "power ");
  EXPECT_EQ(rules("value: 500, unit: MHz", "value: 5, unit: GHz"), "power ");
  EXPECT_EQ(rules("bandwidth: {value: 1, unit: TB/s", "bandwidth: {value: 1, unit: GB/s"), "order ");
}

TEST(Registry, UserEntryWinsAndNamesMustBeUnique) {
  auto folder = core::TemporaryDirectory::make(testing::TempDir()).value();
  core::Paths paths;
  paths.share = core::join_path(folder.path(), "share");
  paths.registry = core::join_path(folder.path(), "own");
  EXPECT_THAT(DeviceRegistry::load(paths).error().text(), HasSubstr("AACO_SHARE"));
  const auto put = [](const std::string& root, const std::string& name, const std::string& text) {
    ASSERT_TRUE(core::make_directories(root));
    ASSERT_TRUE(core::write_file_atomic(core::join_path(root, name), text));
  };
  put(core::join_path(paths.share, "data/hardware/deep"), "acme_one_1gb.yaml", std::string(kGood));
  EXPECT_EQ(DeviceRegistry::load(paths).value().find("one").value().name, "Acme One");
  put(core::join_path(paths.registry, "hardware"), "mine.yaml", with("name: Acme One", "name: My One"));
  EXPECT_EQ(DeviceRegistry::load(paths).value().find("acme-1").value().name, "My One");
  EXPECT_EQ(DeviceRegistry::load(paths).value().find("one half").value().power.board_watts->value, 40);
  put(core::join_path(paths.registry, "hardware"), "other.yaml", with("id: acme_one_1gb", "id: acme_two_1gb"));
  EXPECT_THAT(DeviceRegistry::load(paths).error().text(), HasSubstr("is used for both"));
  put(core::join_path(paths.registry, "hardware"), "other.yaml", "schema: 1\nid: [");
  EXPECT_THAT(DeviceRegistry::load(paths).error().text(), HasSubstr("other.yaml:"));
}

TEST(Audit, NamesEveryProblemWithFileAndLine) {
  auto folder = core::TemporaryDirectory::make(testing::TempDir()).value();
  const auto put = [&](const std::string& name, const std::string& text) {
    const std::string path = core::join_path(folder.path(), name);
    EXPECT_TRUE(core::write_file_atomic(path, text));
    return path;
  };
  const std::string good = put("good.yaml", std::string(kGood));
  const std::string peak = put("peak.yaml", core::replace_all(with("peak: 1,", "peak: 4,"), "acme_one_1gb", "acme_two_1gb"));
  const std::string unit = put("unit.yaml", with("value: 100, unit: GB/s", "value: 100, unit: GHz"));
  const std::string twin = put("twin.yaml", with("id: acme_one_1gb", "id: acme_twin_1gb"));
  const Audit audit = audit_files({good, peak, unit, twin}).value();
  EXPECT_EQ(audit.own, 4U);
  std::string found;
  for (const Problem& problem : audit.problems) found += problem.rule + " " + problem.where + "\n";
  EXPECT_THAT(found, HasSubstr("peak " + peak + ":18"));
  EXPECT_THAT(found, HasSubstr("schema " + unit + ":25"));
  EXPECT_THAT(found, HasSubstr("name " + twin + ":1"));
  EXPECT_EQ(audit_files({good}).value().problems.size(), 0U);
  EXPECT_EQ(audit_files({core::join_path(folder.path(), "none.yaml")}).value().problems.size(), 1U);
}

TEST(Audit, TheShippedRegistryHasNoProblem) {
  core::Paths paths;
  paths.share = AACO_SOURCE_DIR;
  paths.registry = "/nonexistent";
  const Audit audit = audit_registry(paths).value();
  EXPECT_GE(audit.shipped, 48U);
  for (const Problem& problem : audit.problems) ADD_FAILURE() << problem.where << ": " << problem.text;
  paths.share = "/nonexistent";
  EXPECT_FALSE(audit_registry(paths));
}

TEST(Registry, CommonDeviceIsFound) {
  core::Paths paths;
  paths.share = AACO_SOURCE_DIR;
  paths.registry = "/nonexistent";
  for (const char* name : {"MI300X", "nvidia_h100_sxm5_80gb", "jetson_orin_agx_15w", "nvidia_jetson_agx_orin_64gb@15W", "gfx90a",
                           "mi300y", "MI300X@turbo", "", "A100", "A100 80GB", "9754", "xeon"}) {
    const auto one = DeviceRegistry::load_one(paths, name);
    const auto all = shipped_registry().find(name);
    ASSERT_EQ(one.has_value(), all.has_value()) << name;
    EXPECT_EQ(one ? one->id + one->state : one.error().text(), all ? all->id + all->state : all.error().text());
  }
}

TEST(Registry, CommonDevicesAreFound) {
  core::Paths paths;
  paths.share = AACO_SOURCE_DIR;
  paths.registry = "/nonexistent";
  const std::vector<std::string> names{"MI300X", "nvidia_jetson_agx_orin_64gb@15W", "mi300y", ""};
  const DeviceRegistry some = DeviceRegistry::load_some(paths, names).value();
  EXPECT_LT(some.devices().size(), shipped_registry().devices().size() / 2);
  for (const std::string& name : names) EXPECT_EQ(some.id_of(name), shipped_registry().id_of(name)) << name;
  EXPECT_TRUE(DeviceRegistry::load_some(paths, {}).value().devices().empty());
}

TEST(DeviceJson, CarriesFiguresWithUnitsAndSources) {
  const core::Json json = to_json(good());
  EXPECT_EQ(json["memory"]["bandwidth"]["value"].as_f64(), 100e9);
  EXPECT_EQ(json["memory"]["bandwidth"]["source"].text(), "sheet");
  EXPECT_EQ(json["engines"].items()[0]["rates"].items()[1]["ops_per_s"].as_f64(), 2e12);
  EXPECT_EQ(json["engines"].items()[0]["rates"].items()[1]["source"].text(), "sheet");
}

}  // namespace
}  // namespace aaco::hardware

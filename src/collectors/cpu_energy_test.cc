#include "collectors/cpu_energy.h"

#include <gtest/gtest.h>

#include "tests/support/fake_machine.h"

namespace aaco::collectors {
namespace {

using aaco::testing::FakeMachine;

constexpr const char* kFirst = "/sys/class/powercap/intel-rapl:0/energy_uj";
constexpr const char* kSecond = "/sys/class/powercap/intel-rapl:1/energy_uj";
constexpr const char* kCore = "/sys/class/powercap/intel-rapl:0:0/energy_uj";

void set_domain(const FakeMachine& machine, const std::string& id, const std::string& name, const std::string& microjoules) {
  const std::string folder = "/sys/class/powercap/" + id;
  machine.write(folder + "/name", name);
  machine.write(folder + "/max_energy_range_uj", "100000000\n");
  machine.write(folder + "/energy_uj", microjoules);
}

FakeMachine two_packages() {
  FakeMachine machine;
  set_domain(machine, "intel-rapl:0", "package-0\n", "5000000\n");
  set_domain(machine, "intel-rapl:0:0", "core\n", "0\n");
  set_domain(machine, "intel-rapl:1", "package-1\n", "99000000\n");
  set_domain(machine, "intel-rapl:2", "psys\n", "0\n");
  return machine;
}

TEST(CpuEnergy, AddsPackagesAndNothingThatIsPartOfThem) {
  const FakeMachine machine = two_packages();
  auto energy = CpuEnergy::open({machine.root()});
  ASSERT_TRUE(energy) << energy.error().text();
  EXPECT_EQ(*energy->read_joules(), 0);
  machine.write(kFirst, "7000000\n");
  machine.write(kCore, "1000000\n");
  machine.write("/sys/class/powercap/intel-rapl:2/energy_uj", "9000000\n");
  EXPECT_DOUBLE_EQ(*energy->read_joules(), 2);
  machine.write(kSecond, "500000\n");  // wrapped
  EXPECT_DOUBLE_EQ(*energy->read_joules(), 3.5);
}
TEST(CpuEnergy, CounterThatCannotBeReadIsAnError) {
  const FakeMachine machine = two_packages();
  auto energy = CpuEnergy::open({machine.root()});
  ASSERT_TRUE(energy);
  machine.write(kFirst, "gone\n");
  EXPECT_EQ(energy->read_joules().error().code, core::ErrorCode::io);
}
TEST(CpuEnergy, MachineWithoutPackagesIsUnsupported) {
  const FakeMachine none, part;
  EXPECT_EQ(CpuEnergy::open({none.root()}).error().code, core::ErrorCode::unsupported);
  set_domain(part, "intel-rapl:0:0", "core\n", "0\n");
  EXPECT_EQ(CpuEnergy::open({part.root()}).error().code, core::ErrorCode::unsupported);
}

}  // namespace
}  // namespace aaco::collectors

#include "workflows/run/tracer_watch.h"

#include <gtest/gtest.h>

#include "tests/support/fake_machine.h"

namespace aaco::workflows {
namespace {

using aaco::testing::FakeMachine;

constexpr std::int64_t kSecond = 1'000'000'000;

void process(const FakeMachine& machine, const std::string& id, const std::string& name, const std::string& tracer,
             const std::string& children) {
  machine.write("/proc/" + id + "/status", "TracerPid:\t" + tracer + "\n");
  machine.write("/proc/" + id + "/comm", name + "\n");
  machine.write("/proc/" + id + "/task/" + id + "/children", children);
}

TEST(TracerWatch, FindsTheTracerOfAChild) {
  const FakeMachine machine;
  process(machine, "5", "strace", "0", "6 ");
  process(machine, "6", "w", "5", "");
  TracerWatch watch(machine.root(), 5);
  EXPECT_EQ(watch.names(), "");
  watch.look(kSecond);
  EXPECT_EQ(watch.names(), "strace");
}

TEST(TracerWatch, KeepsWhatItSawAndNamesEachOnce) {
  const FakeMachine machine;
  process(machine, "5", "w", "8", "6 7 ");
  process(machine, "6", "w", "8", "");
  process(machine, "7", "w", "9", "");
  process(machine, "8", "strace", "0", "");
  process(machine, "9", "gdb", "0", "");
  TracerWatch watch(machine.root(), 5);
  watch.look(kSecond);
  process(machine, "5", "w", "0", "");
  watch.look(3 * kSecond);
  EXPECT_EQ(watch.names(), "gdb strace");
}

TEST(TracerWatch, LooksNowAndThenOnly) {
  const FakeMachine machine;
  process(machine, "5", "w", "0", "");
  process(machine, "8", "gdb", "0", "");
  TracerWatch watch(machine.root(), 5);
  watch.look(kSecond);
  process(machine, "5", "w", "8", "");
  watch.look(kSecond + 1);
  EXPECT_EQ(watch.names(), "");
  watch.look(2 * kSecond);
  EXPECT_EQ(watch.names(), "gdb");
}

TEST(TracerWatch, OfAProcessThatIsGoneItSaysNothing) {
  const FakeMachine machine;
  TracerWatch watch(machine.root(), 5);
  watch.look(kSecond);
  EXPECT_EQ(watch.names(), "");
}

}  // namespace
}  // namespace aaco::workflows

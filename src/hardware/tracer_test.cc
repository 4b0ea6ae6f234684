#include "hardware/tracer.h"

#include <gtest/gtest.h>

#include "tests/support/fake_machine.h"

namespace aaco::hardware {
namespace {

using aaco::testing::FakeMachine;

std::string status(const std::string& tracer) { return "Name:\tw\nState:\tR (running)\nTracerPid:\t" + tracer + "\nUid:\t0\n"; }

TEST(Tracer, IsNamedByTheProcessThatTraces) {
  const FakeMachine machine;
  machine.write("/proc/7/status", status("9"));
  machine.write("/proc/9/comm", "strace\n");
  EXPECT_EQ(tracer_of(machine.root(), 7), "strace");
}

TEST(Tracer, NoneIsEmpty) {
  const FakeMachine machine;
  machine.write("/proc/7/status", status("0"));
  machine.write("/proc/8/status", "Name:\tw\n");
  machine.write("/proc/9/status", status("x"));
  machine.write("/proc/10/status", status("-3"));
  for (const std::int64_t process : {7, 8, 9, 10, 11}) EXPECT_EQ(tracer_of(machine.root(), process), "") << process;
}

TEST(Tracer, OfAnotherNamespaceHasNoName) {
  const FakeMachine machine;
  machine.write("/proc/7/status", status("9"));
  EXPECT_EQ(tracer_of(machine.root(), 7), "unknown");
}

TEST(Tracer, AChosenNameBreaksNothing) {
  const FakeMachine machine;
  machine.write("/proc/7/status", status("9"));
  machine.write("/proc/9/comm", "a b\x1b[31m\n");
  EXPECT_EQ(tracer_of(machine.root(), 7), "a?b?[31m");
}

}  // namespace
}  // namespace aaco::hardware

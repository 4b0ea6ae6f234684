#include "collectors/ebpf/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "core/files.h"

namespace aaco::collectors::ebpf {
namespace {

using ::testing::HasSubstr;

TEST(Refused, EveryRefusalIsUnsupportedWithRemedy) {
  for (const int code : {-EPERM, -EACCES, -ENOSYS, -EINVAL, -ENOMEM}) {
    const core::Error error = refused(code);
    EXPECT_EQ(error.code, core::ErrorCode::unsupported) << code;
    EXPECT_FALSE(error.remedy.empty()) << code;
  }
  EXPECT_THAT(refused(-EPERM).remedy, HasSubstr("cap_bpf"));
  EXPECT_THAT(refused(-ENOSYS).message, HasSubstr("not support eBPF"));
}

struct ProcessNumbers : ::testing::Test {
  core::TemporaryDirectory folder = *core::TemporaryDirectory::make("/tmp", "aaco-namespace");
  core::Status with(const char* link) {
    EXPECT_TRUE(core::make_directories(folder.path() + "/proc/self/ns"));
    EXPECT_EQ(::symlink(link, (folder.path() + "/proc/self/ns/pid").c_str()), 0);
    return sees_the_machines_processes({folder.path()});
  }
};

TEST_F(ProcessNumbers, HostNamespace) { EXPECT_TRUE(with("pid:[4026531836]")); }
TEST_F(ProcessNumbers, ContainerNamespace) {
  const auto status = with("pid:[4026532999]");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, core::ErrorCode::unsupported);
  EXPECT_THAT(status.error().remedy, HasSubstr("--pid=host"));
}
TEST_F(ProcessNumbers, UnknownNamespaceIsAccepted) { EXPECT_TRUE(sees_the_machines_processes({folder.path()})); }

}  // namespace
}  // namespace aaco::collectors::ebpf

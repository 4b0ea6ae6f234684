#include "analytics/gaps/named_gap_testing.h"

namespace aaco::analytics::gaps {
namespace {

class CompilerWait : public NamedGapTest {
 public:
  CompilerWait& first_launch() {
    launch(10.9, 10.95);
    gap_.launch->is_first = true;
    return *this;
  }
};

TEST_F(CompilerWait, AWaitForAChildThatTheLoadOfCodeFollows) {
  call("os", "waitpid", 1.2, 10.5).call("cuda_driver", "cuModuleLoadData", 10.6, 10.8);
  EXPECT_EQ(first_launch().cause(), "jit-compilation");
}
TEST_F(CompilerWait, ChildrenOfPython) {
  call("python", "subprocess.py(1165): communicate", 1.1, 10.5);
  call("python", "<built-in method poll of select.poll object>", 1.2, 10.4);
  call("hip", "hipModuleLoadData", 10.6, 10.8);
  EXPECT_EQ(first_launch().cause(), "jit-compilation");
}
TEST_F(CompilerWait, NoLoadNoCompiler) {
  call("os", "waitpid", 1.2, 10.5);
  EXPECT_EQ(first_launch().cause(), "event-wait");
}
TEST_F(CompilerWait, ARequestBeforeAKernelIsLoadedIsAwaited) {
  call("os", "poll", 1.2, 10.5).call("cuda_driver", "cuModuleLoadData", 10.6, 10.8);
  EXPECT_EQ(first_launch().cause(), "event-wait");
}
TEST_F(CompilerWait, AKernelThatRanBeforeWasCompiled) {
  call("os", "waitpid", 1.2, 10.5).call("cuda_driver", "cuModuleLoadData", 10.6, 10.8);
  EXPECT_EQ(launch(10.9, 10.95).cause(), "event-wait");
}
TEST_F(CompilerWait, DistinguishesPinnedAndDeviceMemory) {
  for (const char* name :
       {"cudaHostAlloc", "cudaMallocHost", "hipHostMalloc", "hipHostRegister", "cuMemAllocHost_v2", "cudaFreeHost"})
    EXPECT_EQ(book_.at(*book_.match(HostDomain::runtime, name)).id, "pinned-allocation") << name;
  for (const char* name : {"cudaMalloc", "hipFree", "cuMemAlloc_v2", "hsa_amd_memory_pool_allocate"})
    EXPECT_EQ(book_.at(*book_.match(HostDomain::runtime, name)).id, "allocation") << name;
}

}  // namespace
}  // namespace aaco::analytics::gaps

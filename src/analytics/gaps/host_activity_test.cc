#include <gtest/gtest.h>

#include "analytics/gaps/named_gap_testing.h"

// What the launching thread did, told from neighbouring events and from what a name gives way to.
namespace aaco::analytics::gaps {
namespace {

class HostActivityTest : public NamedGapTest {};

TEST_F(HostActivityTest, OperatorsOfTheCpuTogetherFillAGap) {
  launch(10.9, 10.95).call("python", "train.py(12): main", 0, 20);
  for (int i = 0; i < 4; ++i) call("cpu_op", i % 2 == 0 ? "aten::sort" : "aten::multinomial", 1.1 + 2.4 * i, 3.4 + 2.4 * i);
  EXPECT_EQ(cause(), "host-operator") << "none of them has half of the gap";
}
TEST_F(HostActivityTest, NeighbourOfANamedOperatorComputesToo) {
  launch(10.9, 10.95).call("cpu_op", "aten::sort", 1, 7).call("cpu_op", "aten::multinomial", 7, 10.5);
  EXPECT_EQ(cause(), "host-operator");
  EXPECT_EQ(explained_.row.host_cause_ns, ns(9.5));
}
TEST_F(HostActivityTest, ShortOperatorsAreDispatch) {
  launch(10.9, 10.95);
  for (int i = 0; i < 19; ++i) call("cpu_op", "aten::view", 1.1 + 0.5 * i, 1.5 + 0.5 * i);
  EXPECT_EQ(cause(), "framework");
}
TEST_F(HostActivityTest, FirstCollectiveMakesConnections) {
  gap_.end_ns = ns(21);
  launch(20.9, 20.95).call("cpu_op", "c10d::allreduce_", 1, 20.5).call("cpu_op", "nccl:all_reduce", 1.1, 20.4);
  EXPECT_EQ(cause(), "library-initialisation");
}
TEST_F(HostActivityTest, LaterCollectiveMakesNone) {
  gap_.end_ns = ns(21);
  call("cpu_op", "c10d::allreduce_", 0.2, 0.3).launch(20.9, 20.95).call("cpu_op", "c10d::allreduce_", 1, 20.5);
  EXPECT_EQ(cause(), "collective-launch");
}
TEST_F(HostActivityTest, FirstCallOfAnOperatorBeforeItsNewKernelSetsUp) {
  gap_.end_ns = ns(41);
  launch(40.9, 40.95).call("cpu_op", "aten::fft_c2c", 1, 40.99);
  gap_.launch->is_first = true;
  EXPECT_EQ(cause(), "first-use");
}
TEST_F(HostActivityTest, FirstCallBeforeAKnownKernelIsDispatch) {
  gap_.end_ns = ns(41);
  launch(40.9, 40.95).call("cpu_op", "aten::fft_c2c", 1, 40.99);
  EXPECT_EQ(cause(), "framework") << "the kernel ran before";
}
TEST_F(HostActivityTest, SecondCallOfAnOperatorIsDispatch) {
  gap_.end_ns = ns(41);
  call("cpu_op", "aten::fft_c2c", 0.1, 0.3).launch(40.9, 40.95).call("cpu_op", "aten::fft_c2c", 1, 40.99);
  gap_.launch->is_first = true;
  EXPECT_EQ(cause(), "framework");
}
TEST_F(HostActivityTest, FirstStreamOfAProcessSetsUpTheRuntime) {
  gap_.end_ns = ns(900);
  launch(899.9, 899.95).call("cuda_runtime", "cudaStreamCreateWithFlags", 1, 700);
  EXPECT_EQ(cause(), "library-initialisation");
}
TEST_F(HostActivityTest, LaterStreamsSetUpNothing) {
  gap_.end_ns = ns(900);
  call("cuda_runtime", "cudaStreamCreateWithFlags", 0.2, 0.3)
      .launch(899.9, 899.95)
      .call("cuda_runtime", "cudaStreamCreateWithFlags", 1, 700);
  EXPECT_EQ(cause(), "resource-creation");
}
TEST_F(HostActivityTest, CollectivesOfTheHostWaitForOtherRanks) {
  launch(10.9, 10.95)
      .call("python", "torch/distributed/distributed_c10d.py(4521): barrier", 1, 10.6)
      .call("cpu_op", "gloo:barrier", 1.1, 10.5);
  EXPECT_EQ(cause(), "peer-wait");
}
TEST_F(HostActivityTest, LockOfAQueueIsAWaitForWork) {
  launch(10.9, 10.95).call("python", "queue.py(154): get", 1, 10.7).call("python", "threading.py(327): wait", 1.1, 10.6);
  call("python", "<built-in method acquire of _thread.lock object>", 1.2, 10.5);
  EXPECT_EQ(cause(), "event-wait");
}
TEST_F(HostActivityTest, LockOfALoadersQueueIsLoading) {
  launch(10.9, 10.95).call("python", "torch/utils/data/dataloader.py(1300): _get_data", 1, 10.8);
  call("python", "queue.py(154): get", 1.1, 10.7).call("python", "threading.py(327): wait", 1.2, 10.6);
  EXPECT_EQ(cause(), "data-loading");
}
TEST_F(HostActivityTest, LockWithoutAQueueStaysALock) {
  launch(10.9, 10.95).call("python", "my_queue.py(9): drain", 1, 10.7).call("python", "threading.py(327): wait", 1.2, 10.6);
  EXPECT_EQ(cause(), "lock");
}
TEST_F(HostActivityTest, OperatorThatTriesNewKernelsSearches) {
  launch(10.9, 10.95).call("cpu_op", "aten::cudnn_convolution", 0.2, 40).call("hip", "hipLaunchKernel", 0.5, 0.6);
  EXPECT_EQ(cause(), "framework") << "the kernel ran before";
  gap_.launch->is_first = true;
  EXPECT_EQ(cause(), "first-use");
}
TEST_F(HostActivityTest, OperatorThatLaunchedNothingBeforeSearchesNothing) {
  launch(10.9, 10.95).call("cpu_op", "aten::addmm", 0.2, 40);
  gap_.launch->is_first = true;
  EXPECT_EQ(cause(), "framework");
}
TEST_F(HostActivityTest, ModuleAroundANewKernelSearchesNothing) {
  launch(10.9, 10.95).call("python", "nn.Module: Net_0", 0.2, 40).call("cpu_op", "aten::relu", 10.7, 11.2);
  gap_.launch->is_first = true;
  EXPECT_EQ(cause(), "framework");
}
TEST_F(HostActivityTest, FunctionsBesideANamedOneAreNamedToo) {
  launch(10.9, 10.95).call("python", "worker.py(5): run", 0, 20).call("python", "scheduler.py(80): schedule", 1, 7);
  call("python", "model_runner.py(310): _prepare_inputs", 7, 10.8);
  EXPECT_EQ(cause(), "host-code");
  EXPECT_EQ(explained_.row.host_cause_ns, ns(9.8));
}
TEST_F(HostActivityTest, ReadingWeightsLoadsAModel) {
  launch(10.9, 10.95).call("python", "transformers/modeling_utils.py(3900): from_pretrained", 0, 10.8);
  call("python", "safetensors/torch.py(315): load_file", 1, 10.7);
  EXPECT_EQ(cause(), "model-loading");
}
TEST_F(HostActivityTest, FlushInsideACheckpointIsWritingIt) {
  launch(10.9, 10.95).call("python", "torch/distributed/checkpoint/state_dict_saver.py(170): save", 0, 10.8);
  call("python", "torch/distributed/checkpoint/filesystem.py(600): write_data", 1, 10.7);
  call("python", "<built-in function fsync>", 1.1, 10.6);
  EXPECT_EQ(cause(), "checkpoint");
}
TEST_F(HostActivityTest, FlushOutsideACheckpointIsStorage) {
  launch(10.9, 10.95).call("python", "results.py(8): flush", 1, 10.7).call("python", "<built-in function fsync>", 1.1, 10.6);
  EXPECT_EQ(cause(), "disk");
}
TEST_F(HostActivityTest, LongRuntimeCallIsNamed) {
  launch(10.9, 10.95).call("cpu_op", "aten::add", 0.5, 11).call("hip", "hipIpcOpenMemHandle", 1, 10.5);
  EXPECT_EQ(cause(), "host-code");
  EXPECT_EQ(evidence(), "hipIpcOpenMemHandle");
}
TEST_F(HostActivityTest, CallThatEndsAHairIntoAFunctionDoesNotNameIt) {
  launch(10.9, 10.95).call("hip", "hipDeviceSynchronize", 0.1, 1.0006).call("python", "dialogue.py(9): next_turn", 1, 10.8);
  EXPECT_EQ(cause(), "host-code");
}

}  // namespace
}  // namespace aaco::analytics::gaps

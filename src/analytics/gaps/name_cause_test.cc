#include <gtest/gtest.h>

#include <algorithm>

#include "analytics/gaps/named_gap_testing.h"

namespace aaco::analytics::gaps {
namespace {

TEST_F(NamedGapTest, DataLoaderAroundManyOperators) {
  launch(10.9, 10.95).call("python", "torch/utils/data/dataloader.py(701): __next__", 0.5, 10.8);
  for (int i = 0; i < 9; ++i) call("cpu_op", "aten::stack", 1 + i, 1.9 + i);
  EXPECT_EQ(cause(), "data-loading");
  EXPECT_EQ(evidence(), "torch/utils/data/dataloader.py(701): __next__");
}
TEST_F(NamedGapTest, AllocationInsideAnOperator) {
  launch(10.9, 10.95).call("cpu_op", "aten::empty", 1, 10.5).call("hip", "hipMalloc", 1.1, 10.4);
  EXPECT_EQ(cause(), "allocation");
  EXPECT_EQ(evidence(), "hipMalloc");
}
TEST_F(NamedGapTest, UnknownFunctionIsNamed) {
  launch(10.9, 10.95).call("python", "train.py(12): main", 0, 20).call("python", "checks.py(7): audit", 1, 10.5);
  call("python", "<built-in method crc of Sum object>", 1.2, 10.4);
  EXPECT_EQ(cause(), "host-code");
  EXPECT_EQ(evidence(), "<built-in method crc of Sum object>");
  EXPECT_EQ(names_.text(explained_.host_frame), "checks.py(7): audit > <built-in method crc of Sum object>");
  EXPECT_EQ(explained_.cause, Cause::host_late);
}
// The causes of four gaps that load weights, with `launches` between each and the next.
std::vector<std::string> causes_of_loads(NamedGapTest& test, int launches) {
  std::vector<std::string> causes;
  for (int i = 0; i < 4; ++i) {
    const double at = 100.0 * i;
    test.gap_.start_ns = NamedGapTest::ns(at + 1);
    test.gap_.end_ns = NamedGapTest::ns(at + 11);
    test.explainer_->still_idle({{0, test.gap_.start_ns}});
    test.call("python", "safetensors/stream.py(58): next_layer", at + 1.1, at + 10.8);
    causes.push_back(test.launch(at + 10.9, at + 10.95).cause());
    for (int one = 0; one < launches; ++one) test.call("hip", "hipLaunchKernel", at + 20 + one, at + 20.1 + one);
  }
  return causes;
}
TEST_F(NamedGapTest, WeightsLoadedBetweenComputationsAreStreamed) {
  EXPECT_EQ(causes_of_loads(*this, 12),
            (std::vector<std::string>{"model-loading", "model-loading", "weight-streaming", "weight-streaming"}));
  EXPECT_EQ(evidence(), "safetensors/stream.py(58): next_layer");
}
TEST_F(NamedGapTest, ACopyAndAConversionPerTensorAreTheLoadingOfAModel) {
  EXPECT_EQ(causes_of_loads(*this, 3), std::vector<std::string>(4, "model-loading"));
}
TEST_F(NamedGapTest, AnObjectWithoutATypeIsNamedWithItsCaller) {
  launch(10.9, 10.95).call("python", "train.py(12): main", 0, 20).call("python", "sizes.py(44): agree", 1, 10.5);
  call("python", "<built-in method get of PyCapsule object at 0x7f8>", 1.2, 10.4);
  EXPECT_EQ(cause(), "host-code");
  EXPECT_EQ(evidence(), "sizes.py(44): agree > <built-in method get of PyCapsule>");  // an address differs from run to run
}
TEST_F(NamedGapTest, WithoutLaunchesTheEventThatFillsTheGapIsNamed) {
  call("python", "feed.py:77 take", 1, 10.5);
  EXPECT_EQ(cause(), "host-code");
  EXPECT_EQ(evidence(), "feed.py:77 take");
  call("python", "torch/utils/data/dataloader.py(701): __next__", 1.1, 10.4, 2);
  EXPECT_EQ(cause(), "data-loading");
}
TEST_F(NamedGapTest, WithoutLaunchesAnEventAroundTheGapTellsNothing) {
  call("python", "train.py:12 main", 0, 20).call("python", "a.py:1 f", 1, 4).call("marker", "step", 0.9, 14);
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(NamedGapTest, WithoutLaunchesTwoThreadsAreAmbiguous) {
  call("python", "a.py:1 f", 1, 10.5).call("python", "b.py:1 g", 1.1, 10.5, 2);
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(NamedGapTest, StreamsCreatedInTheLoopAreNoInitialisation) {
  launch(10.9, 10.95).call("cuda_runtime", "cudaStreamCreateWithPriority", 1, 10.5);
  EXPECT_EQ(cause(), "resource-creation");
}
TEST_F(NamedGapTest, SocketsOfARequestAreTheNetwork) {
  launch(10.9, 10.95).call("python", "requests/api.py(62): get", 1, 10.5).call("python", "socket.py(706): readinto", 1.1, 10.4);
  call("python", "<built-in method recv_into of _socket.socket object>", 1.2, 10.3);
  EXPECT_EQ(cause(), "network");
  EXPECT_EQ(evidence(), "<built-in method recv_into of _socket.socket object>");
  EXPECT_EQ(names_.text(explained_.host_frame),
            "requests/api.py(62): get > <built-in method recv_into of _socket.socket object>");
}
TEST_F(NamedGapTest, ObjectsOfARemoteCallAreUnpickled) {
  launch(10.9, 10.95).call("python", "torch/distributed/rpc/internal.py(125): deserialize", 1, 10.5);
  call("python", "<built-in method load of _pickle.Unpickler object>", 1.1, 10.4);
  EXPECT_EQ(cause(), "serialisation");
}
TEST_F(NamedGapTest, SerialisingForALogIsLogging) {
  launch(10.9, 10.95)
      .call("python", "wandb/sdk/wandb_run.py(1850): log", 1, 10.5)
      .call("python", "<built-in function dumps>", 1.1, 10.4);
  EXPECT_EQ(cause(), "logging");
}
TEST_F(NamedGapTest, ManyShortCallsOfOneCauseAreItsTimeInALongGap) {
  gap_.end_ns = ns(61);
  call("python", "train.py(12): step", 0.5, 61);
  for (int i = 0; i < 2900; ++i) {  // each 1/3000 of the gap
    const double at = 1.1 + 0.02 * i;
    call("python", "logging/__init__.py(1521): info", at, at + 0.019);
    call("python", "<built-in function getpid>", at + 0.001, at + 0.002);
    call("python", "<built-in method acquire of _thread.RLock object>", at + 0.003, at + 0.004);
  }
  launch(60.9, 60.95);
  EXPECT_EQ(cause(), "logging");
  EXPECT_EQ(evidence(), "logging/__init__.py(1521): info");
  EXPECT_LE(explainer_->calls_kept(), 2 * GapExplainer::kSweepAt);
}
TEST_F(NamedGapTest, ShortCallsFarApartAreNotTheTimeBetween) {
  gap_.end_ns = ns(61);
  call("python", "train.py(12): step", 0.5, 61);
  for (int i = 0; i < 6000; ++i) call("python", "logging/__init__.py(1521): info", 1.1 + 0.009 * i, 1.101 + 0.009 * i);
  launch(60.9, 60.95);
  EXPECT_EQ(cause(), "python");
}
TEST_F(NamedGapTest, AValueInTheHostsMemoryCopiesNothing) {
  for (int i = 0; i < 9; ++i) call("cpu_op", "aten::item", 1.1 + i, 1.9 + i);
  launch(10.9, 10.95);
  EXPECT_EQ(cause(), "framework");
}
TEST_F(NamedGapTest, AValueOfTheDeviceIsACopy) {
  for (int i = 0; i < 9; ++i)
    call("cpu_op", "aten::item", 1.1 + i, 1.9 + i).call("cuda_runtime", "cudaStreamSynchronize", 1.2 + i, 1.3 + i);
  launch(10.9, 10.95);
  EXPECT_EQ(cause(), "synchronous-copy");
}
TEST_F(NamedGapTest, ALongCopyBeforeTheGapBlocksLikeACopy) {
  launch(10.9, 10.95).call("cuda_runtime", "cudaMemcpyAsync", 0.2, 10.5);
  EXPECT_EQ(cause(), "synchronous-copy");
}
TEST_F(NamedGapTest, OptimizerOnTheCpu) {
  launch(10.9, 10.95).call("python", "deepspeed/ops/adam/cpu_adam.py(103): step", 1, 10.5);
  call("python", "<built-in method adam_update of PyCapsule object>", 1.1, 10.4);
  EXPECT_EQ(cause(), "optimiser-host");
}
TEST_F(NamedGapTest, NoHostTimeNamesNoFrame) {
  launch(0.2, 0.9).call("python", "checks.py(7): audit", 0.1, 10.5);
  EXPECT_EQ(cause(), "device-latency") << "the work was launched before the gap";
}
TEST_F(NamedGapTest, UnknownRangeIsNamed) {
  launch(10.9, 10.95).call("marker", "assemble", 1, 10);
  EXPECT_EQ(cause(), "host-code");
  EXPECT_EQ(evidence(), "assemble");
}
TEST_F(NamedGapTest, OperatorWithoutLaunchComputesOnTheHost) {
  launch(10.9, 10.95).call("python", "nms.py(3): rank", 0.8, 10.6).call("cpu_op", "aten::sort", 1, 10.5);
  EXPECT_EQ(cause(), "host-operator");
  EXPECT_EQ(evidence(), "aten::sort");
}
TEST_F(NamedGapTest, FunctionThatLaunchesIsNotNamed) {
  launch(10.9, 10.95).call("hip", "hipLaunchKernel", 0.5, 0.6).call("python", "model.py(9): forward", 0.7, 12);
  EXPECT_EQ(cause(), "python") << "it ends after the launch";
  call("python", "model.py(9): layers", 0.4, 10.8);
  EXPECT_EQ(cause(), "python") << "it began before the launch before";
}
TEST_F(NamedGapTest, ShortFunctionIsNotNamed) {
  launch(10.9, 10.95).call("python", "train.py(12): main", 0, 20).call("python", "a.py(1): f", 1, 4);
  EXPECT_EQ(cause(), "python") << "a third of the gap";
}
TEST_F(NamedGapTest, ShortGapNamesNoFunction) {
  gap_.end_ns = ns(1.15);
  launch(1.1, 1.12).call("python", "train.py(12): main", 0, 20).call("python", "a.py(1): f", 1, 1.09);
  EXPECT_EQ(cause(), "python");
}
TEST_F(NamedGapTest, KnownActivityAroundAnUnknownFunction) {
  launch(10.9, 10.95)
      .call("python", "torch/utils/data/dataloader.py(701): __next__", 1, 10.8)
      .call("python", "my.py(1): f", 1.1, 10.7);
  EXPECT_EQ(cause(), "data-loading");
}
TEST_F(NamedGapTest, HostThatWaitedForTheDevice) {
  launch(1.1, 1.105).call("hip", "hipStreamSynchronize", 0.2, 1.05);
  gap_.end_ns = ns(1.11);
  cause();
  EXPECT_TRUE(explained_.drained);
  gap_.start_ns = ns(1.06);
  cause();
  EXPECT_FALSE(explained_.drained) << "the call had ended";
}
TEST_F(NamedGapTest, FirstLaunchLoadsCode) {
  launch(1.1, 10.9);
  gap_.launch->is_first = true;
  EXPECT_EQ(cause(), "first-use");
  EXPECT_EQ(explained_.cause, Cause::host_late);
}
TEST_F(NamedGapTest, LaterLongLaunchHasNoRecordedReason) {
  EXPECT_EQ(launch(1.1, 10.9).cause(), "blocked-launch");
  gap_.busy_since_ns = ns(0.5);
  EXPECT_EQ(cause(), "blocked-launch") << "the device was idle for most of the call";
}
TEST_F(NamedGapTest, LaunchOfLessThanAMillisecondIsALaunch) {
  gap_.end_ns = ns(1.7);
  EXPECT_EQ(launch(1.1, 1.65).cause(), "launch");
}
TEST_F(NamedGapTest, LaunchThatBlockedWhileTheDeviceWasBusy) {
  explainer_->still_idle({{0, ns(-40)}});
  gap_.busy_since_ns = ns(-50);
  EXPECT_EQ(launch(-30, 10.9).cause(), "queue-full");
  gap_.busy_since_ns = ns(-5);
  EXPECT_EQ(cause(), "blocked-launch") << "it was busy for a small part of the call";
}
TEST_F(NamedGapTest, LaunchBehindACallOfAnotherThread) { EXPECT_EQ(cause_behind("hipGraphExecUpdate", 1.05, 10.85), "lock"); }
TEST_F(NamedGapTest, AnotherThreadThatWaitsForTheDeviceHoldsNoLock) {
  EXPECT_EQ(cause_behind("hipStreamSynchronize", 1.05, 10.85), "blocked-launch");
}
TEST_F(NamedGapTest, AnotherThreadThatReturnedEarlierHeldNoLock) {
  EXPECT_EQ(cause_behind("hipGraphExecUpdate", 1.05, 8), "blocked-launch");
}
TEST_F(NamedGapTest, LaunchBehindAnAllocationOfAnotherThread) { EXPECT_EQ(cause_behind("hipMalloc", 0.5, 10.8), "allocation"); }
TEST_F(NamedGapTest, LaunchBehindCodeLoadedByAnotherThread) {
  EXPECT_EQ(cause_behind("hipModuleLoadData", 1.05, 10.5), "first-use");
}
TEST_F(NamedGapTest, CodeLoadedInsideALaunch) {
  launch(1.1, 10.9).call("hip", "hipModuleLoadData", 1.2, 10.8);
  EXPECT_EQ(cause(), "first-use");
}
TEST_F(NamedGapTest, OperatorThatLoadsCodeIsInFirstUse) {
  launch(7, 10.9).call("cpu_op", "aten::miopen_batch_norm", 1, 10.95).call("hip", "hipModuleLoadData", 5, 6.5);
  gap_.launch->is_first = true;
  EXPECT_EQ(cause(), "first-use");
  EXPECT_EQ(explained_.host.front().time_ns, ns(9.9)) << "choosing the kernel too";
}
TEST_F(NamedGapTest, EventsAroundThatOperatorAreNot) {
  launch(10.5, 10.95).call("cpu_op", "model", 0.5, 10.97).call("cpu_op", "aten::convolution", 8, 10.45);
  call("hip", "hipModuleLoadData", 8.5, 10.4);
  EXPECT_EQ(cause(), "framework") << "7 of 10 ms are outside";
}
TEST_F(NamedGapTest, ShortLoadsDoNotColourTheOperator) {
  launch(10.5, 10.95).call("cpu_op", "aten::convolution", 0.5, 10.97).call("hip", "hipModuleLoadData", 8.5, 8.7);
  EXPECT_EQ(cause(), "framework");
}
TEST_F(NamedGapTest, FirstCallOfAnOperatorBeforeANewKernelSetsUp) {
  launch(10.9, 10.95).call("cpu_op", "aten::arange", 1, 10.5);
  EXPECT_EQ(cause(), "host-operator") << "the kernel has run before";
  gap_.launch->is_first = true;
  EXPECT_EQ(cause(), "first-use");
}
TEST_F(NamedGapTest, LaterCallOfAnOperatorComputes) {
  launch(10.9, 10.95).call("cpu_op", "aten::topk", 0.1, 0.2).call("cpu_op", "aten::topk", 1, 10.5);
  gap_.launch->is_first = true;
  EXPECT_EQ(cause(), "host-operator");
}
TEST_F(NamedGapTest, OperatorThatOnlyAllocates) {
  EXPECT_EQ(launch(10.9, 10.95).call("cpu_op", "aten::empty_strided", 1, 10.5).cause(), "allocation");
}
TEST_F(NamedGapTest, OverheadOfTheProfilerOnItsOwnThread) {
  launch(10.9, 10.95).call("profiler_overhead", "Buffer Flush", 1.2, 10.8, -1);
  EXPECT_EQ(cause(), "profiler");
  EXPECT_EQ(evidence(), "Buffer Flush");
}
TEST_F(NamedGapTest, OverheadThatTheDriverCauses) {
  launch(1.1, 10.9).call("profiler_overhead", "Lazy Function Loading", 1.2, 10.8, -1);
  EXPECT_EQ(cause(), "first-use");
}
TEST_F(NamedGapTest, ShortOverheadExplainsNothing) {
  EXPECT_EQ(launch(1.1, 10.9).call("profiler_overhead", "Activity Buffer Request", 1.2, 3, -1).cause(), "blocked-launch");
}
TEST_F(NamedGapTest, OverheadDuringAnActivityIsNotTheCause) {
  launch(10.9, 10.95).call("python", "torch/utils/data/dataloader.py(701): __next__", 0.5, 10.8);
  EXPECT_EQ(call("profiler_overhead", "Buffer Flush", 1.2, 10.8, -1).cause(), "data-loading");
}
TEST_F(NamedGapTest, LongAsynchronousCopyBlocks) {
  launch(1.1, 10.9, "hipMemcpyAsync");
  gap_.launch->is_copy = true;
  EXPECT_EQ(cause(), "synchronous-copy");
}
TEST_F(NamedGapTest, ABlockedLaunchDoesNotCountAsLaunchRate) {
  GapSums sums;
  launch(1.1, 10.9);
  sums.add(explainer_->explain(gap_), book_);
  EXPECT_EQ(sums.causes[Cause::launch_latency].blocked_ns, ns(10));
  gap_.end_ns = ns(1.5);
  launch(1.1, 1.45);
  sums.add(explainer_->explain(gap_), book_);
  EXPECT_EQ(sums.causes[Cause::launch_latency].blocked_ns, ns(10));
}
TEST_F(NamedGapTest, WorkLaunchedBefore) { EXPECT_EQ(launch(0.5, 0.6).cause(), "device-latency"); }
TEST_F(NamedGapTest, AnotherThreadFrees) {
  launch(10.9, 10.95).call("cpu_op", "aten::add", 1, 10.5).call("hip", "hipFree", 1.2, 10.4, 2);
  EXPECT_EQ(cause(), "allocation");
}
TEST_F(NamedGapTest, OperatorsOfAnotherThreadSayNothing) {
  launch(10.9, 10.95).call("python", "torch/utils/data/dataloader.py(701): __next__", 1, 10.8, 2);
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(NamedGapTest, CodeBetweenOperators) {
  launch(10.9, 10.95).call("cpu_op", "aten::add", 1, 1.2);
  EXPECT_EQ(cause(), "python");
}
TEST_F(NamedGapTest, LongSilenceIsUnknownWithoutPythonFrames) {
  gap_.end_ns = ns(31);
  launch(30.9, 30.95).call("cpu_op", "aten::add", 1, 1.2);
  EXPECT_EQ(cause(), "unknown") << "a pause of the process looks the same";
}
TEST_F(NamedGapTest, LongSilenceBeforeTheFirstKernelIsStartUp) {
  gap_.end_ns = ns(31);
  gap_.before_kernels = true;
  EXPECT_EQ(launch(30.9, 30.95).cause(), "start-up");
  gap_.end_ns = ns(9);
  EXPECT_EQ(launch(8.9, 8.95).cause(), "unknown") << "too short to say so";
}
TEST_F(NamedGapTest, LongSilenceIsPythonWherePythonFramesAreRecorded) {
  gap_.end_ns = ns(31);
  launch(30.9, 30.95).call("python", "train.py(1): step", 0.1, 0.9).call("cpu_op", "aten::add", 1, 1.2);
  EXPECT_EQ(cause(), "python");
}
TEST_F(NamedGapTest, RuntimeCallsAloneAreNotPython) {
  launch(10.9, 10.95).call("hip", "hipGetDevice", 1, 1.2);
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(NamedGapTest, LongLaunchOfEarlierWorkIsBlocked) {
  launch(10.9, 10.95).call("hip", "hipLaunchKernel", 0.5, 10.5);
  EXPECT_EQ(cause(), "blocked-launch");
}
TEST_F(NamedGapTest, LongFirstLaunchOfEarlierWorkIsFirstUse) {
  explainer_->note_first_launch(0, ns(0.5));
  launch(10.9, 10.95).call("hip", "hipLaunchKernel", 0.5, 10.5);
  EXPECT_EQ(cause(), "first-use");
}
TEST_F(NamedGapTest, FirstLaunchOfAnotherRankSaysNothing) {
  explainer_->note_first_launch(3, ns(0.5));
  launch(10.9, 10.95).call("hip", "hipLaunchKernel", 0.5, 10.5);
  EXPECT_EQ(cause(), "blocked-launch");
}
TEST_F(NamedGapTest, LongAllocationBeforeANewKernelSetsUp) {
  gap_.end_ns = ns(311);
  launch(310, 310.5).call("cuda_runtime", "cudaFree", 2, 300);
  gap_.launch->is_first = true;
  EXPECT_EQ(cause(), "first-allocation");
  EXPECT_EQ(book_.at(*explained_.host_cause).class_id, "warmup");
}
TEST_F(NamedGapTest, LongAllocationBeforeAKnownKernelAllocates) {
  gap_.end_ns = ns(311);
  launch(310, 310.5).call("cuda_runtime", "cudaFree", 2, 300);
  EXPECT_EQ(cause(), "allocation");
}
TEST_F(NamedGapTest, ShortAllocationBeforeANewKernelAllocates) {
  launch(10.9, 10.95).call("cuda_runtime", "cudaMalloc", 1, 10.5);
  gap_.launch->is_first = true;
  EXPECT_EQ(cause(), "allocation");
}
TEST_F(NamedGapTest, SystemCallsNameWhatNothingElseDoes) {
  launch(10.9, 10.95).call("os", "pthread_cond_wait", 1, 10.5);
  EXPECT_EQ(cause(), "lock");
}
TEST_F(NamedGapTest, SystemCallReads) {
  launch(10.9, 10.95).call("os", "read", 1, 5).call("os", "pread64", 5, 10.5);
  EXPECT_EQ(cause(), "file-io");
}
TEST_F(NamedGapTest, SystemCallInsideACallOfTheRuntimeIsItsWork) {
  launch(10.9, 10.95).call("cuda_runtime", "cudaMalloc", 1, 10.6).call("os", "read", 1.1, 10.5);
  EXPECT_EQ(cause(), "allocation");
}
TEST_F(NamedGapTest, SystemCallsOfTheDriverSayNothing) {
  launch(10.9, 10.95).call("os", "ioctl", 1, 10.5);
  EXPECT_EQ(cause(), "unknown");
}
TEST_F(NamedGapTest, TokensToTextAreNoInput) {
  launch(10.9, 10.95).call("python", "server.py(2): loop", 0, 12).call("python", "tokenizers/decoders.py(33): step", 1, 10.5);
  EXPECT_EQ(cause(), "host-code");
}
TEST_F(NamedGapTest, TextToTokensIsInput) {
  launch(10.9, 10.95).call("python", "transformers/tokenization_utils_base.py(9): __call__", 1, 10.5);
  EXPECT_EQ(cause(), "data-loading");
}
TEST_F(NamedGapTest, NothingRecorded) { EXPECT_EQ(cause(), "unknown"); }
TEST_F(NamedGapTest, SumsOfAllGaps) {
  GapSums sums;
  launch(1.1, 10.9);
  gap_.launch->is_first = true;
  for (int i = 0; i < 2; ++i) sums.add(explainer_->explain(gap_), book_);
  const CauseSum& late = sums.causes[Cause::host_late];
  EXPECT_EQ(late.gap_count, 2);
  EXPECT_EQ(late.warmup_ns, ns(20));
  EXPECT_EQ(late.short_idle_ns, 0);
  EXPECT_EQ(sums.host_causes[book_.own().first_use].idle_ns, ns(19.6));
}
TEST_F(NamedGapTest, NoBookNoCause) {
  GapExplainer plain(names_);
  plain.still_idle({{0, ns(1)}});
  EXPECT_FALSE(plain.explain(gap_).host_cause);
}

}  // namespace
}  // namespace aaco::analytics::gaps

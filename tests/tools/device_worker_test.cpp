// The worker that `lumen` is for other processes (tests/compile/cuda_trial_test.cpp has what it does).
#include <gtest/gtest.h>

#include "lumen/backend/cuda/kernel_trials.h"
#include "tests/compile/working_driver.h"
#include "tests/tools/program.h"

namespace lumen::tests {
namespace {

class DeviceWorker : public CudaFakes {
 protected:
  DeviceWorker()
      : trials_({{lumen_program(), "device-worker"}, 20, 0.5, 20},
                {cuda::kWorkerProtocol, 0, 0, {library("driver", working_driver(good_driver(), folder_.path()))}}) {}

  static cuda::Trial trial_of(const std::string& function) {
    cuda::Trial trial;
    trial.objects.push_back({"key of " + function, function});
    trial.regions.push_back({100, "some"});
    trial.launches.push_back({0, function, 1, 32, 0, {5, 0, 0, 0, 0}, {{4, 0, 0}}});
    return trial;
  }

  cuda::KernelTrials trials_;
};

TEST_F(DeviceWorker, BlamesAndGoesOn) {
  std::ofstream(folder_ / "behaviour") << "bad illegal\n";
  const Expected<bool> bad = trials_.run(trial_of("bad"), 5);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.diag().message, "[cuda] a run of it failed: a reason (700)");
  EXPECT_TRUE(trials_.run(trial_of("good"), 5).value());
  EXPECT_TRUE(trials_.run(trial_of("good"), 5).value()) << "its object is known by now";
}

TEST_F(DeviceWorker, CannotTryWhatItHasNoMemoryFor) {
  cuda::Trial large = trial_of("large");
  large.regions[0].bytes = uint64_t{1} << 41;
  EXPECT_FALSE(trials_.run(large, 5).value());
  EXPECT_TRUE(trials_.run(trial_of("large"), 5).value()) << "its object is sent again";
  cuda::Trial other = trial_of("other");
  other.launches[0].function = "missing";
  EXPECT_FALSE(trials_.run(other, 5).value()) << "a launch that is refused is no harm";
}

TEST_F(DeviceWorker, IsNotForPeople) {
  EXPECT_EQ(run_lumen({"--help"}).out.find("device-worker"), std::string::npos);
  const Finished alone = run_lumen({"device-worker"});
  EXPECT_EQ(alone.status, 1);
  EXPECT_EQ(alone.err, "lumen: [cuda] a worker is started by a process that wants kernels tried, not by hand\n");
}

}  // namespace
}  // namespace lumen::tests

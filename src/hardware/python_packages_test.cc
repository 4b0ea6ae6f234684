#include "hardware/python_packages.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/fake_machine.h"

namespace aaco::hardware {
namespace {

using aaco::testing::FakeMachine;

class Python : public ::testing::Test {
 protected:
  void process(std::int64_t id, const std::string& executable, const std::string& command,
               const std::string& environment = "") const {
    const std::string folder = "proc/" + std::to_string(id);
    machine.write(folder + "/cmdline", command + std::string(1, '\0') + "train.py" + std::string(1, '\0'));
    machine.write(folder + "/environ", environment);
    std::filesystem::create_symlink(executable, machine.root() + "/" + folder + "/exe");
  }
  void package(const std::string& folder, const std::string& name) const { machine.write(folder + "/" + name + "/RECORD", ""); }
  [[nodiscard]] std::string packages(std::int64_t id) const {
    const auto found = python_environment(machine.root(), id);
    if (!found) return "none";
    std::string out;
    for (const auto& one : found->packages) out += one.name + "=" + one.version + " ";
    return out;
  }
  FakeMachine machine;
};

TEST(IsPython, Interpreters) {
  for (const char* name : {"python", "python3", "python3.12", "pypy3", "pypy3.10"}) EXPECT_TRUE(is_python(name)) << name;
  for (const char* name : {"", "python3-config", "pythonw.sh", "ipython", "bash", "pip3"}) EXPECT_FALSE(is_python(name)) << name;
}

TEST_F(Python, SystemPackagesInTheOrderOfImport) {
  process(7, "/usr/bin/python3.11", "python3");
  package("usr/lib/python3/dist-packages", "numpy-1.24.2.dist-info");
  package("usr/lib/python3/dist-packages", "PyYAML-6.0.dist-info");
  package("usr/local/lib/python3.11/dist-packages", "numpy-2.1.0.dist-info");
  EXPECT_EQ(packages(7), "numpy=2.1.0 PyYAML=6.0 ");
}
TEST_F(Python, VirtualEnvironmentHidesTheSystem) {
  process(7, "/usr/bin/python3.11", "/work/venv/bin/python");
  machine.write("work/venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n");
  package("work/venv/lib/python3.11/site-packages", "torch-2.9.0+rocm6.4.dist-info");
  package("usr/lib/python3/dist-packages", "numpy-1.24.2.dist-info");
  EXPECT_EQ(packages(7), "torch=2.9.0+rocm6.4 ");
  EXPECT_EQ(python_environment(machine.root(), 7)->virtual_environment, "/work/venv");
}
TEST_F(Python, VirtualEnvironmentThatSeesTheSystem) {
  process(7, "/usr/bin/python3.11", "python", std::string("PATH=/work/venv/bin:/usr/bin\0HOME=/root", 39));
  machine.write("work/venv/bin/python", "");
  machine.write("work/venv/pyvenv.cfg", "include-system-site-packages = true\n");
  package("work/venv/lib/python3.11/site-packages", "torch-2.9.0.dist-info");
  package("root/.local/lib/python3.11/site-packages", "onnx-1.17.0.dist-info");
  package("usr/lib/python3/dist-packages", "numpy-1.24.2.dist-info");
  EXPECT_EQ(packages(7), "numpy=1.24.2 onnx=1.17.0 torch=2.9.0 ");
}
TEST_F(Python, PythonPathComesFirst) {
  process(7, "/usr/bin/python3.11", "python3", "PYTHONPATH=/mine:relative:/absent");
  package("mine", "numpy-9.9.dist-info");
  package("usr/lib/python3/dist-packages", "numpy-1.24.2.dist-info");
  EXPECT_EQ(packages(7), "numpy=9.9 ");
}
TEST_F(Python, EggsSayTheirVersionInside) {
  process(7, "/usr/bin/python3.11", "python3");
  machine.write("usr/lib/python3/dist-packages/six.egg-info",
                "Metadata-Version: 1.1\nName: six\nVersion: 1.16.0\n\nName: not this\n");
  machine.write("usr/lib/python3/dist-packages/mako.egg-info/PKG-INFO", "Name: Mako\r\nVersion: 1.2.4\r\n");
  EXPECT_EQ(packages(7), "Mako=1.2.4 six=1.16.0 ");
}
TEST_F(Python, UnreadableEntriesAreCounted) {
  process(7, "/usr/bin/python3.11", "python3");
  machine.write("usr/lib/python3/dist-packages/broken.egg-info", "no fields");
  machine.write("usr/lib/python3/dist-packages/nameless.dist-info/METADATA", "Version: 1\n");
  EXPECT_EQ(python_environment(machine.root(), 7)->unreadable, 2);
}
TEST_F(Python, OtherProgramsHaveNoPackages) {
  process(7, "/bin/bash", "bash");
  EXPECT_EQ(packages(7), "none");
}
TEST_F(Python, ExitedProcess) { EXPECT_EQ(packages(8), "none"); }
TEST_F(Python, DetectsPythonWithoutPackages) {
  process(7, "/usr/bin/python3", "");
  EXPECT_EQ(packages(7), "");
  EXPECT_EQ(to_json(*python_environment(machine.root(), 7))["interpreter"].as_string(), "/usr/bin/python3");
}

}  // namespace
}  // namespace aaco::hardware

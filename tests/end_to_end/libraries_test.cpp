// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/io/optional_library.h"
#include "trainer/base/text/json.h"
#include "trainer/base/version.h"

#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;

// A copy of the program without its other libraries, as the package trainer installs it.
class LibrariesTest : public testing::Test {
 protected:
  // Installs `library` as this program's library `stem`.
  void add(const std::string& stem, const fs::path& library) const {
    fs::copy_file(library, lib() / library_file_name(stem));
  }

  ProcessResult run(const std::string& arguments) const {
    return test::run_process("cd " + folder_.path().string() + " && " + program_ + " " + arguments);
  }

  ProcessResult train() const { return run(test::with_config("train.yaml") + "--epochs 1"); }

  fs::path lib() const { return folder_.path() / "lib"; }

  // Puts a program that says what it was called with into the wheel of the engine of `version`.
  void add_wheel(const std::string& version) const {
    const fs::path program =
        folder_.write("lib/python3.12/site-packages/trainer_engine/" + version + "/bin/trainer",
                      "#!/bin/sh\necho \"the wheel: $*\"\n");
    fs::permissions(program, fs::perms::owner_all);
    folder_.write("lib/python3.12/site-packages/trainer_engine/version", version + "\n");
  }

 private:
  test::TemporaryFolder folder_;
  std::string program_ = test::copy_without_engine(folder_.path());
};

TEST_F(LibrariesTest, WithoutTheEngineItIsSaidWhatToInstall) {
  const ProcessResult result = train();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err, "error: this needs " + library_file_name("trainer_engine") +
                            ", which is not in " + lib().string() +
                            "; install the package trainer-engine, or keep lib/ next to bin/ as "
                            "installed\n");
  EXPECT_EQ(run("runs list .").exit_code, 0);
}

TEST_F(LibrariesTest, WithoutAnEngineItBecomesTheProgramOfTheWheel) {
  add_wheel(build_info().version);
  EXPECT_EQ(run("--epochs 1").out, "the wheel: --epochs 1\n");
}

TEST_F(LibrariesTest, WithAnEngineItStaysWhatItIs) {
  add_wheel(build_info().version);
  add("trainer_engine", ANOTHER_VERSION);
  EXPECT_EQ(run("--version").out.rfind("trainer ", 0), 0);
}

TEST_F(LibrariesTest, AWheelOfAnotherVersionIsNamedWhereItIsNeeded) {
  add_wheel("0.0.9");
  const ProcessResult result = train();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err.substr(result.err.find("error: ")),
            "error: " + (lib() / "python3.12/site-packages/trainer_engine").string() +
                " is of another version than trainer " + build_info().version +
                "; pip install 'trainer-cli[train]==" + build_info().version + "'\n");
  EXPECT_EQ(run("runs list .").exit_code, 0);
}

TEST(WheelTest, AnotherTorchThanTheOneItWasBuiltWithIsRefused) {
  const test::TemporaryFolder packages;
  const fs::path wheel = packages.path() / "trainer_engine" / build_info().version;
  const std::string program = test::copy_without_engine(wheel);
  fs::copy_file(ANOTHER_VERSION, wheel / "lib" / library_file_name("trainer_engine"));
  packages.write("torch/version.py", "from typing import Optional\n\n__version__ = '0.4.1+cpu'\n");
  const ProcessResult result =
      test::run_process("cd " + packages.path().string() + " && " + program + " " +
                        test::with_config("train.yaml") + "--epochs 1");
  EXPECT_EQ(result.exit_code, 4);
  const std::string expected =
      build_info().libtorch.substr(0, build_info().libtorch.rfind('.'));  // "2.15" of "2.15.0"
  EXPECT_EQ(result.err.substr(result.err.find("error: ")),
            "error: this trainer trains with torch " + expected + ", and " +
                packages.path().string() + " has 0.4.1+cpu; pip install 'torch==" + expected +
                ".*'\n");
}

TEST_F(LibrariesTest, AnEngineOfAnotherVersionIsRefused) {
  add("trainer_engine", ANOTHER_VERSION);
  const ProcessResult result = train();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err.substr(result.err.find("error: ")),
            "error: " + library_file_name("trainer_engine") +
                " is of version 0.0.9 and trainer of " + build_info().version +
                "; install both in the same version\n");
}

TEST_F(LibrariesTest, AnEngineThatAsksForWhatIsNotThereIsOfAnotherVersion) {
  add("trainer_engine", LACKING_LIBRARY);
  const ProcessResult result = train();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_NE(result.err.find("; it belongs to another version than trainer " + build_info().version +
                            ", or was built with another version of what it needs; install all of "
                            "trainer in one version\n"),
            std::string::npos)
      << result.err;
}

TEST_F(LibrariesTest, ADamagedEngineIsNamed) {
  add("trainer_engine", test::kSource / "README.md");
  const ProcessResult result = train();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_NE(result.err.find("error: cannot load " + library_file_name("trainer_engine") + ": "),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find(" is installed, or install trainer again\n"), std::string::npos)
      << result.err;
}

TEST_F(LibrariesTest, AnOnnxLibraryOfAnotherVersionIsRefused) {
  add("trainer_onnx", ANOTHER_VERSION);
  const ProcessResult result = run("export anything -o m.onnx");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "error: " + library_file_name("trainer_onnx") +
                            " is of version 0.0.9 and trainer of " + build_info().version +
                            "; install both in the same version\n");
}

TEST_F(LibrariesTest, TheDoctorNamesAnOnnxLibraryOfAnotherVersion) {
  add("trainer_onnx", ANOTHER_VERSION);
  const Json report = parse_json(run("doctor --json").out);
  for (const Json& finding : report["findings"]) {
    if (finding["name"] != "ONNX") continue;
    EXPECT_EQ(finding["status"], "note");
    EXPECT_EQ(finding["text"], library_file_name("trainer_onnx") +
                                   " is of version 0.0.9 and trainer of " + build_info().version +
                                   " (only needed for trainer export to .onnx)");
    EXPECT_EQ(finding["advice"], "install both in the same version");
    return;
  }
  FAIL() << "nothing is said of ONNX";
}

}  // namespace
}  // namespace trainer

// SPDX-License-Identifier: Apache-2.0
// The current folder may be anybody's: a data set that was unpacked, a shared folder. Nothing in it
// is loaded or read that the command line does not name.
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/io/user_folders.h"

#include "support/process.h"
#include "support/program_test.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;

const std::string kPenguins = (test::kSource / "configs/data/penguins.csv").string();
const std::string kConfig = test::with_config("penguins.yaml") + "threads=1 data.cache=auto ";

struct Call {
  std::string command;  // its name in the help
  std::string arguments;
  int exit_code = 0;
};

// Every command; the later ones work on what the first one trains.
std::vector<Call> all_calls() {
  return {
      {"train", "train " + kConfig + "--epochs 1 --tag one"},
      {"train", "--resume auto " + kConfig + "--epochs 1 --tag one"},
      {"config", "config print " + kConfig},
      {"config", "config check " + kConfig},
      {"config", "config reference"},
      {"config", "config schema"},
      {"config", "config schedule " + kConfig},
      {"init", "init --target species --output first.yaml --data " + kPenguins},
      {"fit", "fit --target species members=2 --epochs 1 --data " + kPenguins},
      {"cv", "cv --folds 2 --epochs 1 " + kConfig},
      {"ensemble", "ensemble --members 2 --epochs 1 " + kConfig},
      {"search", "search --folds 2 --trials 2 --epochs 1 " + kConfig},
      {"train", kConfig + "--epochs 1 --tag two"},
      {"verify", "verify runs/latest"},
      {"find-batch", "find-batch --max-batch 16 " + kConfig},
      {"profile", "profile --steps 5 " + kConfig},
      {"predict", "predict runs/latest --output predictions.csv --data " + kPenguins},
      {"eval", "eval runs/latest --data " + kPenguins},
      {"explain", "explain runs/latest"},
      {"inspect", "inspect runs/latest"},
      {"runs", "runs list"},
      {"runs", "runs show latest"},
      {"runs", "runs compare runs/*_one runs/*_two"},
      {"runs", "runs watch runs/latest"},
      {"runs", "runs note latest words"},
      {"report", "report runs/latest -o report.html"},
      {"export", "export runs/latest --format safetensors --output model.safetensors"},
      {"export", "export runs/latest --format torchscript --output model.ts"},
#ifdef TRAINER_HAS_ONNX
      {"export", "export runs/latest --format onnx --output model.onnx"},
#endif
      {"doctor", "doctor"},
      {"completion", "completion bash"},
      {"manual", "manual"},
      {"selftest", "selftest resume --kills 1"},
      {"runs", "runs remove latest --yes"},
      {"train", "data.query='select 1 as a' data.source=query data.target=a", 2},
  };
}

class PlantedFilesTest : public test::ProgramTest {
 protected:
  // What the program or one of its libraries may look for. The files are no YAML, JSON or CSV.
  void plant() const {
    for (const char* name :
         {"trainer.yaml", ".trainer.yaml", "config.yaml", "default.yaml", ".duckdbrc",
          ".duckdb/stored_secrets/a", "config/trainer/config.yaml", ".config/trainer/config.yaml",
          ".spdlog", "openmpi-mca-params.conf", ".pmix/mca-params.conf"}) {
      folder_.write(name, "\"planted\": [}");
    }
    for (const std::string& name : names_of_libraries()) plant_library(name);
    for (const char* folder : {"share", ".local/share", "cache", ".cache"}) {
      plant_library(std::string(folder) + "/trainer/libduckdb.so");
    }
  }

  void plant_library(const std::string& name) const {
    fs::create_directories(path(name).parent_path());
    fs::copy_file(PLANTED_LIBRARY, path(name), fs::copy_options::skip_existing);
  }

  // Those that the loader brings, and those that the program opens itself.
  static std::set<std::string> names_of_libraries() {
    std::set<std::string> names = {
        "libduckdb.so",       "libonnxruntime.so",    "libpmix.so.2",      "libblas.so.3",
        "libtrainer_core.so", "libtrainer_engine.so", "libtrainer_onnx.so"};
    const fs::path lib = fs::path(test::kTrainer).parent_path().parent_path() / "lib";
    const std::string needed =
        test::run_process(fmt::format("ldd {} {}/libtrainer_*.so", test::kTrainer, lib.string()))
            .out;
    const std::regex name("^\\s*([^/\\s]+\\.so[^/\\s]*) ", std::regex::multiline);
    for (std::sregex_iterator it(needed.begin(), needed.end(), name), end; it != end; ++it) {
      names.insert((*it)[1]);
    }
    return names;
  }

  ProcessResult run(const std::string& arguments) const {
    return trainer(arguments,
                   "env -u HOME -u TMPDIR -u TRAINER_DUCKDB_LIBRARY "
                   "-u TRAINER_ONNXRUNTIME_LIBRARY XDG_DATA_HOME=share "
                   "XDG_CACHE_HOME=cache XDG_CONFIG_HOME=config");
  }
};

TEST_F(PlantedFilesTest, NoCommandLoadsOrReadsWhatLiesAround) {
  plant();
  std::set<std::string> called;
  for (const Call& call : all_calls()) {
    const ProcessResult result = run(call.arguments);
    ASSERT_FALSE(fs::exists(path("A_PLANTED_LIBRARY_RAN"))) << call.arguments << result.err;
    EXPECT_EQ(result.exit_code, call.exit_code) << call.arguments << result.out << result.err;
    called.insert(call.command);
  }
  for (const char* folder : {"share", ".local", "cache", ".cache"}) {
    std::size_t num_files = 0;
    for (const auto& file : fs::recursive_directory_iterator(path(folder))) {
      num_files += file.is_regular_file() ? 1 : 0;
    }
    EXPECT_EQ(num_files, 1U) << folder;
  }
  // A new command has to be called here too.
  const std::string help = run("--help").out;
  const std::regex command("\n  ([a-z-]+) +[A-Z]");
  const std::string list = help.substr(0, help.find("Main options:"));
  std::set<std::string> commands;
  for (std::sregex_iterator it(list.begin(), list.end(), command), end; it != end; ++it) {
    commands.insert((*it)[1]);
  }
  EXPECT_EQ(called, commands);
}

TEST_F(PlantedFilesTest, NorDoesDuckdb) {
  const char* named = std::getenv("TRAINER_DUCKDB_LIBRARY");
  const auto folder = data_folder();
  const fs::path library = named != nullptr ? fs::path(named)
                           : folder         ? *folder / "libduckdb.so"
                                            : fs::path();
  if (!fs::exists(library)) GTEST_SKIP() << "DuckDB";
  plant();
  const ProcessResult result =
      trainer("init --query 'select 1 as a, 2 as b'",
              "env -u HOME XDG_DATA_HOME=share TRAINER_DUCKDB_LIBRARY=" + library.string());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(fs::exists(path("A_PLANTED_LIBRARY_RAN")));
}

TEST_F(PlantedFilesTest, ARelativeFolderForTemporaryFilesIsRefused) {
  fs::create_directory(path("here"));
  const ProcessResult result = trainer("selftest resume", "TMPDIR=here");
  EXPECT_EQ(result.exit_code, 8);
  EXPECT_EQ(result.err,
            "error: TMPDIR: expected a folder for temporary files, got \"here\": the path is not "
            "absolute\n");
  EXPECT_TRUE(fs::is_empty(path("here")));
}

TEST_F(PlantedFilesTest, WithoutAHomeATildeIsRefused) {
  for (const char* home : {"env -u HOME", "HOME=", "HOME=home"}) {
    const ProcessResult result = trainer("--epochs 1 output_dir=~/runs", home);
    EXPECT_EQ(result.exit_code, 2) << home;
    EXPECT_EQ(result.err,
              "error: command line: output_dir: expected a path without ~ because HOME names no "
              "home folder, got \"~/runs\"\n")
        << home;
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace trainer

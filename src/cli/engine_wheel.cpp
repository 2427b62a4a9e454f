// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_wheel.h"

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/optional_library.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/version.h"

namespace trainer::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWheel = "trainer_engine";

/// Returns where the Python beside this program has `name` among its packages, or an empty path.
fs::path find_in_packages(const fs::path& name) {
  std::error_code error;
  const fs::path libraries = executable_path().parent_path().parent_path() / "lib";
  for (const fs::directory_entry& python : fs::directory_iterator(libraries, error)) {
    if (!python.path().filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      fs::path found = python.path() / packages / name;
      if (fs::exists(found, error)) return found;
    }
  }
  return {};
}

bool has_engine() {
  std::error_code error;
  return fs::exists(library_path("trainer_engine"), error);
}

/// "2.15" of "2.15.0+cpu".
std::string minor_version(const std::string& version) {
  return version.substr(0, version.find('.', version.find('.') + 1));
}

/// Returns the version that torch/version.py in `folder` names, or an empty text.
std::string torch_version(const fs::path& folder) {
  const std::string text = read_text(folder / "torch/version.py").value_or("");
  const std::string before = "\n__version__ = '";
  const std::size_t begin = text.find(before);
  if (begin == std::string::npos) return "";
  const std::size_t end = text.find('\'', begin + before.size());
  return text.substr(begin + before.size(), end - begin - before.size());
}

}  // namespace

void become_engine_program(char** argv) {
  if (has_engine()) return;
  fs::path program;
  try {
    program = find_in_packages(fs::path(kWheel) / build_info().version / "bin/trainer");
  } catch (const Error&) {
    return;  // The system does not know where this program is, which need not be known to predict.
  }
  if (!program.empty()) execv(program.c_str(), argv);
}

std::string engine_wheel_problem() {
  const fs::path wheel = library_folder().lexically_normal().parent_path().parent_path();
  if (wheel.filename() == kWheel) {
    const fs::path packages = wheel.parent_path();
    const std::string expected = minor_version(build_info().libtorch);
    const std::string found = torch_version(packages);
    if (found.empty() || minor_version(found) == expected) return "";
    return fmt::format(
        "this trainer trains with torch {}, and {} has {}; pip install 'torch=={}.*'", expected,
        packages.string(), found, expected);
  }
  const fs::path other = has_engine() ? "" : find_in_packages(fs::path(kWheel) / "version");
  if (other.empty()) return "";
  return fmt::format(
      "{} is of another version than trainer {}; pip install 'trainer-cli[train]=={}'",
      other.parent_path().string(), build_info().version, build_info().version);
}

}  // namespace trainer::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/onnx_library.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/until_done.h"

#include "cli/open_library.h"

namespace trainer::cli {
namespace {

const onnx_export::Api* load_onnx() {
  const std::filesystem::path library = library_path("trainer_onnx");
  if (!std::filesystem::exists(library)) {
    throw Error(ErrorKind::kUsage,
                "--format onnx: this build has no ONNX support; install ONNX (Debian, Ubuntu: "
                "apt-get install libonnx-dev; macOS: brew install onnx) and build again, or export "
                "to .safetensors or .pt");
  }
  std::string reason;
  // Symbols stay local, because LibTorch has its own copy of ONNX and may be loaded later.
  void* symbol = symbol_in(library, onnx_export::kApiSymbol, Symbols::kLocal, reason);
  if (symbol == nullptr) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--format onnx: cannot load {}: {}; install ONNX (Debian, Ubuntu: "
                            "apt-get install libonnx1; macOS: brew install onnx), or export to "
                            ".safetensors or .pt",
                            library.filename().string(), reason));
  }
  return reinterpret_cast<onnx_export::ApiFunction>(symbol)();
}

// Runs in a child process: writes to `output` why the library cannot be opened, if so, and exits.
[[noreturn]] void try_in_child(const std::filesystem::path& library, int output) {
  std::string reason;
  const bool is_good =
      symbol_in(library, onnx_export::kApiSymbol, Symbols::kLocal, reason) != nullptr;
  const std::string_view text = is_good ? std::string_view() : std::string_view(reason);
  const bool is_told = write(output, text.data(), text.size()) == std::ssize(text);
  _exit(is_good && is_told ? 0 : 1);
}

std::string read_all(int input) {
  std::string text;
  std::array<char, 512> bytes{};
  while (true) {
    const ssize_t count = until_done([&] { return read(input, bytes.data(), bytes.size()); });
    if (count <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

// Returns why the library cannot be opened, or an empty text if it can.
std::string problem_of(const std::filesystem::path& library) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe to a child process";
  std::fflush(nullptr);  // otherwise the child inherits buffered output
  const pid_t child = fork();
  if (child == 0) try_in_child(library, ends[1]);
  close(ends[1]);
  std::string reason = child < 0 ? "no child process to try it" : read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  if (child > 0) until_done([&] { return waitpid(child, &status, 0); });
  if (status != 0 && reason.empty()) reason = "it ends the process that opens it";
  return reason;
}

}  // namespace

doctor::LibraryFacts onnx_facts() {
  doctor::LibraryFacts facts{.name = "ONNX", .purpose = "trainer export to .onnx"};
  const std::filesystem::path library = library_path("trainer_onnx");
  if (!std::filesystem::exists(library)) {
    facts.text = "this program was built without it";
    facts.advice = "install libonnx-dev (macOS: brew install onnx) and build again";
    return facts;
  }
  facts.text = problem_of(library);
  facts.is_there = facts.text.empty();
  if (facts.is_there) {
    facts.text = "can be opened";
  } else {
    facts.advice = "install libonnx1 (macOS: brew install onnx)";
  }
  return facts;
}

const onnx_export::Api& onnx_library() {
  static const onnx_export::Api* const api = load_onnx();
  return *api;
}

}  // namespace trainer::cli

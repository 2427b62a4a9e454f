// SPDX-License-Identifier: Apache-2.0
// `trainer doctor`: checks line by line what this machine offers to this program, and says what to
// do about problems. Checks that may end the process (LibTorch, drivers) come last, after the other
// lines are printed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/io/optional_library.h"
#include "trainer/base/io/terminal.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/base/text/text_table.h"
#include "trainer/base/version.h"
#include "trainer/diagnose/doctor/checks.h"
#include "trainer/diagnose/doctor/collect.h"
#include "trainer/diagnose/doctor/report.h"

#include "cli/commands.h"
#include "cli/libraries.h"

namespace trainer::cli {
namespace {

constexpr std::size_t kMinWidth = 40;
constexpr std::size_t kMaxWidth = 110;

const char* color_of(doctor::Status status) {
  switch (status) {
    case doctor::Status::kGood:
      return "\x1b[32m";
    case doctor::Status::kNote:
      return "\x1b[33m";
    case doctor::Status::kProblem:
      break;
  }
  return "\x1b[31m";
}

/// Prints each finding as soon as it is known, and keeps all of them for the summary.
class FindingPrinter {
 public:
  FindingPrinter(bool is_quiet, const Terminal& terminal)
      : is_quiet_(is_quiet), terminal_(terminal) {}

  void heading(std::string_view text) const {
    if (!is_quiet_) print_safely(fmt::format("{}\n", text));
  }
  void add(const doctor::Finding& finding) {
    findings.push_back(finding);
    if (!is_quiet_) print(finding);
  }
  void add(const std::vector<doctor::Finding>& some) {
    for (const doctor::Finding& finding : some) add(finding);
  }

  std::vector<doctor::Finding> findings;

 private:
  void print(const doctor::Finding& finding) const {
    constexpr int kStatusWidth = 7;
    constexpr int kNameWidth = 10;
    constexpr std::size_t kIndent = 2 + kStatusWidth + 2 + kNameWidth + 2;
    const std::size_t width =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::max(terminal_.width, 0)),
                                kIndent + kMinWidth, kMaxWidth) -
        kIndent;
    const std::string status = fmt::format("{:<{}}", doctor::name_of(finding.status), kStatusWidth);
    std::string begin = fmt::format(
        "  {}  {:<{}}  ", terminal_.colors ? color_of(finding.status) + status + "\x1b[0m" : status,
        finding.name, kNameWidth);
    const auto print_lines = [&](const std::string& text) {
      for (const std::string& line : wrapped(text, width)) {
        fmt::print("{}{}\n", begin, safe_for_terminal(line));  // `begin` may have color codes
        begin = std::string(kIndent, ' ');
      }
    };
    print_lines(finding.text);
    if (!finding.advice.empty()) print_lines("-> " + finding.advice);
  }

  bool is_quiet_;
  Terminal terminal_;
};

// Shows a status line, unless standard output goes through a pipe to the same terminal (`| less`):
// findings that are still in the pipe would mix with it.
void show_status(const char* text) {
  if (standard_output_terminal().redraws || !output_may_reach_terminal()) log::show_status(text);
}

class DoctorCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"--run-dir", &run_dir_, "FOLDER", "Where runs are to be written (default: runs)"},
            {"--json", &json_, "", "Print everything as JSON, for bug reports"}};
  }

  std::string footer() const override {
    return "Each line is good, or says what to do; exit code 1 if one will fail.";
  }

  void check(const CommonOptions& common, Problems& problems) override {
    refuse_configuration("doctor", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    doctor::Facts facts;
    facts.blas.core_is_set = std::getenv("OPENBLAS_CORETYPE") != nullptr;
    facts.environment = doctor::environment_facts();
    FindingPrinter printer(json_, standard_output_terminal());
    facts.libraries.push_back(onnx_facts());  // first, because it forks
    look_at_machine(facts, printer);
    look_at_surroundings(facts, printer);
    look_at_engine(facts, printer);
    if (json_) {
      const Json report = doctor::report_json(facts, printer.findings);
      print_safely(result_text(report));
    } else {
      print_safely(fmt::format("\n{}\n", doctor::summary_text(printer.findings)));
    }
    return doctor::worst(printer.findings) == doctor::Status::kProblem ? 1 : 0;
  }

 private:
  static std::string program_text() {
    const BuildInfo& build = build_info();
    return fmt::format("{} ({}{}), built with {}, {}", build.version,
                       build.git_commit.substr(0, 12), build.git_dirty ? ", modified" : "",
                       build.compiler, build.build_type);
  }

  static void look_at_machine(doctor::Facts& facts, FindingPrinter& printer) {
    printer.heading("machine");
    facts.cpu = doctor::cpu_facts();
    printer.add(doctor::check(facts.cpu));
    facts.speed = doctor::measure_speed();
    printer.add(doctor::check(facts.speed));
    facts.memory = doctor::memory_facts();
    printer.add(doctor::check(facts.memory));
    facts.limits = doctor::limit_facts();
    printer.add(doctor::check(facts.limits));
  }

  void look_at_surroundings(doctor::Facts& facts, FindingPrinter& printer) const {
    printer.heading("surroundings");
    show_status("writing into the run folder");
    facts.folder = doctor::measure_folder(run_dir_);
    log::clear_status();
    printer.add(doctor::check(facts.folder));
    facts.terminal = doctor::terminal_facts();
    printer.add(doctor::check(facts.terminal));
    facts.launcher = doctor::launcher_facts();
    printer.add(doctor::check(facts.launcher));
    printer.heading("program");
    printer.add({"trainer", doctor::Status::kGood, program_text(), ""});
    for (const doctor::LibraryFacts& library : doctor::library_facts()) {
      facts.libraries.push_back(library);
    }
    for (const doctor::LibraryFacts& library : facts.libraries) {
      printer.add(doctor::check(library));
    }
  }

  static void look_at_engine(doctor::Facts& facts, FindingPrinter& printer) {
    printer.heading("training");
    std::fflush(stdout);
    show_status("making steps on each device");
    try {
      facts.engine = engine_library().check_devices();
    } catch (const Error& error) {
      facts.engine.problem = error.what();
    }
    log::clear_status();
    printer.add(doctor::check(facts.engine));
    facts.blas.blas = run::blas_info();
    facts.blas.vectors = run::vectors_of_this_cpu();
    printer.add(doctor::check(facts.blas, facts.engine.blas_flops, facts.speed));
    if (!facts.engine.problem.empty()) return;
    facts.loaded = doctor::loaded_facts(loaded_libraries());
    printer.add(doctor::check(facts.loaded));
  }

  std::string run_dir_ = "runs";
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace trainer::cli

// SPDX-License-Identifier: Apache-2.0
// `trainer manual`: the manual page, which the build installs as trainer(1).
#include "cli/manual.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/text/text_table.h"
#include "trainer/base/version.h"
#include "trainer/config/config.h"
#include "trainer/config/fields.h"
#include "trainer/config/recipe.h"

#include "cli/agent.h"
#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/option.h"
#include "cli/program.h"

namespace trainer::cli {
namespace {

struct Described {
  const char* name;
  const char* text;
};

constexpr Described kEnvironment[] = {
    {"OMP_NUM_THREADS", "CPU threads of a run with `threads: auto`."},
    {"AGENT, AI_AGENT, CLAUDECODE, CODEX_SANDBOX, CURSOR_AGENT, GEMINI_CLI, CLINE_ACTIVE, "
     "AUGMENT_AGENT, OPENCODE_CLIENT",
     "With one of them, and standard output that is no terminal, `--agent` is understood."},
    {"TRAINER_EXIT_CODE, TRAINER_ERROR, TRAINER_RUN",
     "What the command of `--on-end` finds: how this process will end, the message of its error, "
     "and the run folder that it made. They are empty where there is none."},
    {"NO_COLOR, FORCE_COLOR, CI, TERM",
     "Whether standard error is a terminal with colors and a line that is redrawn: not with "
     "`NO_COLOR` (no colors), `CI` or `TERM=dumb`; `FORCE_COLOR` colors anything."},
    {"LC_ALL, LC_CTYPE, LANG", "Whether the terminal shows characters beyond ASCII."},
    {"RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT",
     "Which process of a run this is, as torchrun sets them. Those of mpirun and srun are "
     "understood too."},
    {"GLOO_SOCKET_IFNAME", "The network interface between the machines of a run."},
    {"TRAINER_DUCKDB_LIBRARY", "The library of DuckDB, which reads Parquet, JSON and queries."},
    {"TRAINER_ONNXRUNTIME_LIBRARY",
     "The library of ONNX Runtime, with which an exported ONNX file is compared."},
    {"XDG_CACHE_HOME", "The folder of `trainer/` with the caches of tables, else `~/.cache`."},
    {"XDG_DATA_HOME", "The folder of `trainer/` with DuckDB's library, else `~/.local/share`."},
    {"TMPDIR", "Where `trainer selftest` makes its runs, else `/tmp`."},
};

constexpr Described kFiles[] = {
    {"runs/YYYYMMDD_HHMMSS_TAG/",
     "A run folder; `output_dir` names another parent. `runs/latest` points to the newest."},
    {"RUN/config_resolved.yaml", "Every key with its value; this file alone repeats the run."},
    {"RUN/metrics.jsonl", "A JSON object for each record of training and each evaluation."},
    {"RUN/summary.json", "The results of a complete run."},
    {"RUN/system.json", "Machine, versions, data files, and each start of the run."},
    {"RUN/train.log", "The messages, with time and level."},
    {"RUN/checkpoints/", "`best.pt`, `last.pt` and the last few others."},
    {"~/.cache/trainer/", "Large tables as they were encoded; it may be removed at any time."},
    {"~/.local/share/trainer/libduckdb.so", "The library of DuckDB."},
};

std::string names_text(const Option& option) {
  return fmt::format("{}", fmt::join(names_of(option), ", "));
}

// Adds a full stop, unless the text has one or is empty.
std::string sentence(const std::string& text) {
  return text.empty() || text.ends_with('.') ? text : text + ".";
}

// The help of a key's flag is only its key and type, so here a sentence says what the flag does.
std::string help_of(const Option& option) {
  for (const config::Field& field : config::fields()) {
    if (field.flag != option.names) continue;
    return fmt::format("Sets `{}`: {}.", field.path, config::expected_text(field.access));
  }
  return sentence(option.help);
}

void add_options(const std::vector<Option>& options, ManPage& page) {
  for (const Option& option : options) {
    if (is_positional(option)) {
      page.item(option.value_name, "", sentence(option.help));
    } else {
      page.item(names_text(option), option.value_name, help_of(option));
    }
  }
}

// Returns a line such as "trainer eval [OPTIONS] RUN_OR_CHECKPOINT".
std::string synopsis(const TableCommand& command) {
  std::string text = fmt::format("trainer {} [OPTIONS]", command.row->name);
  for (const Option& option : command.options) {
    if (is_positional(option)) text += " " + option.value_name;
  }
  return text;
}

void add_commands(const Program& program, ManPage& page) {
  page.section("COMMANDS");
  page.paragraph(
      "Commands that train take a configuration: `--config`, keys as `KEY=VALUE`, and the flags of "
      "keys. Those that use a trained model take its run folder.");
  for (const TableCommand& command : program.commands) {
    if (command.command == nullptr) continue;  // a group; its commands follow
    page.subsection(synopsis(command));
    page.paragraph(sentence(command.row->help));
    add_options(command.options, page);
    if (const std::string footer = command.command->footer(); !footer.empty()) page.lines(footer);
  }
}

std::string key_text(const config::Field& field) {
  std::string text =
      fmt::format("{} Accepts {}; default `{}`.", sentence(field.help),
                  config::expected_text(field.access), config::value_text(field, config::Config{}));
  if (!field.flag.empty()) text += fmt::format(" Flag `{}`.", field.flag);
  if (field.on_resume == config::OnResume::kMayChange) text += " May change on resume.";
  return text;
}

void add_keys(ManPage& page) {
  page.section("CONFIGURATION");
  page.paragraph(
      "Values come from the defaults, then the configuration files in order, then the command line "
      "(`--lr 2e-3`, `training.epochs=5`, `--set model.norm=layer`). A file is YAML with a mapping "
      "for each section. Top-level keys that start with `x-` are ignored; use them to define "
      "anchors. `null` resets a key to its default. A relative path in a file is relative to the "
      "folder of that file; on the command line, to the working directory.");
  std::string section = "none yet";
  for (const config::Field& field : config::fields()) {
    if (config::section_of(field) != section) {
      section = config::section_of(field);
      page.subsection(section.empty() ? "Run" : "Section " + section);
    }
    page.item(field.path, "", key_text(field));
  }
}

void add_recipes(ManPage& page) {
  for (int index = 0; const std::string& name : enum_names<config::Recipe>()) {
    const auto defaults = config::recipe_defaults(static_cast<config::Recipe>(index++));
    if (defaults.empty()) continue;
    page.subsection("Recipe " + name);
    page.paragraph(fmt::format("The defaults that `recipe={}` sets:", name));
    for (const config::RecipeDefault& one : defaults) page.item(one.key, "", one.value);
  }
}

template <class All>
void add_described(const char* title, const All& all, ManPage& page) {
  page.section(title);
  for (const Described& one : all) page.item(one.name, "", one.text);
}

void add_examples(ManPage& page) {
  page.section("EXAMPLES");
  for (const Example& example : examples()) {
    page.paragraph(sentence(example.meaning));
    page.lines(example.command);
  }
}

}  // namespace

std::string manual_page(std::span<const CommandRow> table) {
  const Program program(table);
  const BuildInfo& build = build_info();
  ManPage page("TRAINER", build.date, "trainer " + build.version);
  page.section("NAME");
  page.line("trainer - train multilayer perceptrons on tables and images, reproducibly");
  page.section("SYNOPSIS");
  page.lines("trainer --config FILE [OPTIONS] [KEY=VALUE ...]\ntrainer COMMAND [OPTIONS] ...");
  page.section("DESCRIPTION");
  page.paragraph(
      "`trainer` turns a configuration and data files into a run folder with a trained model, and "
      "evaluates, applies and exports models. Everything that can be wrong is found before a run "
      "begins; a run that is interrupted can be resumed and ends with the same bits.");
  page.paragraph(
      "Progress and messages go to standard error, results to standard output. Without a command, "
      "`trainer` trains.");
  page.section("OPTIONS");
  page.paragraph("Of every command:");
  bool unused = false;
  add_options({{kHelpFlag, &unused, "", kHelpOfHelp}}, page);
  add_options(program.spec.options, page);
  page.paragraph("Of commands with a configuration:");
  add_options(program.spec.config_options, page);
  add_commands(program, page);
  add_keys(page);
  add_recipes(page);
  page.section("EXIT STATUS");
  for (const ExitCode& code : exit_codes()) {
    page.item(fmt::format("{}", code.code), "", sentence(code.meaning));
  }
  add_described("ENVIRONMENT", kEnvironment, page);
  add_described("FILES", kFiles, page);
  add_examples(page);
  page.section("SEE ALSO");
  page.paragraph("torchrun(1), mpirun(1), srun(1), and the documents in `docs/` of the source.");
  return page.text();
}

namespace {

constexpr std::size_t kSourceWidth =
    76;  // longest line of the source; mandoc limits it to 80 bytes

// Escapes a line that begins with a dot or quote, which roff would read as a macro.
std::string safe_line(const std::string& line) {
  return line.starts_with('.') || line.starts_with('\'') ? "\\&" + line : line;
}

// Quotes the text, so that a macro takes it as one argument even if it contains spaces.
std::string argument(std::string_view text) { return "\"" + roff_text(text) + "\""; }

}  // namespace

std::string roff_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

ManPage::ManPage(const std::string& name, const std::string& date, const std::string& source) {
  macro(R"(.\" Made by `trainer manual`.)");
  macro(fmt::format(".TH {} 1 {} {}", name, date, argument(source)));
  macro(".ad l\n.nh");  // ragged right margin, no hyphenation
}

void ManPage::macro(const std::string& line) {
  text_ += line + "\n";
  is_at_heading_ = false;
}

void ManPage::begin_paragraph() {
  if (!is_at_heading_) macro(".PP");
}

void ManPage::section(const std::string& title) {
  macro(".SH " + roff_text(title));
  is_at_heading_ = true;
}

void ManPage::subsection(const std::string& title) {
  macro(".SS " + argument(title));
  is_at_heading_ = true;
}

void ManPage::paragraph(const std::string& text) {
  begin_paragraph();
  fill(text);
}

void ManPage::item(const std::string& term, const std::string& value, const std::string& text) {
  macro(".TP");
  macro(value.empty() ? ".B " + argument(term)
                      : fmt::format(".BI {} {}", argument(term + " "), argument(value)));
  fill(text);
}

void ManPage::lines(const std::string& text) {
  begin_paragraph();
  macro(".RS 4\n.nf");
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    macro(line.empty() ? ".sp" : safe_line(roff_text(line)));
  }
  macro(".fi\n.RE");
}

// The \& at the end of each line keeps roff from taking a full stop there for the end of a
// sentence, after which it would put two spaces.
void ManPage::fill(const std::string& text) {
  std::string marked;
  bool is_bold = false;
  for (std::size_t begin = 0; begin <= text.size(); is_bold = !is_bold) {
    const std::size_t end = std::min(text.find('`', begin), text.size());
    const std::string part = roff_text(std::string_view(text).substr(begin, end - begin));
    marked += is_bold ? "\\fB" + part + "\\fR" : part;
    begin = end + 1;
  }
  for (const std::string& line : wrapped(marked, kSourceWidth)) macro(safe_line(line) + "\\&");
}

namespace {

class ManualCommand : public Command {
 public:
  std::string footer() const override { return "To read it: trainer manual | man -l -"; }

  void check(const CommonOptions& common, Problems& problems) override {
    refuse_configuration("manual", common, problems);
  }

  int run(const CommonOptions& common) override {
    fmt::print("{}", common.agent ? agent_manual(command_table()) : manual_page(command_table()));
    return 0;
  }
};

}  // namespace

std::unique_ptr<Command> make_manual_command() { return std::make_unique<ManualCommand>(); }

}  // namespace trainer::cli

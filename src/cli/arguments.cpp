// SPDX-License-Identifier: Apache-2.0
#include "cli/arguments.h"

#include <algorithm>
#include <deque>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "trainer/config/fields.h"
#include "trainer/core/error.h"
#include "trainer/core/text.h"

#include "cli/help_text.h"
#include "cli/model_arguments.h"
#include "cli/unknown_words.h"

namespace trainer::cli {
namespace {

/// The CLI11 application and what it writes into. Values of keys stay text: the field table reads
/// them, whether they come from a file or from here.
class Parser {
 public:
  Parser() : app_("Trains multilayer perceptrons on tables and images, reproducibly.", "trainer") {
    app_.set_help_flag("-h,--help", "Print this help and exit");
    app_.add_flag("-V,--version", version_, "Print versions and exit");
    app_.add_option("-c,--config", arguments_.config_files,
                    "YAML file; several are read in their order")
        ->type_name("FILE")
        ->allow_extra_args(false);  // one value a flag: what follows is key=value
    app_.add_option("--resume", resume_,
                    "Go on with a run: a checkpoint file, a run folder, or auto: the newest run "
                    "of this configuration, a new one when there is none")
        ->type_name("PATH");
    app_.add_flag("--allow-changes", arguments_.allow_changes,
                  "Resume although configuration or data differ");
    app_.add_flag("--print-config", print_config_, "Print the resolved configuration and exit");
    app_.add_flag("-q,--quiet", quiet_, "Show warnings and errors only");
    app_.add_flag("-v,--verbose", verbose_, "Show debug messages too");
    app_.add_flag("--json", run_json_, "Print the results of a run as JSON");
    app_.add_option("--set", set_, "Set any key, the same as key=value")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);  // one value a flag: what follows is key=value
    app_.add_option("override", positional_, "Set any key of the configuration")
        ->type_name("KEY=VALUE");
    add_key_flags();
    add_commands();
    app_.footer(help_footer());
    app_.fallthrough();
    app_.allow_extras();
  }

  Arguments parse(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return answer(help_text());
    } catch (const CLI::ParseError& e) {
      refuse_missing_command();
      throw Error(ErrorKind::kUsage, fmt::format("{}; see trainer --help", e.what()));
    }
    if (version_) return answer(version_text());
    if (!positional_.empty() && positional_.front() == "help") return answer(help_text());
    refuse_unknown_flags();
    take_overrides();
    check_verify();
    check_selftest();
    check_find_batch();
    check_init();
    understand_model(model_, resume_, arguments_, problems_);
    check_cv();
    check_json();
    refuse(problems_);
    if (!resume_.empty()) arguments_.resume = resume_;
    if (quiet_) arguments_.verbosity = Verbosity::kQuiet;
    if (verbose_) arguments_.verbosity = Verbosity::kVerbose;
    if (print_config_) arguments_.command = Command::kConfigPrint;
    for (int i = 0; i < argc; ++i) {
      arguments_.command_line += fmt::format("{}{}", i == 0 ? "" : " ", argv[i]);
    }
    return std::move(arguments_);
  }

 private:
  struct KeyFlag {
    const config::Field* field;
    std::string value;
    CLI::Option* option = nullptr;
  };

  static Arguments answer(std::string text) {
    Arguments arguments;
    arguments.command = Command::kShowText;
    arguments.text = std::move(text);
    return arguments;
  }

  // `train` is what the program does without a command: its help is that of the program but for
  // the other commands.
  std::string help_text() {
    if (!app_.got_subcommand("train")) return app_.help();
    for (CLI::App* command : app_.get_subcommands({})) command->group("");
    app_.footer(train_help_footer());
    return app_.get_formatter()->make_help(&app_, "trainer train", CLI::AppFormatMode::Normal);
  }

  // The library says "A subcommand is required".
  void refuse_missing_command() const {
    for (const CLI::App* command : app_.get_subcommands()) {
      if (command->get_require_subcommand_min() == 0 || !command->get_subcommands().empty()) {
        continue;
      }
      throw Error(ErrorKind::kUsage,
                  missing_command(*command, app_.get_option("override")->results()));
    }
  }

  void add_key_flags() {
    for (const config::Field& field : config::fields()) {
      if (field.flag.empty()) continue;
      KeyFlag& flag = key_flags_.emplace_back(KeyFlag{&field, ""});
      const std::string help =
          fmt::format("{} ({})", field.path, config::expected_text(field.access));
      flag.option = app_.add_option(field.flag, flag.value, help)
                        ->type_name("VALUE")
                        ->group("Keys of the configuration");
    }
  }

  void add_commands() {
    add_command(app_, "train", "Train a model (the default)", Command::kTrain);
    CLI::App* config = app_.add_subcommand("config", "Look at the configuration");
    config->require_subcommand(1);
    config->fallthrough();
    add_command(*config, "print", "Print the resolved configuration", Command::kConfigPrint);
    add_command(*config, "check", "Check the configuration and exit", Command::kConfigCheck);
    add_command(*config, "reference", "Print all keys as Markdown", Command::kConfigReference);
    add_command(*config, "schema", "Print the JSON Schema for editors", Command::kConfigSchema);
    add_command(*config, "schedule", "Print steps and learning rates of a run before it",
                Command::kConfigSchedule)
        ->add_flag("--json", arguments_.json, "Print JSON");
    add_init();
    CLI::App* cv = add_command(app_, "cv", "Train and test on each fold of the data in turn",
                               Command::kCrossValidate);
    cv->add_option("--folds", folds_, "How many folds (data.folds, or 5)")->type_name("VALUE");
    cv->add_option("--repeats", repeats_, "How often, with other folds each time (1)")
        ->type_name("VALUE");
    cv->add_flag("--json", arguments_.json, "Print cv.json in place of the table");
    add_command(app_, "verify", "Check checkpoints and say what they are", Command::kVerify)
        ->add_option("path", arguments_.paths, "A checkpoint file, or a run folder for all of its")
        ->type_name("PATH");
    app_.get_subcommand("verify")->add_flag("--json", arguments_.json, "As JSON");
    add_command(app_, "find-batch", "Find the largest batch that fits and the fastest one",
                Command::kFindBatch)
        ->add_option("--max-batch", most_rows_, "Largest batch that is tried (all training rows)")
        ->type_name("ROWS");
    app_.get_subcommand("find-batch")->add_flag("--json", arguments_.json, "As JSON");
    CLI::App* predict =
        add_command(app_, "predict", "Apply a trained model to a table", Command::kPredict);
    add_model(*predict);
    add_data(*predict, "Table with the columns of the training data, - for standard input");
    predict
        ->add_option("-o,--output", arguments_.output, "Where predictions go (-, standard output)")
        ->type_name("FILE");
    predict
        ->add_option("--keep", arguments_.kept,
                     "Column to carry along as it stands: a name, or a pattern with * and ?")
        ->type_name("COLUMN")
        ->allow_extra_args(false);
    predict
        ->add_option("--on-error", model_.on_error,
                     "At a row that cannot be read: stop, or skip it and list it")
        ->type_name("VALUE");
    predict
        ->add_option("--errors", arguments_.errors,
                     "Where skipped rows are listed (OUTPUT.errors.csv)")
        ->type_name("FILE");
    CLI::App* eval = add_command(app_, "eval", "Say how good a trained model is", Command::kEval);
    add_model(*eval);
    add_data(*eval, "Table with the targets, - for standard input (the run's own test part)");
    eval->add_option("--targets,--labels", arguments_.targets,
                     "Labels or targets of --data, where that is an IDX file or a .npy array")
        ->type_name("FILE");
    eval->add_flag("--json", arguments_.json, "As JSON");
    CLI::App* inspect = add_command(app_, "inspect", "Say what a model is and how it was trained",
                                    Command::kInspect);
    add_model(*inspect);
    inspect->add_flag("--json", arguments_.json, "As JSON");
    add_export();
    CLI::App* selftest = app_.add_subcommand("selftest", "Prove on this machine what is promised");
    selftest->require_subcommand(1);
    selftest->fallthrough();
    add_command(*selftest, "resume", "Prove that a killed run ends with the same bits",
                Command::kSelftestResume)
        ->add_option("--kills", kills_, "How often a run is killed (5)")
        ->type_name("VALUE");
  }

  void add_data(CLI::App& command, const char* help) {
    command.add_option("--data", arguments_.data, help)->type_name("FILE");
    add_format(command, "as in the run");
  }

  void add_format(CLI::App& command, const char* otherwise) {
    command
        .add_option("--delimiter", arguments_.delimiter,
                    fmt::format("Of the table: comma, semicolon, tab or the character itself ({})",
                                otherwise))
        ->type_name("VALUE");
    command
        .add_option("--decimal", arguments_.decimal,
                    fmt::format("Decimal mark of its numbers: . or , ({})", otherwise))
        ->type_name("VALUE");
  }

  void add_export() {
    CLI::App* command =
        add_command(app_, "export", "Write a trained model in another format", Command::kExport);
    add_model(*command);
    command->add_option("-o,--output", model_.exported.output, "The file to write")
        ->type_name("FILE");
    command
        ->add_option("--format", model_.exported.format,
                     "onnx, safetensors (weights only) or torchscript; by the extension of FILE: "
                     ".onnx, .safetensors, .pt")
        ->type_name("FORMAT");
    command->add_flag("--softmax", model_.exported.softmax,
                      "Put out probabilities instead of logits");
    command->add_flag("--preprocessing", model_.exported.preprocessing,
                      "Take the columns of the table as they are, each an input (onnx)");
  }

  void add_init() {
    CLI::App* init =
        add_command(app_, "init", "Write a first configuration for a table", Command::kInit);
    init->add_option("--data", arguments_.data, "CSV file with a header")->type_name("FILE");
    init->add_option("--target", arguments_.target,
                     "Column to predict; without it the columns are listed")
        ->type_name("COLUMN");
    init->add_option("--task", arguments_.task,
                     "classification or regression (auto: by the target's values)")
        ->type_name("VALUE");
    add_format(*init, "found in the table");
    init->add_option("-o,--output", arguments_.output, "YAML file to write, - for standard output")
        ->type_name("FILE");
    init->add_flag("--force", arguments_.force, "Replace the output if it is there already");
  }

  CLI::App* add_command(CLI::App& parent, const char* name, const char* help, Command command) {
    CLI::App* app = parent.add_subcommand(name, help);
    app->fallthrough();
    app->callback([this, command] { arguments_.command = command; });
    return app;
  }

  // A single one: what follows is key=value.
  void add_model(CLI::App& command) {
    command.add_option("model", model_.model, "A run folder (its best epoch) or a checkpoint file")
        ->type_name("RUN_OR_CHECKPOINT");
  }

  // Not required(): an unknown flag is to be reported first.
  void check_verify() {
    if (arguments_.command != Command::kVerify || !arguments_.paths.empty()) return;
    problems_.emplace_back("verify: expected a checkpoint file or a run folder, got nothing");
  }

  void check_selftest() {
    if (arguments_.command != Command::kSelftestResume) return;
    if (!resume_.empty()) problems_.emplace_back("--resume: selftest resume makes its own runs");
    take_count("--kills", kills_, arguments_.num_kills);
  }

  void check_find_batch() {
    if (arguments_.command != Command::kFindBatch) return;
    if (!resume_.empty()) problems_.emplace_back("--resume: find-batch goes on with no run");
    take_count("--max-batch", most_rows_, arguments_.most_rows);
  }

  void take_count(const char* flag, const std::string& text, int64_t& count, int64_t least = 1) {
    if (text.empty()) return;
    const auto value = parse_int(text);
    if (value && *value >= least) {
      count = *value;
    } else {
      problems_.push_back(
          fmt::format("{}: expected an integer >= {}, got {}", flag, least, in_quotes(text)));
    }
  }

  void check_cv() {
    if (arguments_.command == Command::kCrossValidate) {
      take_count("--folds", folds_, arguments_.num_folds, 2);
      take_count("--repeats", repeats_, arguments_.num_repeats);
    }
  }

  // A flag of its own takes it behind the name of a command.
  void check_json() {
    constexpr Command kHaveJson[] = {
        Command::kTrain,     Command::kConfigSchedule, Command::kCrossValidate, Command::kVerify,
        Command::kFindBatch, Command::kEval,           Command::kInspect};
    arguments_.json = arguments_.json || run_json_;
    if (!run_json_) return;
    const bool has_json = std::find(std::begin(kHaveJson), std::end(kHaveJson),
                                    arguments_.command) != std::end(kHaveJson);
    if (has_json && !print_config_) return;
    problems_.emplace_back("--json: this command has no results as JSON; leave it out");
  }

  void check_init() {
    if (arguments_.command != Command::kInit) return;
    if (arguments_.data.empty()) {
      problems_.emplace_back("init: expected --data FILE.csv, got nothing");
    }
    if (arguments_.data == "-") {
      problems_.emplace_back(
          "init: expected a file that the configuration can name, got --data -; save the table");
    }
    if (arguments_.target && arguments_.output.empty()) {
      problems_.emplace_back(
          "init: expected --output FILE.yaml, or - for standard output, got nothing");
    }
    if (!resume_.empty()) problems_.emplace_back("--resume: init goes on with no run");
    if (!arguments_.config_files.empty()) {
      problems_.emplace_back("--config: init reads no configuration; --output names the new one");
    }
    for (const config::Override& override : arguments_.overrides) {
      problems_.push_back(fmt::format("{}: init takes no keys; write {} into the new file",
                                      override.place, override.key));
    }
  }

  void take_overrides() {
    for (const std::string& text : set_) take_assignment(text, "--set");
    for (const std::string& text : positional_) take_assignment(text, "command line");
    for (const KeyFlag& flag : key_flags_) {
      if (flag.option->count() == 0) continue;
      arguments_.overrides.push_back({flag.field->path, flag.value, flag.field->flag});
    }
  }

  void take_assignment(const std::string& text, const std::string& place) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems_.push_back(unknown_word(app_, text, place));
      return;
    }
    arguments_.overrides.push_back({text.substr(0, equals), text.substr(equals + 1), place});
  }

  // Before the rest: what follows an unknown flag is most likely its value.
  void refuse_unknown_flags() const {
    std::vector<std::string> problems;
    for (const std::string& flag : unknown_flags(app_)) {
      problems.push_back(fmt::format("{}: unknown flag{}", flag, suggest_flag(app_, flag)));
    }
    refuse(problems);
  }

  static void refuse(const std::vector<std::string>& problems) {
    if (problems.empty()) return;
    throw Error(ErrorKind::kUsage, fmt::format("{}", fmt::join(problems, "\n")));
  }

  CLI::App app_;
  Arguments arguments_;
  std::deque<KeyFlag> key_flags_;  // CLI11 keeps references to the values
  std::vector<std::string> set_;
  std::vector<std::string> positional_;
  std::string resume_;
  std::string kills_;
  std::string folds_;
  std::string repeats_;
  std::string most_rows_;
  ModelWords model_;
  bool version_ = false;
  bool print_config_ = false;
  bool run_json_ = false;
  bool quiet_ = false;
  bool verbose_ = false;
  std::vector<std::string> problems_;
};

}  // namespace

Arguments parse_arguments(int argc, const char* const* argv) { return Parser().parse(argc, argv); }

}  // namespace trainer::cli
